"""Counts stars or stripes that lie on a plain grey ground, without a flag."""

from collections.abc import Sequence
from itertools import combinations

import numpy as np

from generators.domains.flags import measure as flag_reading
from generators.domains.flags._flag_reader import read_flag
from generators.domains.flags._star_reader import measure_gap, read_stars
from generators.reading import Legibility, Pixels, Unreadable

VERSION = "1"

_OTHERS = {"stars": "stripes", "stripes": "stars"}
_HEM, _GROUND_WIDTH, _GREY = 4, 16, 128


def measure(pixels: Pixels, targets: Sequence[str]) -> Sequence[float]:
    """The number of "stars" or "stripes" for each target; 0 where the picture shows the other.

    Raises `Unreadable` if there is neither, or if a target is neither.
    """
    return [_count_marks(pixels, target) for target in targets]


def _count_marks(pixels: Pixels, target: str) -> float:
    """Count as on a flag: stripes are one, and so are stars once their ground has a hem."""
    try:
        return flag_reading.measure(pixels if target == "stripes" else _hem(pixels), [target])[0]
    except Unreadable:
        if target not in _OTHERS:
            raise
        other = _OTHERS[target]
        flag_reading.measure(pixels if other == "stripes" else _hem(pixels), [other])
        return 0.0


def measure_legibility(pixels: Pixels) -> Legibility:
    """The narrowest star or stripe, and the least clear width between two."""
    flag = read_flag(_hem(pixels))
    stars = read_stars(flag)
    if not stars:
        return flag_reading.measure_legibility(pixels)
    mark = min(star.width for star in stars)
    gap = min(measure_gap(first, second) for first, second in combinations(stars, 2))
    return Legibility(mark=flag.cell * mark, gap=flag.cell * gap)


def _hem(pixels: Pixels) -> Pixels:
    """The picture as a flag of its own: within a black hem, on grey ground."""
    hemmed = _surround(pixels, _HEM, 0)
    return _surround(hemmed, _GROUND_WIDTH, _GREY)


def _surround(pixels: Pixels, width: int, level: int) -> Pixels:
    sides = ((width, width), (width, width), (0, 0))
    return np.pad(pixels, sides, constant_values=level)
