"""Black ink on white as numbers: its place, its pieces, its lines.

Coverage is the share of a pixel that is inked. Sums and centroids of coverage place edges and
axes of anti-aliased shapes to a few hundredths of a pixel.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import ndimage

from generators.reading import Legibility, Pixels, Unreadable

Ink = NDArray[np.float64]
"""Coverage from 0 to 1 by row and column."""

EDGE_WIDTH = 2
"""The px by which the blurred edge of a piece reaches beyond its half-covered pixels."""


class FigureReading(NamedTuple):
    """A figure as read: the difference that it shows, and how narrow its marks and gaps are."""

    difference: float
    legibility: Legibility


class InkPiece(NamedTuple):
    """Connected ink, alone on its cut-out, and where the cut-out's corner lies."""

    ink: Ink
    row_offset: int
    column_offset: int


class StrokeAxis(NamedTuple):
    """The middle of a straight stroke, y = height + slope · x in px of its cut-out."""

    slope: float
    height: float
    thickness: float

    def find_height(self, x: float) -> float:
        """The height of the axis at `x`."""
        return self.height + self.slope * x


def measure_ink(pixels: Pixels) -> Ink:
    """Coverage within the white ground, without a frame that may surround it."""
    ink = 1 - pixels[:, :, 1].astype(np.float64) / 255
    white_rows = np.flatnonzero(np.median(ink[:, ::8], axis=1) < 0.1)
    white_columns = np.flatnonzero(np.median(ink[::8], axis=0) < 0.1)
    if not white_rows.size or not white_columns.size:
        raise Unreadable("There is no white ground.")
    return ink[white_rows[0] : white_rows[-1] + 1, white_columns[0] : white_columns[-1] + 1]


def find_pieces(pixels: Pixels) -> list[InkPiece]:
    """The connected pieces of ink from left to right, each with its blurred edge."""
    ink = measure_ink(pixels)
    labels, count = ndimage.label(ink > 0.5, structure=np.ones((3, 3)))
    pieces = []
    for i, (rows, columns) in enumerate(ndimage.find_objects(labels, count), start=1):
        row_offset, column_offset = (
            max(rows.start - EDGE_WIDTH, 0),
            max(columns.start - EDGE_WIDTH, 0),
        )
        box = (
            slice(row_offset, rows.stop + EDGE_WIDTH),
            slice(column_offset, columns.stop + EDGE_WIDTH),
        )
        is_piece = ndimage.binary_dilation(labels[box] == i, iterations=EDGE_WIDTH)
        pieces.append(
            InkPiece(
                ink=np.where(is_piece, ink[box], 0.0),
                row_offset=row_offset,
                column_offset=column_offset,
            )
        )
    return sorted(pieces, key=lambda piece: piece.column_offset)


def fit_axis(ink: Ink) -> StrokeAxis:
    """The axis of the one stroke that crosses the cut-out's columns.

    Its slanting ends, where a column meets only a part of the stroke, are left out. Raises
    `Unreadable` if the ink is too little for a stroke, or lies elsewhere too.
    """
    totals = ink.sum(axis=0)
    thickness = float(np.median(totals[totals > 0.5])) if (totals > 0.5).any() else 0.0
    columns = np.flatnonzero(totals > max(0.9 * thickness, 0.5))
    if columns.size < 3:
        raise Unreadable("A stroke is too short to tell its direction.")
    rows = np.arange(len(ink))
    slope, height = np.polyfit(columns, rows @ ink[:, columns] / totals[columns], 1)
    is_elsewhere = (
        abs(rows[:, None] - height - slope * np.arange(ink.shape[1])) > thickness / 2 + 1.5
    )
    if ink[is_elsewhere].sum() > 0.05 * totals.sum():
        raise Unreadable("There is other ink where one straight stroke should be.")
    return StrokeAxis(
        slope=float(slope),
        height=float(height),
        thickness=thickness * float(np.cos(np.arctan(slope))),
    )


def compute_signed_ratio(first: float, second: float) -> float:
    """Larger over smaller, less 1; positive if `first` is the larger."""
    return first / second - 1 if first >= second else 1 - second / first
