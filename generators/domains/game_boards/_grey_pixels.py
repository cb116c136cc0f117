"""Pixel measures shared by both kinds of board."""

import numpy as np
from numpy.typing import NDArray

from generators.reading import Pixels

Grey = NDArray[np.uint8]
"""The lightness of an image, H x W."""

Spans = NDArray[np.intp]
"""N x 2 values: the start and the stop of each stretch."""

TOLERANCE = 24
"""The most levels by which JPEG noise or scaling changes a pixel."""


def compute_luma(pixels: Pixels) -> Grey:
    """The lightness as JPEG weights it, which keeps it best: blurred colours do not show."""
    weighted = pixels[..., 0] * np.uint16(5)
    weighted += pixels[..., 1] * np.uint16(9)
    weighted += pixels[..., 2] * np.uint16(2)
    return (weighted >> 4).astype(np.uint8)


def find_spans(marked: NDArray[np.bool_]) -> Spans:
    """The stretches of a row of pixels that are marked."""
    edges = np.diff(np.concatenate(([False], marked, [False])).astype(np.int8))
    return np.stack((np.flatnonzero(edges == 1), np.flatnonzero(edges == -1)), axis=1)


def slice_middle(length: int) -> slice:
    """The middle half of a side, which lies within any board."""
    return slice(length // 4, length - length // 4)


def find_common_levels(grey: Grey) -> tuple[int, int]:
    """The two commonest levels in the middle of a picture, the commoner one first."""
    height, width = grey.shape
    counts = np.bincount(grey[slice_middle(height), slice_middle(width)].ravel(), minlength=256)
    first = int(counts.argmax())
    counts[max(0, first - TOLERANCE) : first + TOLERANCE + 1] = 0
    return first, int(counts.argmax())
