"""Counts a flag's stars or stripes from its pixels, knowing no flag.

There is no layout here and no usual count: the same reading serves every flag, and any number
of stars or stripes. What is taken for granted is public: a flag lies on a plain grey ground, is
made of flat colours, and a star has five points or more.
"""

from collections.abc import Sequence
from itertools import combinations

from generators.domains.flags._flag_reader import read_flag
from generators.domains.flags._star_reader import measure_gap, read_stars
from generators.domains.flags._stripe_reader import measure_stripe_heights, read_stripes
from generators.reading import Legibility, Pixels, Unreadable

VERSION = "1"


def measure(pixels: Pixels, targets: Sequence[str]) -> Sequence[float]:
    """The number of "stars" or "stripes" for each target.

    Raises `Unreadable` if there is no flag on a grey ground, or nothing of what is asked for on
    it, or if a target is neither.
    """
    flag = read_flag(pixels)
    readings = []
    for target in targets:
        if target == "stripes":
            readings.append(float(len(read_stripes(flag).colours)))
        elif target == "stars":
            readings.append(float(len(read_stars(flag))))
        else:
            raise Unreadable(f"A flag is read for stars or stripes, not for {target!r}.")
        if readings[-1] == 0:
            raise Unreadable(f"There are no {target} on this flag.")
    return readings


def measure_legibility(pixels: Pixels) -> Legibility:
    """The narrowest star or stripe, and the least clear width between two stars or two stripes.

    Between two stripes of one colour lies a stripe, so that a stripe's height is mark and gap.
    """
    flag = read_flag(pixels)
    stars = read_stars(flag)
    marks = [star.width for star in stars]
    gaps = [measure_gap(first, second) for first, second in combinations(stars, 2)]
    try:
        heights = measure_stripe_heights(flag).tolist()
    except Unreadable:
        if len(stars) < 2:
            raise
        heights = []
    mark, gap = (flag.cell * min(widths + heights) for widths in (marks, gaps))
    return Legibility(mark=mark, gap=gap)
