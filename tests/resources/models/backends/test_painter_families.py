"""Each family of painters, as a tiny pipeline that is loaded from a folder as a real one is.

What the backend makes is held against the family's own pipeline, called by hand.
"""

import io
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from resources.models.replies import ModelUnavailable, UnacceptableRequest
from resources.models.requests import EditRequest, PaintRequest
from tests.families.beside import open_process
from tests.painter_families import EDITED_SIDE, FAMILIES, PainterFamily
from tests.painter_families.operations import (
    BLUE,
    RED,
    SEED,
    edit_by_hand,
    make,
    paint_by_hand,
)

DOCUMENT = Path(__file__).parents[4] / "docs" / "local-models.md"
PROMPTS = (
    "a bird",
    "a photo of an animal with five legs, a flag, a board; how many legs does it have?",
    "a horse with five legs",
)
PAINTINGS = [PaintRequest(prompt, seed=SEED) for prompt in PROMPTS]
RED_EDIT, BLUE_EDIT, JOINT_EDIT = (
    EditRequest(PROMPTS[2], names, seed=SEED) for names in ((RED,), (BLUE,), (RED, BLUE))
)
ROUNDING = 1
"""Levels of 255 by which a picture of a batch may differ from the same one painted alone."""

slow = pytest.mark.slow
# Of diffusers' own, in schedulers and in Chroma.
pytestmark = [
    pytest.mark.filterwarnings("ignore:.*copy keyword:DeprecationWarning"),
    pytest.mark.filterwarnings("ignore:`FluxPosEmbed` is deprecated:FutureWarning"),
]


def of_each(families):
    return pytest.mark.parametrize("family", families, ids=lambda family: family.pipeline)


PAINTERS = [family for family in FAMILIES if family.parameters is not None]
EDITORS = [family for family in FAMILIES if family.editing is not None]
PAINTERS_ALONE = [family for family in FAMILIES if family.editing is None]
EDITORS_ALONE = [family for family in FAMILIES if family.parameters is None]


@pytest.fixture(scope="module")
def beside():
    """Runs functions where torchvision is."""
    with open_process() as pool:
        yield lambda work, *arguments: pool.submit(work, *arguments).result()


@pytest.fixture
def run(family, request):
    """Runs functions where what the family needs is."""
    if family.needs_torchvision:
        return request.getfixturevalue("beside")
    return lambda work, *arguments: work(*arguments)


@pytest.fixture(scope="module")
def _folders():
    return {}


@pytest.fixture
def folder(family, run, _folders, tmp_path_factory):
    """The family's pipeline, saved once."""
    if family.pipeline not in _folders:
        path = tmp_path_factory.mktemp(family.pipeline)
        _folders[family.pipeline] = run(PainterFamily.save, family, path)
    return _folders[family.pipeline]


def to_pixels(reply):
    (file,) = reply.pictures
    return np.asarray(Image.open(io.BytesIO(file.data))).astype(int)


def find_difference(one, other):
    return abs(to_pixels(one) - to_pixels(other)).max()


@slow
@of_each(PAINTERS)
class TestPainting:
    def test_a_picture_is_what_the_pipeline_itself_makes(self, family, folder, run):
        name, plain = run(paint_by_hand, folder, PROMPTS[1], family.parameters)
        reply, again = run(make, folder, [PAINTINGS[1]] * 2, family.parameters)
        assert name == family.pipeline
        assert (to_pixels(reply) == plain).all()
        assert reply.pictures == again.pictures

    def test_prompts_of_a_batch_have_one_picture_each(self, family, folder, run):
        batched = family.parameters | {"batch": len(PAINTINGS)}
        alone = run(make, folder, PAINTINGS, family.parameters)
        batch = run(make, folder, PAINTINGS, batched)
        sizes = [len(reply.provenance["batch"]) for reply in batch]
        assert sizes == [1 if family.one_by_one else len(PAINTINGS)] * len(PAINTINGS)
        for place, reply in enumerate(batch):
            differences = [find_difference(reply, other) for other in alone]
            assert differences.pop(place) <= ROUNDING
            assert min(differences) > ROUNDING

    def test_a_parameter_that_the_pipeline_does_not_take_is_named(self, family, folder, run):
        wrong = {**family.parameters, "guidence": 3.5}
        with pytest.raises(ModelUnavailable, match=f"^{family.pipeline} of .* takes no guidence:"):
            run(make, folder, PAINTINGS[:1], wrong)


@slow
@of_each([family for family in PAINTERS if family.rewriting])
def test_a_painter_that_rewrites_prompts_has_to_be_told(family, folder, run):
    parameters = {**family.parameters}
    assert parameters.pop(family.rewriting) is False
    with pytest.raises(
        ModelUnavailable,
        match=f"^{family.pipeline} of .* rewrites prompts .*: set {family.rewriting}: false",
    ):
        run(make, folder, PAINTINGS[:1], parameters)


@slow
class TestEditing:
    @of_each(EDITORS)
    def test_a_picture_is_changed_as_the_pipeline_itself_does_it(self, family, folder, run):
        plain = run(edit_by_hand, folder, PROMPTS[2], family.editing)
        red, blue = run(make, folder, [RED_EDIT, BLUE_EDIT], family.editing)
        assert (to_pixels(red) == plain).all()
        assert to_pixels(red).shape == (EDITED_SIDE, EDITED_SIDE, 3)
        assert find_difference(red, blue) > 0

    @of_each([family for family in EDITORS if family.joins])
    def test_pictures_are_joined(self, family, folder, run):
        one, joined = run(make, folder, [RED_EDIT, JOINT_EDIT], family.editing)
        assert find_difference(one, joined) > 0

    @of_each([family for family in EDITORS if not family.joins])
    def test_a_family_that_cannot_join_pictures_says_so(self, family, folder, run):
        with pytest.raises(UnacceptableRequest, match=r"changes one .*joins? several"):
            run(make, folder, [JOINT_EDIT], family.editing)

    @of_each(PAINTERS_ALONE)
    def test_a_painter_that_edits_nothing_says_so(self, family, folder, run):
        with pytest.raises(
            ModelUnavailable, match=f"^{family.pipeline} of .* paints and changes no picture: leave"
        ):
            run(make, folder, [RED_EDIT], {})

    @of_each(EDITORS_ALONE)
    def test_an_editor_that_paints_nothing_says_so(self, family, folder, run):
        with pytest.raises(
            ModelUnavailable, match=rf"^{family.pipeline} of .* paints none: .*\[editor\]"
        ):
            run(make, folder, PAINTINGS[:1], {})


def test_the_table_in_the_document_is_this_one():
    lines = DOCUMENT.read_text(encoding="utf-8").splitlines()
    start = lines.index("| family | pipeline | paints | batch | edits | joins | to know |")
    rows = [family.row for family in FAMILIES]
    assert lines[start + 2 : start + 3 + len(rows)] == [*rows, ""]
