"""Counts the circles or the lines in a cell that stands alone, from its pixels."""

from collections.abc import Sequence

from scipy import ndimage

from generators.domains.patterned_grids._circle_finder import find_shapes, measure_narrowest_gap
from generators.domains.patterned_grids._grid_finder import (
    DARK,
    LONG,
    GridCells,
    Ink,
    find_runs,
)
from generators.domains.patterned_grids._stroke_counter import read_tally
from generators.reading import Legibility, Pixels, Unreadable

VERSION = "1"


def measure(pixels: Pixels, targets: Sequence[str]) -> Sequence[float]:
    """Count the "circles in C5" or "lines in C5" of the one cell, whatever its name.

    Raises `Unreadable` when there is no cell, or a target is neither.
    """
    readings = []
    for target in targets:
        marks, _, cell = target.partition(" in ")
        if marks not in ("circles", "lines") or not cell:
            raise Unreadable(f"A cell cannot be asked for {target!r}.")
        ink = _crop_cell(pixels)
        circles = sum(shape.is_circle for shape in find_shapes(ink))
        readings.append(float(circles if marks == "circles" else read_tally(ink).count))
    return readings


def measure_legibility(pixels: Pixels) -> Legibility:
    """The narrowest dot or stroke in the cell, and the narrowest gap there, in px."""
    ink = _crop_cell(pixels)
    strokes = read_tally(ink)
    if strokes.count:
        return Legibility(mark=min([*strokes.uprights, *strokes.crossing]), gap=min(strokes.gaps))
    widths = [shape.width for shape in find_shapes(ink)]
    if not widths:
        raise Unreadable("The cell is empty.")
    return Legibility(mark=min(widths), gap=measure_narrowest_gap(ink))


def _crop_cell(pixels: Pixels) -> Ink:
    """The ink within the largest square of lines that does not touch the picture's border."""
    light = pixels[..., 1]
    patches, _ = ndimage.label(light < DARK, [[1] * 3] * 3)
    boxes = [
        box
        for box in ndimage.find_objects(patches)
        if all(
            side.start > 0 and side.stop < length
            for side, length in zip(box, light.shape, strict=True)
        )
    ]
    if not boxes:
        raise Unreadable("The picture shows no cell.")
    rows, columns = max(boxes, key=lambda box: min(side.stop - side.start for side in box))
    dark = light[rows, columns] < DARK
    lines = [find_runs(dark.mean(axis=axis) > LONG) for axis in (1, 0)]
    if any(len(across) != 2 for across in lines):
        raise Unreadable("The picture shows no cell within four lines.")
    spaces = [
        [(side.start + first[1], side.start + last[0])]
        for side, (first, last) in zip((rows, columns), lines, strict=True)
    ]
    return GridCells(light=light, rows=spaces[0], columns=spaces[1]).crop_ink(0, 0)
