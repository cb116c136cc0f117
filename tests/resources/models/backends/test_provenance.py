"""How pictures of diffusers say that they were made, and that they can be made again so."""

import io
import json
from functools import wraps
from hashlib import sha256
from importlib.metadata import version

import numpy as np
import pytest
from PIL import Image

from resources.faults import RequestsStopped
from resources.models.backends import build_backend
from resources.models.backends.remaking import TOLERANCE, NotRemade, remake_picture
from resources.models.requests import EditRequest, PaintRequest
from tests import tiny
from tests.resources.models.backends.local_models import answers, entry, picture
from tests.resources.models.conftest import LOG, client_at, closed
from tests.resources.models.test_interrupted import rows
from tests.tiny import diffusers
from tests.waiting import wait_for

pytestmark = pytest.mark.slow

SIDE = 64
FLUX = {
    "num_inference_steps": 2,
    "height": SIDE,
    "width": SIDE,
    "guidance_scale": 0.0,
    "max_sequence_length": 32,
    "batch": 4,
}
PROMPTS = [f"a horse with {number} legs" for number in range(6)]
ASKED = [PaintRequest(prompt, seed=7 + number) for number, prompt in enumerate(PROMPTS)]


@pytest.fixture(scope="module")
def flux(tmp_path_factory):
    return tiny.save_flux(tmp_path_factory.mktemp("flux"))


def painter(flux, **parameters):
    return entry("diffusers", flux, **{**FLUX, **parameters})


def painted(model):
    """The replies to `ASKED`, which are painted in a batch of four and one of two."""
    backend = build_backend(model, None, None)
    return answers(backend, *(("paint", request) for request in ASKED))


def digests(requests):
    return [[sha256(each.prompt.encode()).hexdigest(), each.seed] for each in requests]


def apart(one, other):
    one, other = (np.asarray(Image.open(io.BytesIO(png))).astype(int) for png in (one, other))
    return abs(one - other).max()


@pytest.fixture(scope="module")
def replies(flux):
    return painted(painter(flux))


def test_a_picture_says_how_it_was_made(replies):
    made = replies[5].provenance
    assert made == {
        "device": made["device"],
        "dtype": "float32",
        "versions": {
            name: version(name) for name in ("torch", "diffusers", "transformers", "pillow")
        },
        "steps": 2,
        "commit": None,
        "batch": digests(ASKED[4:]),
        "place": 1,
        "seed": 12,
        "width": SIDE,
        "height": SIDE,
    }
    assert made["device"].startswith("cpu (")
    assert json.loads(json.dumps(made)) == made


@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
def test_it_is_made_again_bit_by_bit_in_its_batch_and_nearly_so_alone(flux, replies, dtype):
    model = painter(flux, dtype=dtype)
    third, fourth = (replies if dtype == "float32" else painted(model))[2:4]
    again = remake_picture(model, json.loads(json.dumps(third.provenance)), reversed(PROMPTS))
    assert again.differences == {}
    assert again.png == third.pictures[0].data
    alone = remake_picture(model, third.provenance, PROMPTS[2:3], alone=True)
    assert set(alone.differences) == {"batch", "place"}
    assert apart(alone.png, third.pictures[0].data) <= TOLERANCE[dtype]
    assert apart(alone.png, fourth.pictures[0].data) > TOLERANCE[dtype], "any would pass for it"


def test_what_differs_from_then_is_said_and_what_is_not_known_is_refused(flux, replies):
    made = replies[5].provenance
    before = {**made, "versions": {**made["versions"], "torch": "1.0"}, "commit": "abc"}
    again = remake_picture(painter(flux), before, PROMPTS)
    assert again.differences == {
        "versions": (before["versions"], made["versions"]),
        "commit": ("abc", None),
    }
    with pytest.raises(NotRemade, match="Of the 2 prompts of its batch 1 are not among"):
        remake_picture(painter(flux), made, PROMPTS[:5])


def test_an_interruption_draws_at_most_one_batch_again(flux, tmp_path, monkeypatch):
    """While a batch is drawn, all before it are stored; what fails with it is all that is lost."""
    drawn, call, fails = [], diffusers.FluxPipeline.__call__, [3]

    @wraps(call)
    def noted(pipeline, *args, **words):
        drawn.append(len(words["prompt"]))
        wait_for(lambda: rows(tmp_path, "calls") == sum(drawn[:-1]) - 4 * (len(drawn) > 3))
        if len(drawn) in fails:
            raise MemoryError("out of memory")
        return call(pipeline, *args, **words)

    monkeypatch.setattr(diffusers.FluxPipeline, "__call__", noted)
    asked = [
        PaintRequest(f"a bird, {side}", seed=seed) for seed in range(8) for side in ("one", "two")
    ]
    client, model = client_at(tmp_path), painter(flux)
    with pytest.raises(RequestsStopped, match="Of 16 requests, 12 are answered and kept"):
        client.ask(model, asked, LOG)
    assert drawn == [4, 4, 4, 4]
    told = client.ask(model, asked, LOG)
    assert drawn == [4, 4, 4, 4, 4]
    assert len({outcome.images for outcome in told.outcomes}) == 16
    assert [
        made["batch"][made["place"]] for made in (outcome.provenance for outcome in told.outcomes)
    ] == digests(asked)
    closed(client)


def test_edits_say_how_they_were_made_as_well(flux):
    backend = build_backend(painter(flux), None, lambda name: picture("red", (SIDE, SIDE)))
    (reply,) = answers(backend, ("edit", EditRequest(PROMPTS[0], ("a" * 64,), seed=3)))
    assert (reply.provenance["batch"], reply.provenance["seed"]) == (
        digests([PaintRequest(PROMPTS[0], 3)]),
        3,
    )
