"""Ruled lines, black on a lighter ground, read from pixels."""

import numpy as np

from generators.domains.game_boards._grey_pixels import (
    TOLERANCE,
    Grey,
    Spans,
    find_common_levels,
    find_spans,
)
from generators.reading import Legibility, Unreadable

_MIN_LINE_SHARE = 0.8
_MIN_DARK_SHARE = 0.9
_MAX_ASPECT = 1.5
"""The largest ratio of width to height of a cell that counts as square."""


def find_lines(grey: Grey) -> tuple[Spans, Spans]:
    """Find the horizontal and the vertical lines, bold or thin; `Unreadable` without any."""
    ground = max(find_common_levels(grey))
    return _find_board_lines(_crop_border(grey, ground), ground)


def measure_line_widths(grey: Grey) -> Legibility:
    """The widths of the thinnest line and of the narrowest gap between neighbouring lines."""
    ground = max(find_common_levels(grey))
    board = _crop_border(grey, ground)
    horizontal, vertical = _find_board_lines(board, ground)
    widths = _measure_widths(board, ground, horizontal, vertical)
    heights = _measure_widths(board.T, ground, vertical, horizontal)
    return Legibility(mark=min(widths.mark, heights.mark), gap=min(widths.gap, heights.gap))


def _find_board_lines(board: Grey, ground: int) -> tuple[Spans, Spans]:
    """Horizontal lines run from side to side.

    A vertical one is dark all the way from one horizontal line to the next at least once: a
    river may interrupt it elsewhere. Where there is nothing but a river, they cannot be counted.
    """
    ink = board < ground // 2
    inked = np.flatnonzero(ink.any(axis=0))
    width = np.ptp(inked) if inked.size else board.shape[1]
    horizontal = find_spans(np.count_nonzero(ink, axis=1) > _MIN_LINE_SHARE * width)
    if len(horizontal) < 2:
        raise Unreadable("Fewer than two lines cross the picture from side to side.")
    between = horizontal.ravel()[1:-1]
    dark = np.add.reduceat(ink, between, axis=0, dtype=np.uint16)[::2]
    distances = np.diff(between)[::2, None]
    vertical = find_spans(np.any(dark > _MIN_DARK_SHARE * distances, axis=0))
    if len(vertical) < 2:
        raise Unreadable("Fewer than two lines join the horizontal ones.")
    if len(horizontal) == len(vertical) == 2 and _MAX_ASPECT * np.ptp(horizontal) < np.ptp(
        vertical
    ):
        raise Unreadable("Between the two banks of a river, vertical lines cannot be counted.")
    return horizontal, vertical


def _measure_widths(board: Grey, ground: int, across: Spans, along: Spans) -> Legibility:
    """Legibility of the vertical lines `along`, cut between the horizontal lines `across`.

    Only what is dark all along a cut belongs to a line, so that nothing drawn beside one
    widens it. Levels between ink and ground count as the part of a pixel that they cover.
    """
    lightest = np.maximum.reduceat(board, across.ravel()[1:-1], axis=0)[::2].min(axis=0)
    covered = 1 - np.minimum(lightest / ground, 1)
    mark = min(covered[begin - 1 : end + 1].sum() for begin, end in along)
    middles = along.sum(axis=1) // 2
    gaps = np.add.reduceat(1 - covered, middles)[:-1]
    return Legibility(mark=float(mark), gap=float(gaps.min()))


def _crop_border(grey: Grey, ground: int) -> Grey:
    """The picture without a plain border of another colour than the ground."""
    other = (grey < ground - TOLERANCE) | (grey > ground + TOLERANCE)
    height, width = grey.shape
    rows = np.flatnonzero(np.count_nonzero(other, axis=1) < _MIN_DARK_SHARE * width)
    columns = np.flatnonzero(np.count_nonzero(other, axis=0) < _MIN_DARK_SHARE * height)
    if not (rows.size and columns.size):
        raise Unreadable("The picture has no plain ground that lines could stand on.")
    return grey[rows[0] : rows[-1] + 1, columns[0] : columns[-1] + 1]
