"""The true difference in an illusion's control, read from its pixels, as `measure` has it.

Targets, signs and tolerances are those of `measure`, whose own readers ask for the inducer as well:
a ring around each disc, fins or sides.
"""

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from generators.domains.optical_illusions._ink import (
    EDGE_WIDTH,
    InkPiece,
    compute_signed_ratio,
    find_pieces,
    fit_axis,
)
from generators.reading import Pixels, Unreadable

VERSION = "1"
HIDDEN_WIDTH = 0.5
"""Width of Poggendorff's rectangle in Pyllusion's units, for every picture of the figure: with its
outline's pen it is the white between the two segments, and gives the unit of the offset."""


def measure_control(pixels: Pixels, target: str) -> float:
    """The difference that a control shows. Raises `Unreadable` if it is no control of the target's.

    Two level lines are the control of Müller-Lyer's, Ponzo's and Zöllner's illusion alike.
    """
    pieces = find_pieces(pixels)
    if len(pieces) != 2:
        raise Unreadable(f"There are {len(pieces)} pieces of ink instead of 2 compared parts.")
    if target not in _READERS:
        raise Unreadable(f"{target!r} is nothing that a control is measured for.")
    return _READERS[target](pieces)


def _compare_discs(pieces: Sequence[InkPiece]) -> float:
    for piece in pieces:
        sides = [extent - 2 * EDGE_WIDTH for extent in piece.ink.shape]
        diameter = 2 * np.sqrt(piece.ink.sum() / np.pi)
        if max(abs(side - diameter) for side in sides) > 2:
            raise Unreadable("There is ink that is no disc.")
    left_area, right_area = (float(piece.ink.sum()) for piece in pieces)
    return compute_signed_ratio(left_area, right_area)


def _compare_level_lines(pieces: Sequence[InkPiece]) -> float:
    upper, lower = sorted(pieces, key=lambda piece: piece.row_offset)
    return compute_signed_ratio(_measure_length(upper, 1), _measure_length(lower, 1))


def _compare_crossed_lines(pieces: Sequence[InkPiece]) -> float:
    horizontal, vertical = sorted(pieces, key=lambda piece: len(piece.ink))
    return compute_signed_ratio(_measure_length(vertical, 0), _measure_length(horizontal, 1))


def _measure_length(piece: InkPiece, axis: int) -> float:
    """The length of a straight line along an axis (0 is down, 1 across)."""
    profile = piece.ink.sum(axis=1 - axis)
    thickness = float(np.median(profile[profile > 0.5]))
    length = float(profile.sum()) / thickness
    if piece.ink.shape[1 - axis] > 2 * thickness + 3 * EDGE_WIDTH or length < 4 * thickness:
        raise Unreadable("There is ink that is no line of the direction compared.")
    return length


def _measure_angle(pieces: Sequence[InkPiece]) -> float:
    upper, lower = (
        float(np.degrees(np.arctan(fit_axis(piece.ink).slope)))
        for piece in sorted(pieces, key=lambda piece: piece.row_offset + len(piece.ink) / 2)
    )
    return lower - upper


def _measure_offset(pieces: Sequence[InkPiece]) -> float:
    left_piece, right_piece = pieces
    gap_start = left_piece.column_offset + left_piece.ink.shape[1] - EDGE_WIDTH
    gap_stop = right_piece.column_offset + EDGE_WIDTH
    middle = (gap_start + gap_stop) / 2
    heights, pens = [], []
    for piece in pieces:
        axis = fit_axis(piece.ink)
        heights.append(axis.find_height(middle - piece.column_offset) + piece.row_offset)
        pens.append(axis.thickness)
    unit = (gap_stop - gap_start - float(np.mean(pens))) / HIDDEN_WIDTH
    return float((heights[0] - heights[1]) / unit)


_READERS: Mapping[str, Callable[[Sequence[InkPiece]], float]] = {
    "difference of inner circle areas (ratio - 1)": _compare_discs,
    "difference of horizontal line lengths (ratio - 1)": _compare_level_lines,
    "difference of line lengths (ratio - 1)": _compare_crossed_lines,
    "angle between the horizontal lines (degrees)": _measure_angle,
    "offset of the diagonal lines (canvas units)": _measure_offset,
}
