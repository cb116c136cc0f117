"""Counting the circles or the lines in one cell of a grid, from its pixels."""

import re
from collections.abc import Sequence

from generators.domains.patterned_grids._circle_finder import find_shapes, measure_narrowest_gap
from generators.domains.patterned_grids._grid_finder import Ink, find_cells
from generators.domains.patterned_grids._stroke_counter import read_tally
from generators.reading import Legibility, Pixels, Unreadable

VERSION = "1"

_TARGET = re.compile(r"(circles|lines) in ([A-Z]\d+)")


def measure(pixels: Pixels, targets: Sequence[str]) -> Sequence[float]:
    """Count the "circles in C5" or "lines in C5", one count per target.

    C5 is the third column from the left and the fifth row from the top, as the grid's lines
    divide the picture. A tally's crossing stroke is one line. Raises `Unreadable` when the
    picture shows no grid, or its grid no such cell.
    """
    cells = find_cells(pixels)
    readings = []
    for target in targets:
        match = _TARGET.fullmatch(target)
        if match is None:
            raise Unreadable(f"A grid cannot be asked for {target!r}.")
        ink = cells.crop_ink(*cells.find_cell(match[2]))
        readings.append(
            float(_count_circles(ink) if match[1] == "circles" else read_tally(ink).count)
        )
    return readings


def measure_legibility(pixels: Pixels) -> Legibility:
    """The narrowest dot or stroke and the narrowest gap in any cell, in px.

    A dot, or a shape in its place, counts as wide as a circle of its area. Gaps are those
    between marks and those to the grid lines; a tally's fifth stroke is not looked at for them.
    """
    cells = find_cells(pixels)
    marks, gaps = [], []
    for row in range(len(cells.rows)):
        for column in range(len(cells.columns)):
            ink = cells.crop_ink(row, column)
            strokes = read_tally(ink)
            if strokes.count:
                marks += [*strokes.uprights, *strokes.crossing]
                gaps += strokes.gaps
            elif dots := find_shapes(ink):
                marks += [dot.width for dot in dots]
                gaps.append(measure_narrowest_gap(ink))
    if not marks:
        raise Unreadable("The grid's cells are empty.")
    return Legibility(mark=min(marks), gap=min(gaps))


def _count_circles(ink: Ink) -> int:
    return sum(shape.is_circle for shape in find_shapes(ink))
