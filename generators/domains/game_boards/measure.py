"""Rows and columns of a game board, counted in the pixels.

Whether a board has coloured squares or ruled lines is seen first: there is about as much of
either kind of square, but much less ink than ground between lines. Squares are counted by the
alternation of their colours, lines by finding what is dark all the way between two lines that
cross it, so that neither digits nor star points are taken for lines, and no river hides one.
"""

from collections.abc import Sequence

import numpy as np

from generators.domains.game_boards import _ruled, _squares
from generators.domains.game_boards._pixels import Grey, levels, luma
from generators.reading import Legibility, Pixels, Unreadable

VERSION = "1"

_BALANCED = 0.65


def measure(pixels: Pixels, targets: Sequence[str]) -> list[float]:
    """How many rows, columns, horizontal lines or vertical lines the board has.

    A ruled board has one row or column fewer than lines. Raises `Unreadable` when the picture
    shows no board, or when lines are asked for and it has coloured squares.
    """
    grey = luma(pixels)
    if _is_ruled(grey):
        horizontal, vertical = (len(found) for found in _ruled.lines(grey))
        counts = {"horizontal lines": horizontal, "vertical lines": vertical}
        rows, columns = horizontal - 1, vertical - 1
    else:
        rows, columns = (len(found) for found in _squares.squares(grey))
        counts = {}
    counts |= {"rows": rows, "columns": columns}
    missing = [target for target in targets if target not in counts]
    if missing:
        raise Unreadable(f"This board does not show {' or '.join(missing)}.")
    return [float(counts[target]) for target in targets]


def legibility(pixels: Pixels) -> Legibility:
    """The thinnest line and the narrowest gap between two; of squares, the narrowest one."""
    grey = luma(pixels)
    if _is_ruled(grey):
        return _ruled.legibility(grey)
    narrowest = float(min(np.diff(found).min() for found in _squares.squares(grey)))
    return Legibility(mark=narrowest, gap=narrowest)


def _is_ruled(grey: Grey) -> bool:
    return levels(grey).balance < _BALANCED
