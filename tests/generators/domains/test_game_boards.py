import io
from dataclasses import replace
from functools import cache
from hashlib import sha256
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image, ImageOps
from PIL.Image import Resampling

from generators.canvas import decode_png, rasterise
from generators.domains.game_boards.ask import parse_question, write_questions
from generators.domains.game_boards.draw import MIN_SIZE, draw, list_scenes
from generators.domains.game_boards.measure import measure, measure_legibility
from generators.reading import Pixels, Unreadable
from generators.scene import Question, Scene

SCENES = {scene.base_id.removeprefix("game_boards/"): scene for scene in list_scenes(1)}
COUNTERFACTUALS = [s for s in SCENES.values() if s.variant == "counterfactual"]
BOARDS = ("chess", "xiangqi", "sudoku", "go")
NUMBER = " Answer with a number in curly brackets, e.g., {9}."
YES_NO = " Answer in curly brackets, e.g., {Yes} or {No}."


@cache
def picture(name: str, size: int = 384) -> Pixels:
    return drawn(SCENES[name], size)


def drawn(scene: Scene, size: int = 384) -> Pixels:
    return decode_png(rasterise(draw(scene, size)))


def read(pixels: Pixels, scene: Scene) -> dict[str, float]:
    return dict(zip(scene.truths, measure(pixels, list(scene.truths)), strict=True))


def asked(scene: Scene) -> list[Question]:
    return [
        question
        for question in write_questions(scene)
        if question.question_id in ("Q1", "Q2", "Q3")
    ]


def texts(name: str) -> list[str]:
    return [question.text for question in write_questions(SCENES[name])]


def test_there_are_28_changed_boards_and_4_originals() -> None:
    eight = [
        f"{a}-{b}-{c}"
        for a, b, c in product(("remove", "add"), ("row", "column"), ("first", "last"))
    ]
    changed = {f"{board}-{change}" for board in BOARDS[:3] for change in eight}
    changed |= {f"go-{change}" for change in eight if change.endswith("last")}
    assert [s.base_id for s in COUNTERFACTUALS] == [f"game_boards/{n}" for n in SCENES if "-" in n]
    assert set(SCENES) == changed | set(BOARDS)
    assert len(changed) == 28
    assert all(s.original_id == f"game_boards/{s.subtopic}" for s in SCENES.values())
    assert SCENES["go-add-column-last"].modification == "add column last"
    assert SCENES["go-add-column-last"].truths == {"horizontal lines": 19, "vertical lines": 20}


def test_questions_are_the_papers() -> None:
    assert texts("chess-add-row-first") == [
        "How many rows are there on this board?" + NUMBER,
        "Count the rows on this board." + NUMBER,
        "Is this a 8x8 Chessboard?" + YES_NO,
    ]
    assert texts("xiangqi-remove-row-last") == [
        "How many horizontal lines are there on this board?" + NUMBER,
        "Count the horizontal lines on this board." + NUMBER,
        "Is this a 10x9 Xiangqi board?" + YES_NO,
    ]
    assert texts("sudoku-add-column-last") == [
        "How many columns are there on this puzzle?" + NUMBER,
        "Count the columns on this puzzle." + NUMBER,
        "Is this a 9x9 Sudoku puzzle?" + YES_NO,
    ]
    assert texts("go-remove-column-last") == [
        "How many vertical lines are there on this board?" + NUMBER,
        "Count the vertical lines on this board." + NUMBER,
        "Is this a 19x19 Go board?" + YES_NO,
    ]


@pytest.mark.parametrize("board", BOARDS)
def test_an_original_is_asked_what_its_counterfactuals_are(board: str) -> None:
    changed = {q.text for s in COUNTERFACTUALS if s.subtopic == board for q in asked(s)}
    questions = asked(SCENES[board])
    assert sorted(q.text for q in questions) == sorted(changed)
    assert all(q.ground_truth == q.expected_bias for q in questions)


@pytest.mark.parametrize("scene", SCENES.values(), ids=SCENES)
def test_the_truths_answer_the_questions(scene: Scene) -> None:
    for question in asked(scene):
        inquiry = parse_question(f"You are an expert. {question.text} Think first.")
        assert inquiry is not None
        assert inquiry.answer([scene.truths[t] for t in inquiry.targets]) == question.ground_truth
        assert (
            inquiry.answer([scene.standards[t] for t in inquiry.targets]) == question.expected_bias
        )
        if scene.variant == "counterfactual":
            assert question.ground_truth != question.expected_bias


def test_other_domains_prompts_are_not_understood() -> None:
    assert parse_question("How many lines are there in cell C5?" + NUMBER) is None
    assert parse_question("How many chess pieces are there on this board?" + NUMBER) is None
    assert parse_question("Are the two horizontal lines equal in length?" + YES_NO) is None


@pytest.mark.parametrize("name", SCENES)
def test_pixels_agree_with_the_truths_at_the_smallest_size(name: str) -> None:
    pixels = picture(name, MIN_SIZE)
    assert max(pixels.shape) == MIN_SIZE
    assert read(pixels, SCENES[name]) == SCENES[name].truths


@pytest.mark.parametrize("size", [768, 1152])
@pytest.mark.parametrize(
    "name", ["chess-add-row-last", "xiangqi-remove-row-first", "go-add-row-last"]
)
def test_pixels_agree_at_larger_sizes(name: str, size: int) -> None:
    assert read(picture(name, size), SCENES[name]) == SCENES[name].truths


