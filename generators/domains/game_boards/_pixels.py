"""What both kinds of board are read with."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from generators.reading import Pixels

Grey = NDArray[np.uint8]
"""The lightness of an image, H x W."""

Spans = NDArray[np.intp]
"""N x 2 values: where each stretch begins, and where it has ended."""

TOLERANCE = 24
"""How far the noise of a JPEG or of scaling takes a level, at most, from what was drawn."""


def luma(pixels: Pixels) -> Grey:
    """What a JPEG keeps best: weighted as its luma is, so that blurred colours do not show."""
    weighted = pixels[..., 0] * np.uint16(5)
    weighted += pixels[..., 1] * np.uint16(9)
    weighted += pixels[..., 2] * np.uint16(2)
    return (weighted >> 4).astype(np.uint8)


def spans(marked: NDArray[np.bool_]) -> Spans:
    """The stretches of a row of pixels that are marked."""
    edges = np.diff(np.concatenate(([False], marked, [False])).astype(np.int8))
    return np.stack((np.flatnonzero(edges == 1), np.flatnonzero(edges == -1)), axis=1)


class Levels(NamedTuple):
    """The two commonest levels of a board, and how much of the second for one of the first."""

    first: int
    second: int
    balance: float


def levels(grey: Grey) -> Levels:
    """The levels of the middle of a picture, which is half its height and half its width."""
    height, width = grey.shape
    middle = grey[height // 4 : height - height // 4, width // 4 : width - width // 4]
    counts = np.bincount(middle.ravel(), minlength=256)
    first = int(counts.argmax())
    near_first = counts[_near(first)].sum()
    counts[_near(first)] = 0
    second = int(counts.argmax())
    return Levels(first, second, float(counts[_near(second)].sum() / near_first))


def _near(level: int) -> slice:
    return slice(max(0, level - TOLERANCE), level + TOLERANCE + 1)
