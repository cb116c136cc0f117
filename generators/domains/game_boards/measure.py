"""Rows and columns of a game board, counted in the pixels.

Squares are counted by the alternation of their colours. On a board that has none, lines are
counted: what is dark all the way between two lines that cross it, so that neither digits nor
star points are taken for lines, and no river hides one.
"""

from collections.abc import Sequence

import numpy as np

from generators.domains.game_boards._grey_pixels import compute_luma
from generators.domains.game_boards._ruled_lines import find_lines, measure_line_widths
from generators.domains.game_boards._squares import find_squares
from generators.reading import Legibility, Pixels, Unreadable

VERSION = "1"


def measure(pixels: Pixels, targets: Sequence[str]) -> list[float]:
    """Count the rows, columns, horizontal lines or vertical lines of the board.

    A ruled board has one row or column fewer than lines. Raises `Unreadable` when the picture
    shows no board, or when lines are asked for and it has coloured squares.
    """
    counts = _count_all(pixels)
    missing = [target for target in targets if target not in counts]
    if missing:
        raise Unreadable(f"A board of coloured squares has no {' and no '.join(missing)}.")
    return [float(counts[target]) for target in targets]


def measure_legibility(pixels: Pixels) -> Legibility:
    """The thinnest line and the narrowest gap between two; of squares, the narrowest one."""
    grey = compute_luma(pixels)
    if (square_spans := find_squares(grey)) is None:
        return measure_line_widths(grey)
    narrowest = float(min(np.diff(stretches).min() for stretches in square_spans))
    return Legibility(mark=narrowest, gap=narrowest)


def _count_all(pixels: Pixels) -> dict[str, int]:
    grey = compute_luma(pixels)
    if square_spans := find_squares(grey):
        rows, columns = map(len, square_spans)
        return {"rows": rows, "columns": columns}
    horizontal, vertical = map(len, find_lines(grey))
    return {
        "horizontal lines": horizontal,
        "vertical lines": vertical,
        "rows": horizontal - 1,
        "columns": vertical - 1,
    }