@pytest.mark.parametrize(
    "name",
    [
        "chess-remove-row-first",
        "xiangqi-add-column-first",
        "sudoku-add-row-last",
        "go-add-column-last",
    ],
)
def test_padding_scaling_and_jpeg_do_not_change_the_reading(name: str) -> None:
    image = Image.fromarray(picture(name, 768))
    smaller = (round(image.width * 0.9), round(image.height * 0.9))
    jpeg = io.BytesIO()
    image.save(jpeg, "JPEG", quality=90)
    changed = [ImageOps.expand(image, 7, fill) for fill in ("white", "black", "#808080")]
    changed += [image.resize(smaller, f) for f in (Resampling.LANCZOS, Resampling.BICUBIC)]
    changed.append(Image.open(jpeg))
    for each in changed:
        assert read(np.asarray(each), SCENES[name]) == SCENES[name].truths


def test_no_seed_changes_the_scenes() -> None:
    assert list_scenes(1) == list_scenes(2)


@pytest.mark.parametrize(
    ("name", "digest"),
    [
        ("chess-remove-row-first", "33f221dbec09131b"),
        ("xiangqi-remove-column-last", "cf944b82bc6a8f9f"),
        ("sudoku-add-row-last", "009e0fc4e45b5cab"),
        ("go", "f885ccd43d8187f9"),
    ],
)
def test_pixels_stay_as_they_were(name: str, digest: str) -> None:
    assert sha256(picture(name).tobytes()).hexdigest()[:16] == digest


@pytest.mark.parametrize("scene", COUNTERFACTUALS, ids=lambda scene: scene.base_id)
def test_a_board_drawn_as_the_usual_one_is_caught(scene: Scene) -> None:
    mislabelled = replace(scene, settings=SCENES[scene.subtopic].settings)
    assert read(drawn(mislabelled), scene) == scene.standards != scene.truths


def test_a_line_too_few_or_too_many_is_caught() -> None:
    lines = picture("go").copy()
    lines[21 + 19 * 7 - 4 : 21 + 19 * 7 + 4, 40:340] = lines[0, 0]
    assert measure(lines, ["horizontal lines", "vertical lines"]) == [18, 19]
    lines[100:102, 21:363] = 0
    assert measure(lines, ["horizontal lines"]) == [19]
    cells = picture("sudoku").copy()
    cells[21:363, 200:202] = 0
    assert measure(cells, ["rows", "columns"]) == [9, 10]


def test_a_row_of_squares_too_few_is_caught() -> None:
    squares = picture("chess").copy()
    squares[20 : 20 + 43] = 255
    assert measure(squares, ["rows", "columns"]) == [7, 8]


def test_what_shows_no_board_is_unreadable() -> None:
    blank = np.full((384, 384, 3), 255, np.uint8)
    noise = np.random.default_rng(1).integers(0, 256, (384, 384, 3), np.uint8)
    for pixels in (blank, noise):
        with pytest.raises(Unreadable):
            measure(pixels, ["rows"])
    with pytest.raises(Unreadable, match="no horizontal lines"):
        measure(picture("chess"), ["horizontal lines"])


@pytest.mark.parametrize(
    ("first_row", "rows", "first_column", "columns"),
    [(0, 3, 1, 3), (0, 3, 2, 3), (4, 5, 1, 5), (6, 5, 3, 5), (1, 7, -1, 7)],
)
def test_digits_of_a_small_sudoku_are_no_squares(
    first_row: int, rows: int, first_column: int, columns: int
) -> None:
    """Each stands across the middle, alike or opposite along stretches that others part."""
    numbers = {"first_row": first_row, "first_column": first_column}
    small = replace(SCENES["sudoku"], settings={**numbers, "rows": rows, "columns": columns})
    assert measure(drawn(small), ["rows", "columns"]) == [rows, columns]


@pytest.mark.parametrize("columns", [2, 3, 10])
def test_of_a_river_and_nothing_else_the_columns_are_not_guessed(columns: int) -> None:
    """The lines between the outer two end at its banks, which are all that there is."""
    numbers = {"rows": 2, "first_column": 0, "columns": columns}
    banks, above = (
        drawn(replace(SCENES["xiangqi"], settings={**numbers, "first_row": row})) for row in (4, 3)
    )
    targets = ["horizontal lines", "vertical lines"]
    assert measure(above, targets) == [2, columns]
    if columns == 2:
        assert measure(banks, targets) == [2, 2]
    else:
        with pytest.raises(Unreadable, match="two banks of a river, vertical lines cannot be"):
            measure(banks, targets)


@settings(max_examples=25, deadline=None)
@given(
    board=st.sampled_from(BOARDS),
    rows=st.integers(3, 24),
    columns=st.integers(3, 24),
    first_row=st.integers(-3, 6),
    first_column=st.integers(-3, 6),
)
def test_any_board_is_read_as_drawn(
    board: str, rows: int, columns: int, first_row: int, first_column: int
) -> None:
    numbers = {
        "first_row": first_row,
        "rows": rows,
        "first_column": first_column,
        "columns": columns,
    }
    pixels = drawn(replace(SCENES[board], settings=numbers))
    assert measure(pixels, list(SCENES[board].truths)) == [rows, columns]
    assert min(measure_legibility(pixels)) >= 2
