"""Detectors of transformers, on a tiny model that is loaded as a real one is."""

from io import BytesIO

import pytest
from PIL import Image

from generators.perturbations.box_replies import parse_box_reply
from resources.models.backends import build_backend
from resources.models.client import require_abilities
from resources.models.replies import ModelUnavailable
from resources.models.requests import LookRequest, Turn
from tests import tiny
from tests.resources.models.backends.local_models import Pictures, answers, entry, picture

pytestmark = pytest.mark.slow

PICTURES = Pictures(picture("red", (48, 32)), picture("blue", (20, 41)))


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tiny.save_grounding_dino(tmp_path_factory.mktemp("detector"))


def asked(digest, text="Dog"):
    return LookRequest((Turn("user", text, (digest,)),))


def detector(folder, **parameters):
    made = entry("transformers", folder, **parameters)
    return made.model_copy(update={"roles": ("detector",)})


def found(folder, *requests, **parameters):
    backend = build_backend(detector(folder, **parameters), None, PICTURES)
    return answers(backend, *(("look", one) for one in requests))


def by_hand(folder, digest):
    """The centres and sizes that the network itself gives, as edges in parts of the picture."""
    processor = tiny.transformers.AutoProcessor.from_pretrained(folder)
    network = tiny.transformers.GroundingDinoForObjectDetection.from_pretrained(folder).eval()
    image = Image.open(BytesIO(PICTURES[digest])).convert("RGB")
    inputs = processor(images=image, text="a dog.", return_tensors="pt")
    with tiny.torch.no_grad():
        boxes = network(**inputs).pred_boxes[0].tolist()
    return [(x - w / 2, y - h / 2, x + w / 2, y + h / 2) for x, y, w, h in boxes]


def test_it_says_where_the_network_sees_what_was_named(folder):
    first, second = PICTURES
    replies = found(folder, asked(first), asked(second), threshold=0.0)
    for digest, reply in zip(PICTURES, replies, strict=True):
        boxes = parse_box_reply(reply.text)
        assert {box.label for box in boxes} == {"dog"}
        sides = [(b.left, b.top, b.left + b.width, b.top + b.height) for b in boxes]
        expected = [[min(max(side, 0), 1) for side in each] for each in by_hand(folder, digest)]
        assert sorted(sides) == [pytest.approx(each, abs=0.0011) for each in sorted(expected)]
        assert reply.served_model == str(folder)
        assert reply.usage.gpu_seconds > 0


def test_boxes_that_it_is_unsure_of_are_left_out(folder):
    (reply,) = found(folder, asked(next(iter(PICTURES))), threshold=1.0)
    assert parse_box_reply(reply.text) == ()


def test_what_is_no_detector_is_told(folder, tmp_path):
    with pytest.raises(ModelUnavailable, match="parameter threshold of tiny"):
        found(folder, asked(next(iter(PICTURES))), threshold=2.0)
    with pytest.raises(ModelUnavailable, match="cannot be loaded"):
        found(tmp_path, asked(next(iter(PICTURES))))
    require_abilities(
        build_backend(detector(folder), None, PICTURES), detector(folder), [asked("0" * 64)]
    )
