"""The patterned grids: what is drawn, what is asked, and that it is what was meant."""

import hashlib

import numpy as np
import pytest

from generators.canvas import decode_png, rasterise
from generators.domains.patterned_grids.ask import parse_question, write_questions
from generators.domains.patterned_grids.dice import FACES, SHAPES, fit_face, measure_clearance
from generators.domains.patterned_grids.draw import MIN_SIZE, draw, draw_dice_grid, list_scenes
from generators.domains.patterned_grids.layout import fit_layout
from generators.domains.patterned_grids.pattern import compute_count, list_cells, parse_cell_name
from generators.domains.patterned_grids.tally import fit_pen
from tests.generators.domains.samples import legibility, readings

SCENES = list_scenes(0)
COUNTERFACTUALS = [scene for scene in SCENES if scene.variant == "counterfactual"]
ORIGINALS = [scene for scene in SCENES if scene.variant == "original"]


def picture(svg):
    return decode_png(rasterise(svg))


def by_id(base_id):
    return next(scene for scene in SCENES if scene.base_id == f"patterned_grids/{base_id}")


def test_the_scenes_are_those_of_the_paper():
    assert len(COUNTERFACTUALS) == 56
    assert len(ORIGINALS) == 14
    for grid, changes in {"dice": ("remove", "replace"), "tally": ("remove", "add")}.items():
        for cells in range(6, 13):
            of_grid = [s for s in COUNTERFACTUALS if s.subject == f"{grid} {cells}×{cells}"]
            assert [s.modification for s in of_grid] == [*changes, *changes]
            assert {s.original_id for s in of_grid} == {f"patterned_grids/{grid}-{cells}x{cells}"}
    assert {s.subtopic for s in COUNTERFACTUALS} == {"remove", "replace or add"}


def test_dice_and_tally_and_both_changes_share_their_two_cells():
    for cells in range(6, 13):
        odd = [s.settings["cell"] for s in COUNTERFACTUALS if s.settings["cells"] == cells]
        first, second = odd[0], odd[2]
        assert first != second
        assert odd == [first, first, second, second] * 2
        assert all(compute_count(*parse_cell_name(cell), cells) >= 3 for cell in odd)


def test_an_original_holds_every_target_that_its_counterfactuals_ask_for():
    for original in ORIGINALS:
        asked = {s.target for s in COUNTERFACTUALS if s.original_id == original.base_id}
        assert set(original.truths) == asked
        assert original.truths == original.standards


@pytest.mark.parametrize(
    ("modification", "difference"), [("remove", -1), ("replace", -1), ("add", 1)]
)
def test_the_truth_differs_from_the_pattern_by_one(modification, difference):
    changed = [s for s in COUNTERFACTUALS if s.modification == modification]
    assert {s.truths[s.target] - s.standards[s.target] for s in changed} == {difference}


def test_questions_are_the_papers_letter_for_letter():
    dice, tally = by_id("dice-6x6-d3-replace"), by_id("tally-6x6-d3-add")
    assert [
        (q.text, q.ground_truth, q.expected_bias)
        for q in (*write_questions(dice), *write_questions(tally))
    ] == [
        (
            "How many circles are there in cell D3? "
            "Answer with a number in curly brackets, e.g., {9}.",
            "2",
            "3",
        ),
        (
            "Count the circles in cell D3. Answer with a number in curly brackets, e.g., {9}.",
            "2",
            "3",
        ),
        (
            "Does cell D3 contain 3 circles? Answer in curly brackets, e.g., {Yes} or {No}.",
            "No",
            "Yes",
        ),
        (
            "How many lines are there in cell D3? "
            "Answer with a number in curly brackets, e.g., {9}.",
            "4",
            "3",
        ),
        (
            "Count the lines in cell D3. Answer with a number in curly brackets, e.g., {9}.",
            "4",
            "3",
        ),
        (
            "Does cell D3 contain 3 lines? Answer in curly brackets, e.g., {Yes} or {No}.",
            "No",
            "Yes",
        ),
    ]


def test_an_original_is_asked_about_each_cell_once():
    for original in ORIGINALS:
        counterfactuals = [s for s in COUNTERFACTUALS if s.original_id == original.base_id]
        asked = {question.text for scene in counterfactuals for question in write_questions(scene)}
        questions = write_questions(original)
        assert len(questions) == 6
        assert {question.text for question in questions} == asked
        assert all(question.ground_truth == question.expected_bias for question in questions)


@pytest.mark.parametrize("around", ["{}", "Do not assume. {}", "{} Please double-check."])
def test_a_prompt_is_understood_whatever_stands_around_it(around):
    scene = by_id("dice-6x6-d3-replace")
    inquiries = [
        parse_question(around.format(question.text)) for question in write_questions(scene)
    ]
    assert [i.targets for i in inquiries] == [("circles in D3",)] * 3
    assert [i.answer([2]) for i in inquiries] == ["2", "2", "No"]
    assert [i.answer([3]) for i in inquiries] == ["3", "3", "Yes"]


