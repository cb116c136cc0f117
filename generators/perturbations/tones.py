"""Lookup tables for levels of 0 to 255, applied in strips."""

from collections.abc import Callable

import numpy as np

from generators.reading import Pixels

STRIP_ROWS = 64
"""Rows of a picture that are computed at a time: what lies between then stays in the cache."""


def map_levels(pixels: Pixels, level_of: Callable[[int], float]) -> Pixels:
    """The picture with each level replaced by `level_of` it, rounded and clipped to 0 to 255."""
    table = bytes(max(0, min(255, int(level_of(level) + 0.5))) for level in range(256))
    changed = np.empty(pixels.shape, np.uint8)
    for top in range(0, len(pixels), STRIP_ROWS):
        strip = pixels[top : top + STRIP_ROWS]
        changed[top : top + STRIP_ROWS] = np.frombuffer(
            strip.tobytes().translate(table), np.uint8
        ).reshape(strip.shape)
    return changed
