"""The backend that needs no network: grammar and sketch behind the interface of all models."""

import asyncio
import json
from contextlib import closing
from functools import cache
from logging import getLogger
from pathlib import Path
from types import SimpleNamespace

import pytest

from generators.canvas import decode_png
from resources.calls import CallStore
from resources.models import client
from resources.models.backends import build_backend, stand_ins
from resources.models.catalog import load_catalog
from resources.models.client import ModelClient
from resources.models.replies import UNCOUNTED, ImageFile, ModelReply
from resources.models.requests import EditRequest, PaintRequest, Turn, WriteRequest
from resources.storage.image_store import ImageStore

MODELS = {
    model.name: model for model in load_catalog(Path(__file__).parents[4] / "models.yaml").models
}
FIELDS = {
    "hypernym": "bird",
    "non_prototype": "ostrich",
    "prototype": "robin",
    "attribute": "",
    "extra_element": "rock",
    "knob": "count",
    "values": ["two", "three"],
    "environment_hint": "on a quiet beach",
}


def no_picture(digest):
    raise AssertionError(f"no picture is needed, not even {digest}")


def ask(name, kind, request, picture=no_picture) -> ModelReply:
    async def asked():
        backend = build_backend(MODELS[name], None, picture)
        reply = await getattr(backend, kind)(request)
        await backend.aclose()
        return reply

    return asyncio.run(asked())


def test_grammar_writes_the_triplet_of_the_last_turn():
    turns = (Turn("system", "Write triplets."), Turn("user", json.dumps(FIELDS)))
    reply = ask("grammar", "write", WriteRequest(turns))
    assert json.loads(reply.text) == {
        "text": "A bird is on a quiet beach with exactly two rocks.",
        "correct": "An ostrich is on a quiet beach with exactly two rocks.",
        "adversarial": "A robin is on a quiet beach with exactly three rocks.",
    }
    assert (reply.served_model, reply.usage, reply.refusal) == ("grammar-1", UNCOUNTED, None)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("Write me a poem.", "takes the fields of a triplet as JSON"),
        ("[1]", "no JSON object"),
        (json.dumps({**FIELDS, "knob": "mood"}), "knob is mood: it has to be one of count"),
    ],
)
def test_what_grammar_does_not_understand_it_refuses_with_the_reason(text, reason):
    reply = ask("grammar", "write", WriteRequest((Turn("user", text),)))
    assert reply.text is None
    assert reply.refusal.kind == "model"
    assert reason in reply.refusal.reason


def test_sketch_paints_a_png_that_seed_and_sample_decide():
    def painted(**options):
        reply = ask(
            "sketch", "paint", PaintRequest("A bird is on sand with a red rock.", **options)
        )
        assert reply.served_model == "sketch-3"
        [picture] = reply.pictures
        assert isinstance(picture, ImageFile)
        assert picture.media_type == "image/png"
        return picture.data

    first = painted(seed=1)
    assert decode_png(first).shape == (512, 512, 3)
    assert painted(seed=1) == first
    assert len({first, painted(seed=2), painted(), painted(sample=1)}) == 4


def test_what_sketch_cannot_label_it_refuses_with_the_reason():
    reply = ask("sketch", "paint", PaintRequest("\N{GRINNING FACE}"))
    assert reply.pictures == ()
    assert reply.refusal.kind == "model"
    assert "U+1F600" in reply.refusal.reason


LEGS = "Edit this image: Add 1 more leg to the {} so that it has 5 legs in total."


def edited(animal, *images, **options):
    request = EditRequest(LEGS.format(animal), images, **options)
    reply = ask("sketch", "edit", request, dog)
    assert (reply.served_model, reply.usage, reply.refusal) == ("sketch-3", UNCOUNTED, None)
    [picture] = reply.pictures
    assert picture.media_type == "image/png"
    return picture.data


@cache
def dog(_digest):
    return ask("sketch", "paint", PaintRequest("a dog")).pictures[0].data


def test_sketch_edits_by_prompt_and_each_trial_and_base_picture_moves_it():
    first = edited("dog", "a")
    assert decode_png(first).shape == (480, 640, 3)
    assert edited("dog", "a") == first
    others = [edited("dog", "b"), edited("dog", "a", "b"), edited("dog", "b", "a")]
    others += [edited("dog", "a", sample=1), edited("dog", "a", seed=1), edited("cat", "a")]
    assert len({first, *others}) == 7


def test_an_edit_that_cannot_be_labelled_is_refused_with_the_reason():
    request = EditRequest(LEGS.format("\N{GRINNING FACE}"), ("a",))
    reply = ask("sketch", "edit", request, dog)
    assert reply.pictures == ()
    assert "U+1F600" in reply.refusal.reason


def test_a_painter_has_two_requests_for_each_worker_of_a_cluster(tmp_path, monkeypatch):
    under_way, most = [0], [0]

    async def draw_slowly(work, *arguments):
        under_way[0] += 1
        most[0] = max(most[0], under_way[0])
        await asyncio.sleep(0.3)
        under_way[0] -= 1
        return work(*arguments)

    monkeypatch.setattr(client, "find_workers", lambda: SimpleNamespace(count=20))
    monkeypatch.setattr(stand_ins, "run_in_worker", draw_slowly)
    images, calls = ImageStore(root=str(tmp_path)), CallStore(url=f"sqlite:///{tmp_path}/c.sqlite")
    requests = [PaintRequest("A hen with three legs", seed=seed) for seed in range(60)]
    with closing(calls), closing(ModelClient(calls=calls, images=images)) as models:
        result = models.ask(MODELS["sketch"], requests, getLogger("painting"))
    assert result.sent == 60
    assert most == [40]
