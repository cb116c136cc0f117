"""Each family of painters, as a tiny pipeline that is loaded from a folder as a real one is.

What the backend makes is held against the family's own pipeline, called by hand.
"""

import inspect
import io
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from resources.models.backends import build_backend
from resources.models.replies import ModelUnavailable, UnacceptableRequest
from resources.models.requests import EditRequest, PaintRequest, get_request_kind
from tests.painter_families import EDITED_SIDE, FAMILIES
from tests.resources.models.backends.local_models import Pictures, answers, entry, picture
from tests.tiny import diffusers, torch

DOCUMENT = Path(__file__).parents[4] / "docs" / "local-models.md"
PROMPTS = (
    "a bird",
    "a photo of an animal with five legs, a flag, a board; how many legs does it have?",
    "a horse with five legs",
)
ASKED = [PaintRequest(prompt, seed=7) for prompt in PROMPTS]
PICTURES = Pictures(*(picture(colour, (EDITED_SIDE,) * 2) for colour in ("red", "blue")))
RED, BLUE = PICTURES
ROUNDING = 1
"""Levels of 255 by which a picture of a batch may differ from the same one painted alone."""

slow = pytest.mark.slow
# Of diffusers' own, in schedulers and in Chroma.
pytestmark = [
    pytest.mark.filterwarnings("ignore:.*copy keyword:DeprecationWarning"),
    pytest.mark.filterwarnings("ignore:`FluxPosEmbed` is deprecated:FutureWarning"),
]


def of_each(families=FAMILIES):
    return pytest.mark.parametrize("family", families, ids=lambda family: family.pipeline)


EDITORS = [family for family in FAMILIES if family.editing is not None]
PAINTERS_ALONE = [family for family in FAMILIES if family.editing is None]


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    """Saves a family's pipeline to a folder, once."""
    folders = {}

    def save(family):
        if family not in folders:
            folders[family] = family.save(tmp_path_factory.mktemp(family.pipeline))
        return folders[family]

    return save


def make(folder, requests, parameters):
    """The replies of a backend made for these requests alone."""
    backend = build_backend(entry("diffusers", folder, **parameters), None, PICTURES)
    return answers(backend, *((get_request_kind(request), request) for request in requests))


def to_pixels(reply):
    (file,) = reply.pictures
    return np.asarray(Image.open(io.BytesIO(file.data))).astype(int)


def find_difference(one, other):
    return abs(to_pixels(one) - to_pixels(other)).max()


def load_pipeline(folder):
    pipeline = diffusers.DiffusionPipeline.from_pretrained(folder)
    pipeline.set_progress_bar_config(disable=True)
    return pipeline


def seed_noise():
    return torch.Generator("cpu").manual_seed(7)


@slow
@of_each()
class TestPainting:
    def test_a_picture_is_what_the_pipeline_itself_makes(self, family, saved):
        pipeline = load_pipeline(saved(family))
        assert type(pipeline).__name__ == family.pipeline
        plain = pipeline(prompt=PROMPTS[1], generator=seed_noise(), **family.parameters).images[0]
        reply, again = make(saved(family), [ASKED[1]] * 2, family.parameters)
        assert (to_pixels(reply) == np.asarray(plain)).all()
        assert reply.pictures == again.pictures

    def test_prompts_of_a_batch_have_one_picture_each(self, family, saved):
        alone = make(saved(family), ASKED, family.parameters)
        batch = make(saved(family), ASKED, family.parameters | {"batch": len(ASKED)})
        sizes = [len(reply.provenance["batch"]) for reply in batch]
        assert sizes == [1 if family.one_by_one else len(ASKED)] * len(ASKED)
        for place, reply in enumerate(batch):
            differences = [find_difference(reply, other) for other in alone]
            assert differences.pop(place) <= ROUNDING
            assert min(differences) > ROUNDING

    def test_a_parameter_that_the_pipeline_does_not_take_is_named(self, family, saved):
        with pytest.raises(ModelUnavailable, match=f"^{family.pipeline} of .* takes no guidence:"):
            make(saved(family), ASKED[:1], {**family.parameters, "guidence": 3.5})


@slow
class TestEditing:
    @of_each(EDITORS)
    def test_a_picture_is_changed_as_the_pipeline_itself_does_it(self, family, saved):
        pipeline = load_pipeline(saved(family))
        if "image" not in inspect.signature(pipeline.__call__).parameters:
            pipeline = diffusers.AutoPipelineForImage2Image.from_pipe(pipeline)
        size = {"height": EDITED_SIDE, "width": EDITED_SIDE}
        if "height" not in inspect.signature(pipeline.__call__).parameters:
            size = {}
        plain = pipeline(
            prompt=PROMPTS[2],
            image=Image.open(io.BytesIO(PICTURES[RED])),
            generator=seed_noise(),
            **family.editing | size,
        ).images[0]
        asked = [EditRequest(PROMPTS[2], (name,), seed=7) for name in (RED, BLUE)]
        red, blue = make(saved(family), asked, family.editing)
        assert (to_pixels(red) == np.asarray(plain)).all()
        assert to_pixels(red).shape == (EDITED_SIDE, EDITED_SIDE, 3)
        assert find_difference(red, blue) > 0

    @of_each([family for family in EDITORS if family.joins])
    def test_pictures_are_joined(self, family, saved):
        asked = [EditRequest(PROMPTS[2], names, seed=7) for names in ((RED,), (RED, BLUE))]
        one, joined = make(saved(family), asked, family.editing)
        assert find_difference(one, joined) > 0

    @of_each([family for family in EDITORS if not family.joins])
    def test_a_family_that_cannot_join_pictures_says_so(self, family, saved):
        with pytest.raises(UnacceptableRequest, match=r"changes one .*joins? several"):
            make(saved(family), [EditRequest(PROMPTS[2], (RED, BLUE))], family.editing)

    @of_each(PAINTERS_ALONE)
    def test_a_painter_that_edits_nothing_says_so(self, family, saved):
        with pytest.raises(
            ModelUnavailable, match=f"^{family.pipeline} of .* paints and changes no picture: leave"
        ):
            make(saved(family), [EditRequest(PROMPTS[2], (RED,))], {})


def test_the_table_in_the_document_is_this_one():
    rows = [
        line for line in DOCUMENT.read_text(encoding="utf-8").splitlines() if "Pipeline`" in line
    ]
    assert rows == [family.row for family in FAMILIES]
