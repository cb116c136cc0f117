"""The boards held against what others publish about them."""

from collections import defaultdict
from collections.abc import Iterator
from functools import cache
from itertools import product

import chess.svg
import numpy as np
from numpy.typing import NDArray

from generators.canvas import decode_png, rasterise
from generators.domains.game_boards.draw import draw, list_scenes
from generators.reading import Pixels

SCENES = {scene.base_id.removeprefix("game_boards/"): scene for scene in list_scenes(1)}

# The puzzle of Wikipedia's article "Sudoku".
SUDOKU = "53..7....6..195....98....6.8...6...34..8.3..17...2...6.6....28....419..5....8..79"

# Where the first square, cell or line of the boards lies at 384 px, and how far it is to the next.
CHESS, CELLS, TALL_CELLS, LINES = (20, 43), (21, 38), (22, 34), (21, 19)


@cache
def picture(name: str) -> Pixels:
    """A board at 384 px."""
    return decode_png(rasterise(draw(SCENES[name], 384)))


def cell(name: str, row: int, column: int, place: tuple[int, int]) -> Pixels:
    """What is inside a cell, without the lines around it."""
    first, pitch = place
    top, left = first + pitch * row, first + pitch * column
    return picture(name)[top + 3 : top + pitch - 3, left + 3 : left + pitch - 3]


def colour(name: str, row: int, column: int, place: tuple[int, int] = CHESS) -> tuple[int, ...]:
    return tuple(cell(name, row, column, place)[15, 15])


def test_the_chessboard_is_python_chess_s() -> None:
    theirs = decode_png(rasterise(chess.svg.board(None, size=384, coordinates=False)))
    for row, column in product(range(8), repeat=2):
        assert colour("chess", row, column) == tuple(theirs[48 * row + 24, 48 * column + 24])


def test_squares_keep_their_colours_when_a_row_goes_or_comes() -> None:
    for column in range(8):
        assert colour("chess-remove-row-first", 0, column) == colour("chess", 1, column)
        assert colour("chess-remove-row-last", 0, column) == colour("chess", 0, column)
        assert colour("chess-add-row-first", 1, column, (21, 38)) == colour("chess", 0, column)


def test_the_sudoku_s_digits_are_the_published_ones() -> None:
    glyphs = defaultdict(list)
    for digit, (row, column) in zip(SUDOKU, product(range(9), repeat=2), strict=True):
        glyphs[digit].append(cell("sudoku", row, column, CELLS).astype(int))
    assert np.min(glyphs.pop(".")) == 255
    assert len(glyphs) == 9
    for (one, shapes), (other, shape) in product(glyphs.items(), repeat=2):
        unlike = np.abs(np.stack(shapes) - shape[0]).mean(axis=(1, 2, 3))
        assert unlike.max() < 1 if one == other else unlike.min() > 10


def test_the_sudoku_has_one_solution() -> None:
    assert len(list(solutions(SUDOKU))) == 1


def solutions(puzzle: str) -> Iterator[str]:
    choices = {at: options(puzzle, at) for at, digit in enumerate(puzzle) if digit == "."}
    if not choices:
        yield puzzle
        return
    at = min(choices, key=lambda at: len(choices[at]))
    for digit in choices[at]:
        yield from solutions(puzzle[:at] + digit + puzzle[at + 1 :])


def options(puzzle: str, at: int) -> set[str]:
    row, column = divmod(at, 9)
    seen = {
        puzzle[9 * r + c]
        for r, c in product(range(9), repeat=2)
        if r == row or c == column or (r // 3, c // 3) == (row // 3, column // 3)
    }
    return set("123456789") - seen


def test_added_sudoku_cells_are_blank_and_the_others_keep_their_digits() -> None:
    for column in range(9):
        assert cell("sudoku-add-row-first", 0, column, TALL_CELLS).min() == 255
        assert cell("sudoku-add-row-last", 9, column, TALL_CELLS).min() == 255
    for row, column in product(range(9), repeat=2):
        inked = SUDOKU[9 * row + column] != "."
        assert (cell("sudoku-add-row-first", row + 1, column, TALL_CELLS).min() < 99) == inked
        assert (cell("sudoku-add-column-last", row, column, TALL_CELLS).min() < 99) == inked


def bold(name: str, place: tuple[int, int]) -> list[int]:
    """Which horizontal lines are bold, seen along the right edge of the first cells."""
    first, pitch = place
    dark = picture(name)[:, first + pitch - 4, 0] < 128
    heights = [np.count_nonzero(dark[y - 3 : y + 3]) for y in range(first, len(dark) - 3, pitch)]
    return [line for line, height in enumerate(heights) if height > 2]


def test_bold_lines_stay_around_the_boxes_and_the_whole() -> None:
    assert bold("sudoku", CELLS) == [0, 3, 6, 9]
    assert bold("sudoku-remove-row-first", CELLS) == [0, 2, 5, 8]
    assert bold("sudoku-remove-row-last", CELLS) == [0, 3, 6, 8]
    assert bold("sudoku-add-row-first", TALL_CELLS) == [0, 1, 4, 7, 10]
    assert bold("sudoku-add-row-last", TALL_CELLS) == [0, 3, 6, 9, 10]


def stars(ink: NDArray[np.bool_], first: int, pitch: int) -> list[tuple[int, int]]:
    """Points of a board, counted from 1, whose ink reaches into the corners between the lines."""
    rows, columns = ((side - 2 * first) // pitch + 1 for side in ink.shape)
    return [
        (row + 1, column + 1)
        for row, column in product(range(rows), range(columns))
        if ink[first + pitch * row + 1, first + pitch * column + 1]
    ]


def test_star_points_are_on_the_fourth_tenth_and_sixteenth_lines() -> None:
    published = list(product((4, 10, 16), repeat=2))
    for name, place in {
        "go": LINES,
        "go-remove-row-last": LINES,
        "go-remove-column-last": LINES,
        "go-add-row-last": (21, 18),
        "go-add-column-last": (21, 18),
    }.items():
        assert stars(picture(name)[..., 0] < 128, *place) == published
