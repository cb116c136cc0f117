from itertools import product

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from generators import xiangqi
from generators.canvas import create_canvas, decode_png, rasterise

PITCH, MARGIN, WIDTH = 40, 20, 2
CORNERS = list(product((-1, 1), (-1, 1)))

# The start position as UCCI engines write it: soldiers are P, cannons C, kings K, advisers A.
START = (
    "rnbakabnr",
    ".........",
    ".c.....c.",
    "p.p.p.p.p",
    ".........",
    ".........",
    "P.P.P.P.P",
    ".C.....C.",
    ".........",
    "RNBAKABNR",
)


def ink(files: range = xiangqi.FILES, ranks: range = xiangqi.RANKS) -> NDArray[np.bool_]:
    side = (len(files) - 1) * PITCH + 2 * MARGIN, (len(ranks) - 1) * PITCH + 2 * MARGIN
    drawing = create_canvas(*side)
    xiangqi.draw_board(
        drawing,
        origin_x=MARGIN,
        origin_y=MARGIN,
        pitch=PITCH,
        line_width=WIDTH,
        files=files,
        ranks=ranks,
    )
    return decode_png(rasterise(drawing.tostring()))[..., 1] < 128


def point(column: int, row: int) -> tuple[int, int]:
    return MARGIN + column * PITCH, MARGIN + row * PITCH


def joined(marks: NDArray[np.bool_], column: int, row: int, right: int, down: int) -> bool:
    """Whether a straight line leads from one point to a neighbour, diagonals included."""
    x, y = point(column, row)
    steps = range(8, PITCH - 7)
    return all(marks[y + down * step, x + right * step] for step in steps)


def marked(marks: NDArray[np.bool_], column: int, row: int, right: int, down: int) -> bool:
    """Whether the corner beside a point carries an angle that touches neither line."""
    x, y = point(column, row)
    return bool(marks[y + down * 5, x + right * 9] and marks[y + down * 9, x + right * 5])


def test_board_has_a_line_for_every_file_and_rank_and_a_river() -> None:
    marks = ink()
    assert marks.shape == (9 * PITCH + 2 * MARGIN, 8 * PITCH + 2 * MARGIN)
    for column, row in product(range(8), range(10)):
        assert joined(marks, column, row, 1, 0)
    for column, row in product(range(9), range(9)):
        assert joined(marks, column, row, 0, 1) == (row != 4 or column in (0, 8))


def test_edges_fall_on_whole_pixels() -> None:
    drawing = create_canvas(360, 400)
    xiangqi.draw_board(drawing, origin_x=20, origin_y=20, pitch=40, line_width=2, ranks=range(5, 8))
    assert set(np.unique(decode_png(rasterise(drawing.tostring())))) == {0, 255}


def test_marks_stand_where_the_start_position_has_cannons_and_soldiers() -> None:
    marks = ink()
    for column, row, (right, down) in product(range(9), range(10), CORNERS):
        on_board = 0 <= column + right < 9
        stands = START[row][column] in "cCpP"
        if 0 <= row + down < 10:
            assert marked(marks, column, row, right, down) == (stands and on_board), (column, row)


def test_palaces_let_an_adviser_go_from_where_it_starts_to_the_point_before_its_king() -> None:
    marks = ink()
    diagonal = {
        (column, row, right, down)
        for column, row, (right, down) in product(range(9), range(10), CORNERS)
        if 0 <= column + right < 9 and 0 <= row + down < 10
        if joined(marks, column, row, right, down)
    }
    kings = [(START[row].lower().index("k"), row) for row in (0, 9)]
    hearts = [(column, row + (1 if row == 0 else -1)) for column, row in kings]
    outward = {(*heart, *corner) for heart, corner in product(hearts, CORNERS)}
    inward = {(c + right, r + down, -right, -down) for c, r, right, down in outward}
    assert diagonal == outward | inward
    for column, row in product(range(9), (0, 9)):
        if START[row][column] in "aA":
            assert any((column, row) == (c, r) for c, r, _, _ in inward)


def test_a_board_without_its_first_rank_is_the_rest_of_the_usual_one() -> None:
    whole, short = ink(), ink(ranks=range(1, 10))
    below = 2 * WIDTH
    assert np.array_equal(short[MARGIN + below :], whole[MARGIN + PITCH + below :])
    assert joined(short, 4, 0, 1, 1)
    assert joined(short, 4, 0, -1, 1)


def test_a_file_that_is_no_longer_the_first_stops_at_the_river() -> None:
    wide = ink(files=range(-1, 9))
    assert joined(wide, 0, 4, 0, 1)
    assert not joined(wide, 1, 4, 0, 1)
    assert marked(wide, 1, 3, -1, 1)


@settings(max_examples=15, deadline=None)
@given(
    first_file=st.integers(-3, 6),
    files=st.integers(2, 12),
    first_rank=st.integers(-3, 6),
    ranks=st.integers(2, 12),
)
def test_any_board_has_its_lines_and_nothing_beyond_them(
    first_file: int, files: int, first_rank: int, ranks: int
) -> None:
    marks = ink(range(first_file, first_file + files), range(first_rank, first_rank + ranks))
    assert all(
        joined(marks, column, row, 1, 0) for column in range(files - 1) for row in range(ranks)
    )
    assert all(
        joined(marks, column, row, 0, 1) for column in (0, files - 1) for row in range(ranks - 1)
    )
    inside = marks[MARGIN - 1 : 1 - MARGIN, MARGIN - 1 : 1 - MARGIN]
    assert np.count_nonzero(marks) == np.count_nonzero(inside)
