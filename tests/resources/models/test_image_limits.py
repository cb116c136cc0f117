"""Pictures that a provider does not take: said before anything is sent, and not sent."""

import io
import os

import pytest
from PIL import Image
from pydantic import ValidationError

from resources.models.catalog import Model
from resources.models.image_checks import REMEDY
from resources.models.image_limits import NO_LIMITS, ImageLimits, find_image_limits
from resources.models.outcomes import AnsweredOutcome, FailedOutcome
from resources.models.requests import EditRequest
from tests.resources.models.conftest import LOG, looks, model


def noise(width, height):
    """A PNG that takes three bytes a pixel."""
    data = io.BytesIO()
    pixels = os.urandom(3 * width * height)
    Image.frombytes("RGB", (width, height), pixels).save(data, "PNG", compress_level=0)
    return data.getvalue()


def published(backend, *, is_edit=False, own=None):
    return find_image_limits(backend, own, is_edit=is_edit)


@pytest.mark.parametrize(
    ("backend", "sizes", "file_sizes", "excess"),
    [
        ("openai", [(8, 8)], [20_000_000], None),
        ("openai", [(8, 8)], [20_000_001], "a picture of 20,000,001 bytes; `bytes_per_image`"),
        ("openai", [(8, 8)] * 3, [17_000_000] * 3, "pictures of 51,000,000 bytes together"),
        ("openai", [(8, 8)] * 501, [1] * 501, "501 pictures; `images_per_request` is 500"),
        ("anthropic", [(8000, 10)], [3_932_160], None),
        ("anthropic", [(10, 8001)], [1], "a picture of 10 × 8,001 px; `longest_side` is 8,000 px"),
        ("anthropic", [(10, 10)], [3_932_161], "`bytes_per_image` is 3,932,160"),
        ("anthropic", [(10, 10)] * 101, [1] * 101, "`images_per_request` is 100"),
        ("gemini", [(8, 8)], [15_000_000], None),
        ("gemini", [(8, 8)] * 2, [7_500_001] * 2, "`bytes_per_request` is 15,000,000"),
        ("openai_compatible", [(8192, 3000)], [70_000_000], None),
    ],
)
def test_limits_are_those_that_providers_publish(backend, sizes, file_sizes, excess):
    names = [str(place) for place in range(len(sizes))]
    said = published(backend).describe_excess(
        names, dict(zip(names, sizes, strict=True)), dict(zip(names, file_sizes, strict=True))
    )
    assert said is None if excess is None else excess in said


def test_openai_takes_larger_pictures_to_edit_and_fewer():
    limits = published("openai", is_edit=True)
    assert (limits.bytes_per_image, limits.images_per_request) == (50_000_000, 16)


def test_an_entry_changes_the_limits_that_it_states_alone():
    own = ImageLimits(longest_side=1000, pixels=500_000)
    limits = published("anthropic", own=own)
    assert (limits.longest_side, limits.images_per_request) == (1000, 100)
    assert "`pixels` is 500,000" in limits.describe_excess(["a"], {"a": (800, 800)}, {})
    assert published("openai_compatible") == NO_LIMITS


def test_files_are_weighed_only_where_they_may_be_too_large():
    limits = ImageLimits(bytes_per_image=200_000, bytes_per_request=250_000)
    sizes = {"small": (200, 200), "large": (300, 300)}
    assert limits.select_weighed(["small"], sizes) == []
    assert limits.select_weighed(["large"], sizes) == ["large"]
    assert limits.select_weighed(["small", "gone"], sizes) == []
    assert limits.select_weighed(["small", "small"], sizes) == ["small"]
    assert limits.select_weighed(["small", "large"], sizes) == ["small", "large"]


def test_a_local_model_has_no_use_for_limits():
    entry = {"name": "a", "model": "b", "family": "c", "roles": ["judge"]}
    with pytest.raises(ValidationError, match="is not used by the backend 'transformers'"):
        Model.model_validate(entry | {"backend": "transformers", "image_limits": {"pixels": 1000}})
    with pytest.raises(ValidationError, match="greater than or equal to 1"):
        Model.model_validate(entry | {"backend": "openai", "image_limits": {"pixels": 0}})


class TestARun:
    def test_does_not_send_them_and_sends_the_others(self, server, client):
        limited = model(
            server, "openai_compatible", image_limits={"bytes_per_image": 30_000, "pixels": 12_000}
        )
        small, heavy, wide = (
            client.images.put(noise(*size)) for size in ((90, 100), (100, 120), (1300, 10))
        )
        requests = [*looks(1, small), *looks(1, heavy, start=1), *looks(1, wide, start=2)]
        asked = client.ask(limited, requests, LOG)
        assert [len(received.images) for received in server.received] == [1]
        assert isinstance(asked.outcomes[0], AnsweredOutcome)
        weight = len(client.images.get(heavy))
        assert asked.outcomes[1:] == [
            FailedOutcome("unacceptable", f"Not sent: judge would be shown {why} {REMEDY}", 0)
            for why in (
                f"a picture of {weight:,} bytes; `bytes_per_image` is 30,000.",
                "a picture of 1,300 × 10 px; `pixels` is 12,000.",
            )
        ]
        assert [len(keys) for keys in asked.keys] == [1, 0, 0]
        assert asked.sent == 1

    def test_sends_nothing_at_all_where_none_fits(self, server, client, caplog):
        wide = client.images.put(noise(1300, 10))
        limited = model(server, image_limits={"longest_side": 1000})
        asked = client.ask(limited, looks(3, wide), LOG)
        assert (server.count, asked.sent, len(asked.outcomes)) == (0, 0, 3)
        assert "judge: 3 of 3 requests are not sent, such as a picture of 1,300" in caplog.text

    def test_sends_them_once_the_entry_says_that_they_are_taken(self, server, client):
        wide = client.images.put(noise(1300, 10))
        client.ask(model(server, image_limits={"longest_side": 1000}), looks(1, wide), LOG)
        asked = client.ask(model(server, image_limits={"longest_side": 1300}), looks(1, wide), LOG)
        assert (server.count, asked.sent) == (1, 1)

    def test_takes_the_limits_of_edits_for_edits(self, server, client):
        picture = client.images.put(noise(10, 10))
        request = EditRequest("Make it blue.", (picture,) * 17)
        (outcome,) = client.ask(model(server), [request], LOG).outcomes
        assert "17 pictures; `images_per_request` is 16" in outcome.error
        assert server.count == 0
