"""Zöllner and Poggendorff: figures that compare the directions of two lines."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from scipy import ndimage

from generators.domains.optical_illusions._ink import (
    EDGE_WIDTH,
    FigureReading,
    Ink,
    InkPiece,
    StrokeAxis,
    fit_axis,
)
from generators.reading import Legibility, Unreadable

RECTANGLE_HEIGHT = 1.75
"""Height of Poggendorff's rectangle in Pyllusion's units, for every picture of the figure: it
gives the unit of the offset, and nothing about a line's place."""


def measure_zollner(pieces: Sequence[InkPiece]) -> FigureReading:
    """The angle between two crossed lines in degrees, positive if they open to the right."""
    if len(pieces) != 2:
        raise Unreadable(f"There are {len(pieces)} pieces of ink instead of 2 crossed lines.")
    angles, marks, gaps = [], [], []
    for piece in sorted(pieces, key=lambda piece: piece.row_offset):
        line = _fit_crossed_line(piece.ink)
        angles.append(float(np.degrees(np.arctan(line.slope))))
        for side in (1, -1):
            mark, gap = _measure_crossing_strokes(piece.ink, line, side)
            marks += [mark, line.thickness]
            gaps.append(gap)
    return FigureReading(
        difference=angles[1] - angles[0], legibility=Legibility(mark=min(marks), gap=min(gaps))
    )


def measure_poggendorff(pieces: Sequence[InkPiece]) -> FigureReading:
    """The height of the right line, extended, above the left one in the rectangle's middle.

    In units of which the rectangle is 1.75 high, as in Pyllusion's figure.
    """
    if len(pieces) != 1:
        raise Unreadable(f"There are {len(pieces)} pieces of ink instead of a crossed rectangle.")
    ink = pieces[0].ink
    upright = np.flatnonzero(ink.sum(axis=0) > 0.5 * len(ink))
    if not upright.size:
        raise Unreadable("There is no rectangle.")
    split = int(np.argmax(np.diff(upright, append=upright[-1]))) + 1
    before, after = upright[0] - EDGE_WIDTH, upright[-1] + 1 + EDGE_WIDTH
    inside = ink[
        :, upright[split - 1] + 1 + EDGE_WIDTH : upright[split % upright.size] - EDGE_WIDTH
    ]
    height, pen = _measure_level_edges(inside)
    left_axis, right_axis = fit_axis(ink[:, :before]), fit_axis(ink[:, after:])
    middle = (upright[0] + upright[-1]) / 2
    raised = left_axis.find_height(middle) - right_axis.find_height(middle - after)
    mark = min(pen, left_axis.thickness, right_axis.thickness)
    gap = float(inside.shape[1] + 2 * EDGE_WIDTH)
    return FigureReading(
        difference=raised * RECTANGLE_HEIGHT / height, legibility=Legibility(mark=mark, gap=gap)
    )


def _fit_crossed_line(ink: Ink) -> StrokeAxis:
    """The line that runs through a piece of ink from end to end, whatever crosses it.

    It is found at its bare ends and then followed: strokes cross it from either side alike, so
    what they add to it cancels out.
    """
    rows, columns = (
        np.arange(len(ink))[:, None],
        np.arange(EDGE_WIDTH + 1, ink.shape[1] - EDGE_WIDTH - 1),
    )
    bare_ends = ink[:, [*columns[:3], *columns[-3:]]]
    totals = bare_ends.sum(axis=0)
    heights = (rows * bare_ends).sum(axis=0) / np.maximum(totals, 1e-6)
    slope, height = np.polyfit([*columns[:3], *columns[-3:]], heights, 1)
    reach = float(np.median(totals)) / 2 + 1.5
    for _ in range(4):
        nearness = np.clip(reach + 0.5 - abs(rows - (height + slope * columns)), 0, 1)
        near = ink[:, columns] * nearness
        totals = near.sum(axis=0)
        if totals.min() < 0.5:
            raise Unreadable("No line runs through the ink from end to end.")
        slope, height = np.polyfit(columns, (rows * near).sum(axis=0) / totals, 1)
    return StrokeAxis(slope=float(slope), height=float(height), thickness=(reach - 1.5) * 2)


def _measure_crossing_strokes(ink: Ink, line: StrokeAxis, side: int) -> tuple[float, float]:
    """Thickness of the strokes that cross a line, and the white between neighbours."""
    offsets = 1.75 * line.thickness, 2.75 * line.thickness
    (near, cut), (far, _) = (_find_cuts(ink, line, side * offset) for offset in offsets)
    if not 3 <= len(near) == len(far):
        raise Unreadable("The lines are not crossed by strokes.")
    lean = np.arctan2(offsets[1] - offsets[0], abs(np.mean(far - near)))
    mark, pitch = cut * np.sin(lean), np.diff(near).min() * np.sin(lean)
    return float(mark), float(pitch - mark)


def _find_cuts(ink: Ink, line: StrokeAxis, offset: float) -> tuple[NDArray[np.float64], float]:
    """The crossings of ink by a parallel `offset` px above the line, and their mean length."""
    columns = np.arange(EDGE_WIDTH, ink.shape[1] - EDGE_WIDTH)
    heights = line.height + line.slope * columns - offset
    profile = ndimage.map_coordinates(ink, [heights, columns], order=1)
    labels, count = ndimage.label(profile > 0.3)
    centres = ndimage.center_of_mass(profile, labels, range(1, count + 1))
    return np.array(centres).ravel(), float(profile.sum()) / max(count, 1)


def _measure_level_edges(inside: Ink) -> tuple[float, float]:
    """Distance and thickness of a rectangle's upper and lower edge, seen between its uprights."""
    half = len(inside) // 2
    if not inside.size or inside[half // 2 : -half // 2].max() > 0.5:
        raise Unreadable("There is no empty rectangle.")
    profile = inside.mean(axis=1)
    rows = np.arange(len(profile))
    upper, lower = (
        float(rows[part] @ profile[part] / profile[part].sum())
        for part in (slice(None, half), slice(half, None))
    )
    return lower - upper, float(profile.sum()) / 2
