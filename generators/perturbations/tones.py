"""Lookup tables for levels of 0 to 255, applied in strips."""

from collections.abc import Callable

import numpy as np
from PIL import Image

from generators.reading import Pixels

STRIP = 64
"""Rows of a picture that are computed at a time: what lies between then stays in the cache."""


def retoned(pixels: Pixels, level_of: Callable[[int], float]) -> Pixels:
    """The picture with each level replaced by `level_of` it, rounded and clipped to 0 to 255."""
    levels = (max(0, min(255, int(level_of(level) + 0.5))) for level in range(256))
    table = list(levels)
    return np.asarray(Image.fromarray(pixels).point(table * 3))
