"""Reading patterned grids that were disturbed, changed, or are none."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image

from generators.canvas import decode_png, rasterise
from generators.domains.patterned_grids.dice import FACES, SHAPES
from generators.domains.patterned_grids.draw import (
    draw,
    draw_dice_grid,
    draw_tally_grid,
    list_scenes,
)
from generators.domains.patterned_grids.measure import measure, measure_legibility
from generators.domains.patterned_grids.pattern import compute_count, list_cells
from generators.reading import Unreadable
from tests.generators.domains.samples import DISTURBANCES

SCENES = list_scenes(0)
COUNTERFACTUALS = [scene for scene in SCENES if scene.variant == "counterfactual"]


def picture(svg):
    return decode_png(rasterise(svg))


def readings(pixels, scene):
    return dict(zip(scene.truths, measure(pixels, list(scene.truths)), strict=True))


def by_id(base_id):
    return next(scene for scene in SCENES if scene.base_id == f"patterned_grids/{base_id}")


@pytest.mark.parametrize("disturbance", DISTURBANCES)
@pytest.mark.parametrize("size", [384, 768])
def test_a_disturbed_picture_reads_the_same(disturbance, size):
    for scene in SCENES[::9]:
        disturbed = DISTURBANCES[disturbance](Image.fromarray(picture(draw(scene, size))))
        assert readings(np.asarray(disturbed), scene) == scene.truths, scene.base_id


class TestTheCheckCanFail:
    """A picture that does not show what its scene says is found out."""

    def test_a_dot_too_few_or_too_many(self):
        faces = {cell: dict.fromkeys(FACES[5], "circle") for cell in list_cells(6)}
        del faces[2, 3][FACES[5][0]]
        faces[3, 2][0, 1] = "circle"
        pixels = picture(draw_dice_grid(6, 384, faces))
        targets = ["circles in D3", "circles in C4", "circles in C3"]
        assert measure(pixels, targets) == [4, 6, 5]

    @pytest.mark.parametrize("shape", SHAPES)
    def test_a_shape_that_is_no_circle(self, shape):
        faces = {cell: dict.fromkeys(FACES[4], "circle") for cell in list_cells(12)}
        faces[4, 2][FACES[4][3]] = shape
        assert measure(picture(draw_dice_grid(12, 384, faces)), ["circles in C5"]) == [3]

    def test_a_stroke_too_few_or_too_many(self):
        counts = dict.fromkeys(list_cells(8), 5) | {(2, 3): 4, (3, 2): 6}
        pixels = picture(draw_tally_grid(8, 384, counts, 7))
        assert measure(pixels, ["lines in D3", "lines in C4", "lines in C3"]) == [4, 6, 5]

    def test_the_change_in_another_cell(self):
        scene = by_id("tally-12x12-f7-add")
        counts = {cell: compute_count(*cell, 12) for cell in list_cells(12)} | {(6, 6): 7}
        pixels = picture(draw_tally_grid(12, 384, counts, 7))
        assert readings(pixels, scene) == scene.standards

    def test_the_original_in_place_of_the_counterfactual(self):
        for scene in COUNTERFACTUALS[::7]:
            original = by_id(scene.original_id.removeprefix("patterned_grids/"))
            assert readings(picture(draw(original, 384)), scene) == scene.standards


class TestUnreadable:
    @pytest.mark.parametrize("level", [0, 128, 255])
    def test_a_picture_without_a_grid(self, level):
        with pytest.raises(Unreadable, match="no grid"):
            measure(np.full((384, 384, 3), level, dtype=np.uint8), ["circles in C5"])

    def test_lines_that_are_not_even(self):
        pixels = np.full((100, 100, 3), 255, dtype=np.uint8)
        pixels[[10, 20, 80]] = 0
        pixels[:, [10, 20, 80]] = 0
        with pytest.raises(Unreadable, match="not even"):
            measure(pixels, ["circles in A1"])

    @pytest.mark.parametrize("cell", ["G1", "A7", "A0"])
    def test_a_cell_that_the_grid_has_not(self, cell):
        with pytest.raises(Unreadable, match=f"no cell {cell}: its grid has 6 rows and 6 columns"):
            measure(picture(draw(by_id("dice-6x6"), 384)), [f"circles in {cell}"])

    def test_a_target_that_no_grid_has(self):
        with pytest.raises(Unreadable, match="'stars'"):
            measure(picture(draw(by_id("dice-6x6"), 384)), ["stars"])

    def test_an_empty_grid_has_no_marks_to_judge(self):
        with pytest.raises(Unreadable, match="empty"):
            measure_legibility(picture(draw_dice_grid(6, 384, {})))


SPOTS = [(row, column) for row in range(3) for column in range(3)]


@settings(max_examples=25, deadline=None)
@given(st.data(), st.integers(3, 12), st.sampled_from([384, 500, 768]))
def test_any_arrangement_of_dots_is_read_back(data, cells, size):
    some_spots = st.sets(st.sampled_from(SPOTS))
    dots = {cell: data.draw(some_spots) for cell in [(0, 0), (1, 2), (cells - 1, 1)]}
    faces = {cell: dict.fromkeys(spots, "circle") for cell, spots in dots.items()}
    pixels = picture(draw_dice_grid(cells, size, faces))
    targets = ["circles in A1", "circles in C2", f"circles in B{cells}"]
    assert measure(pixels, targets) == [len(spots) for spots in dots.values()]
    assert measure(pixels, [t.replace("circles", "lines") for t in targets]) == [0, 0, 0]


@settings(max_examples=25, deadline=None)
@given(
    st.lists(st.integers(1, 12), min_size=9, max_size=9),
    st.integers(3, 12),
    st.sampled_from([640, 768, 1000]),
)
def test_any_tally_is_read_back(tallies, cells, size):
    counts = dict(zip(SPOTS, tallies, strict=True))
    targets = [f"lines in {'ABC'[column]}{row + 1}" for row, column in SPOTS]
    pixels = picture(draw_tally_grid(cells, size, counts, 12))
    assert measure(pixels, targets) == tallies
    assert measure(pixels, [t.replace("lines", "circles") for t in targets]) == [0] * 9


@settings(max_examples=20, deadline=None)
@given(st.integers(384, 1200), st.integers(0, 10**9), st.integers(0, 55))
def test_any_size_and_seed_verify(size, seed, number):
    scene = list_scenes(seed)[number]
    assert readings(picture(draw(scene, size)), scene) == scene.truths