def test_a_prompt_about_something_else_is_not_understood():
    assert parse_question("How many stars are there on this flag?") is None


@pytest.mark.parametrize("size", [768, 1152])
def test_labels_are_read_back_from_larger_pictures(size):
    for scene in SCENES[::5]:
        assert readings(scene, size) == scene.truths, scene.base_id


def test_the_densest_dots_are_seven_pixels_wide():
    scene = by_id("dice-12x12")
    assert legibility(scene, MIN_SIZE).mark == pytest.approx(7, abs=0.1)


@pytest.mark.parametrize("size", [384, 768, 1152])
def test_strokes_and_lines_begin_and_end_on_whole_pixels(size):
    frame = fit_layout(6, size)
    grid = picture(draw(by_id("tally-6x6"), size))[frame.origin_y :, frame.origin_x :]
    assert set(np.unique(grid)) == {0x00, 0x66, 0xFF}


def test_the_densest_tally_keeps_the_papers_cells_legible():
    densest = fit_pen(fit_layout(12, MIN_SIZE).cell_side, 7)
    assert (densest.width, densest.gap, densest.overhang) == (2, 2, 1)


@pytest.mark.parametrize("shape", [shape for shape in SHAPES if shape != "square"])
def test_a_shape_has_the_area_of_the_dot_it_replaces(shape):
    dots = {cell: {(1, 1): "circle"} for cell in list_cells(6)}
    ink = {
        mark: (255.0 - picture(draw_dice_grid(6, 1152, dots | {(2, 2): {(1, 1): mark}}))).sum()
        for mark in ("circle", shape)
    }
    without = (255.0 - picture(draw_dice_grid(6, 1152, dots | {(2, 2): {}}))).sum()
    assert ink[shape] - without == pytest.approx(ink["circle"] - without, rel=0.02)


@pytest.mark.parametrize("size", [384, 768, 1152])
def test_a_square_is_as_wide_as_the_dots_and_has_no_fringe(size):
    squares = [
        s for seed in range(3) for s in list_scenes(seed) if s.settings.get("shape") == "square"
    ]
    assert {scene.settings["cells"] for scene in squares} >= {9, 11, 12}
    for scene in squares:
        frame = fit_layout(scene.settings["cells"], size)
        row, column = parse_cell_name(scene.settings["cell"])
        left, top = frame.find_corner(row, column)
        inside = slice(top, top + frame.cell_side), slice(left, left + frame.cell_side)
        odd, measures = picture(draw(scene, size))[inside][..., 0], fit_face(frame.cell_side)
        spot = FACES[round(scene.standards[scene.target])][scene.settings["dot"]]
        above, before = (measures.margin + s * (measures.dot + measures.gap) for s in spot)
        around = odd[above - 1 : above + measures.dot + 1, before - 1 : before + measures.dot + 1]
        assert (around[1:-1, 1:-1] == 0).all()
        assert (around == 0).sum() == measures.dot**2
        assert set(np.unique(around)) == {0, 255}


@pytest.mark.parametrize("size", [384, 768, 1152])
def test_dots_of_neighbouring_cells_are_farther_apart_than_those_of_one(size):
    for cells in range(6, 13):
        frame = fit_layout(cells, size)
        measures = fit_face(frame.cell_side)
        assert 2 * measures.margin + frame.line > measures.gap


def test_shapes_keep_clear_of_other_dots():
    for seed in range(5):
        for scene in list_scenes(seed):
            if scene.modification == "replace":
                dots = FACES[round(scene.standards[scene.target])]
                measures = fit_face(fit_layout(scene.settings["cells"], MIN_SIZE).cell_side)
                spot = dots[scene.settings["dot"]]
                assert measure_clearance(measures, scene.settings["shape"], spot, dots) >= 2


def test_another_seed_gives_other_cells_that_verify_as_well():
    others = list_scenes(1)
    assert {s.base_id for s in others} != {s.base_id for s in SCENES}
    for scene in others[::7]:
        assert readings(scene) == scene.truths, scene.base_id


@pytest.mark.parametrize(
    ("base_id", "digest"),
    [
        ("dice-12x12", "0d00c3f4c773e0b02112f05af383ae2a5dc9059148577c3cd3def505d96810d4"),
        ("dice-6x6-d3-replace", "0dd738db3c826f911353c0326fe65bc149a7e403756a968c7ec034e6af397246"),
        ("tally-9x9", "76eba839de35721cf84f9e61fffc53343bc54458666b11906b5dc91e82b65d8b"),
        ("tally-12x12-f7-add", "5d0f5ae4c9df54fe2b8c4fa60270a5aaf3247261587bee295fc478184c82e3bd"),
    ],
)
def test_golden_pixels(base_id, digest):
    assert hashlib.sha256(picture(draw(by_id(base_id), 384)).tobytes()).hexdigest() == digest
