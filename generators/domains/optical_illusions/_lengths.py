"""Müller-Lyer, Ponzo and the inverted T: figures that compare the lengths of two lines."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from generators.domains.optical_illusions._ink import (
    EDGE_WIDTH,
    FigureReading,
    Ink,
    InkPiece,
    compute_signed_ratio,
    fit_axis,
)
from generators.reading import Legibility, Unreadable


def measure_horizontal_lines(pieces: Sequence[InkPiece]) -> FigureReading:
    """Two horizontal lines: longer over shorter, less 1, positive if the upper one is longer.

    They are Müller-Lyer's if each carries fins, Ponzo's if they lie between two sides.
    """
    if len(pieces) == 2:
        return _measure_mullerlyer(*sorted(pieces, key=lambda piece: piece.row_offset))
    if len(pieces) == 4:
        flat = sorted(pieces, key=lambda piece: len(piece.ink))
        return _measure_ponzo(*sorted(flat[:2], key=lambda piece: piece.row_offset), sides=flat[2:])
    raise Unreadable(f"{len(pieces)} pieces of ink are neither Müller-Lyer's figure nor Ponzo's.")


def measure_inverted_t(pieces: Sequence[InkPiece]) -> FigureReading:
    """The lines of an inverted T: longer over shorter, less 1, positive if the vertical is longer.

    The vertical's length is from its top to the middle of the line that it stands on.
    """
    if len(pieces) != 1:
        raise Unreadable(f"There are {len(pieces)} pieces of ink instead of one T.")
    ink = pieces[0].ink
    columns, rows = ink.sum(axis=0), ink.sum(axis=1)
    pen = float(np.median(columns[columns > 0.5]))
    upright = float(np.median(rows[rows > 0.5]))
    foot = ink[-round(2 * pen) - 2 * EDGE_WIDTH :].sum(axis=0)
    horizontal = float(np.minimum(foot, np.median(foot[foot > 0.5])).sum()) / pen
    vertical = (float(ink.sum()) - horizontal * pen) / upright + pen / 2
    height, width = (extent - 2 * EDGE_WIDTH for extent in ink.shape)
    if abs(horizontal - width) > pen or abs(vertical + pen / 2 - height) > pen:
        raise Unreadable("The ink is no line that stands on another.")
    return FigureReading(
        difference=compute_signed_ratio(vertical, horizontal),
        legibility=Legibility(mark=min(pen, upright), gap=(horizontal - upright) / 2),
    )


class _FinnedLine(NamedTuple):
    """A line between two pairs of fins: its length, and the widths of mark and gap there."""

    length: float
    mark: float
    gap: float


def _measure_mullerlyer(above: InkPiece, below: InkPiece) -> FigureReading:
    upper, lower = _fit_finned_line(above.ink), _fit_finned_line(below.ink)
    between = below.row_offset + EDGE_WIDTH - (above.row_offset + len(above.ink) - EDGE_WIDTH)
    legibility = Legibility(
        mark=min(upper.mark, lower.mark), gap=min(upper.gap, lower.gap, between)
    )
    return FigureReading(
        difference=compute_signed_ratio(upper.length, lower.length), legibility=legibility
    )


def _fit_finned_line(ink: Ink) -> _FinnedLine:
    """A line from vertex to vertex; a vertex lies where the fins' axes meet the line's."""
    rows = ink.sum(axis=1)
    shaft = np.where(rows > 0.6 * rows.max(), rows, 0.0)
    level = float(np.arange(len(rows)) @ shaft / shaft.sum())
    pen, clear = float(shaft.sum() / shaft.max()), int(np.count_nonzero(shaft)) // 2 + 2
    middle = ink.shape[1] // 2
    lengths, marks, gaps = [], [pen], []
    for start, stop in ((0, round(level) - clear), (round(level) + clear + 1, len(ink))):
        left_axis = fit_axis(ink[start:stop, :middle].T)
        right_axis = fit_axis(ink[start:stop, middle:].T)
        lengths.append(
            right_axis.find_height(level - start) + middle - left_axis.find_height(level - start)
        )
        marks += [left_axis.thickness, right_axis.thickness]
        tip = EDGE_WIDTH if start == 0 else stop - start - EDGE_WIDTH
        cut = (left_axis.thickness + right_axis.thickness) / 2 * float(np.hypot(1, left_axis.slope))
        gaps.append(
            min(right_axis.find_height(tip) + middle - left_axis.find_height(tip), lengths[-1])
            - cut
        )
    if max(marks) > 1.5 * pen or abs(lengths[0] - lengths[1]) > pen:
        raise Unreadable("There is no line with a pair of fins at either end.")
    return _FinnedLine(length=float(np.mean(lengths)), mark=min(marks), gap=min(gaps))


class _Bar(NamedTuple):
    x: float
    y: float
    length: float
    thickness: float


def _measure_ponzo(above: InkPiece, below: InkPiece, *, sides: Sequence[InkPiece]) -> FigureReading:
    bars = [_fit_bar(above), _fit_bar(below)]
    marks, gaps = [bar.thickness for bar in bars], [abs(bars[0].y - bars[1].y)]
    for side in sides:
        axis = fit_axis(side.ink.T)
        marks.append(axis.thickness)
        for bar in bars:
            across = (
                abs(axis.find_height(bar.y - side.row_offset) + side.column_offset - bar.x)
                - bar.length / 2
            )
            gaps.append(across / float(np.hypot(1, axis.slope)) - axis.thickness / 2)
    return FigureReading(
        difference=compute_signed_ratio(bars[0].length, bars[1].length),
        legibility=Legibility(mark=min(marks), gap=min(gaps)),
    )


def _fit_bar(piece: InkPiece) -> _Bar:
    columns, rows = piece.ink.sum(axis=0), piece.ink.sum(axis=1)
    area, thickness = float(columns.sum()), float(np.median(columns[columns > 0.5]))
    if len(rows) > 2 * thickness + 3 * EDGE_WIDTH:
        raise Unreadable("There are no two horizontal bars.")
    x = float(np.arange(len(columns)) @ columns / area) + piece.column_offset
    y = float(np.arange(len(rows)) @ rows / area) + piece.row_offset
    return _Bar(x=x, y=y, length=area / thickness, thickness=thickness)
