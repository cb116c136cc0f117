"""Recognition of circles among other shapes, and the gaps between shapes."""

from dataclasses import dataclass
from math import pi, sqrt

import numpy as np
from numpy.typing import NDArray
from scipy import ndimage

from generators.domains.patterned_grids._grid_finder import Ink, find_runs

SPECK = 0.25
"""A patch of less than this part of the cell's largest patch is no shape of its own."""
OUTSIDE = 0.05
"""The share of a circle's ink that may lie outside the ideal circle of its area.

Dots of 5 px have up to 3 % there after scaling, a square 9 %, a star or a triangle 17 %.
"""
_SUM_TOLERANCE = 0.01
"""The px by which two ways to add up the same gap may differ: far more than they do."""
_EIGHT_NEIGHBOURS = np.ones((3, 3), dtype=bool)


@dataclass(frozen=True, slots=True)
class InkShape:
    """A patch of ink: its area in px, and whether it is a circle."""

    area: float
    is_circle: bool

    @property
    def width(self) -> float:
        """The width in px of a circle of that area."""
        return 2 * sqrt(self.area / pi)


def find_shapes(ink: Ink) -> list[InkShape]:
    """The shapes in a cell."""
    patches, _ = ndimage.label(ink > 0.5, _EIGHT_NEIGHBOURS)
    boxes = ndimage.find_objects(patches)
    parts = [_crop_patch(ink, patches, number, box) for number, box in enumerate(boxes, 1)]
    largest = max((part.sum() for part in parts), default=0.0)
    return [
        InkShape(area=float(part.sum()), is_circle=_is_circle(part))
        for part in parts
        if part.sum() > SPECK * largest
    ]


def measure_narrowest_gap(ink: Ink) -> float:
    """The narrowest gap between two shapes, or a shape and a side of the cell, in px.

    Looked for along each row and each column of pixels.
    """
    patches, _ = ndimage.label(ink > 0.5, _EIGHT_NEIGHBOURS)
    return min(_measure_row_gap(ink, patches), _measure_row_gap(ink.T, patches.T))


def _crop_patch(
    ink: Ink, patches: NDArray[np.signedinteger], number: int, box: tuple[slice, ...]
) -> Ink:
    """The ink of one patch with its soft edge of a pixel, cut out."""
    around = tuple(slice(max(0, side.start - 1), side.stop + 1) for side in box)
    is_patch = ndimage.binary_dilation(patches[around] == number, _EIGHT_NEIGHBOURS)
    part: Ink = np.where(is_patch, ink[around], 0.0)
    return part


def _is_circle(ink: Ink) -> bool:
    """True if the ink lies within the circle of its area around its middle."""
    area = float(ink.sum())
    y, x = (np.arange(length) for length in ink.shape)
    from_middle = np.hypot(
        (y - ink.sum(axis=1) @ y / area)[:, None], x - ink.sum(axis=0) @ x / area
    )
    ideal = np.clip(sqrt(area / pi) - from_middle + 0.5, 0.0, 1.0)
    return 1.0 - float(np.minimum(ink, ideal).sum()) / area < OUTSIDE


def _measure_row_gap(ink: Ink, patches: NDArray[np.signedinteger]) -> float:
    walls = ((0, 0), (1, 1))
    white = 1.0 - np.pad(ink, walls, constant_values=1.0).ravel()
    owner = np.pad(patches, walls, constant_values=((0, 0), (-1, -2))).ravel()
    starts, stops = np.array(find_runs(owner == 0)).T
    is_between = owner[starts - 1] != owner[stops]
    starts, stops = starts[is_between] - 1, stops[is_between] + 1
    # One sum for each of a thousand gaps takes long, so only those that may be the narrowest.
    cumulative_white = np.concatenate(([0.0], np.cumsum(white, dtype=np.float64)))
    widths = cumulative_white[stops] - cumulative_white[starts]
    is_narrow = widths <= widths.min() + _SUM_TOLERANCE
    gaps = zip(starts[is_narrow], stops[is_narrow], strict=True)
    return min(float(white[start:stop].sum()) for start, stop in gaps)
