"""Flags with the Southern Cross.

The stars of each are listed by how much the constellation needs them, so that one fewer leaves
out the least and one more takes the next: the small Epsilon goes first where there is one, and a
second small star opposite it comes next.
"""

from math import cos, radians, sin

from generators.domains.flags.cloth import Cloth
from generators.domains.flags.designs.union_flag import paint_union_flag
from generators.domains.flags.layouts import Point

_WHITE = "#ffffff"


def paint_australia(cloth: Cloth, stars: int) -> None:
    """Gazette of 1954, hoist 240: the Commonwealth Star and the cross, notches at 4/9."""
    blue, red = "#012169", "#e4002b"
    cloth.fill(blue)
    paint_union_flag(cloth, width=240, blue=blue, red=red)
    cloth.paint_star((120, 180), 36, _WHITE, points=7, inner=4 / 9)
    large, small = 240 / 14, 240 / 24
    cross = [
        ((360, 200), large, 7),
        ((300, 105), large, 7),
        ((360, 40), large, 7),
        ((360 + 160 / 3, 89), large, 7),
        ((384, 130), small, 5),
        ((336, 143), small, 5),
    ]
    for centre, radius, points in cross[: stars - 1]:
        cloth.paint_star(centre, radius, _WHITE, points=points, inner=4 / 9)


def paint_new_zealand(cloth: Cloth, stars: int) -> None:
    """Notice of 1902, hoist 60: the short limb crosses the long one at 82 degrees.

    Stars are measured from point to point across, and edged in white half a unit wide.
    """
    blue, red = "#012169", "#c8102e"
    cloth.fill(blue)
    paint_union_flag(cloth, width=60, blue=blue, red=red)
    crossing = (90.0, 24.0)

    def on_short_limb(distance: float) -> Point:
        return (
            crossing[0] + distance * sin(radians(82)),
            crossing[1] - distance * cos(radians(82)),
        )

    cross = [((90, 48), 7), (on_short_limb(-14), 6), (on_short_limb(12), 5), ((90, 12), 6)]
    for centre, across in [*cross, ((96.5, 33.5), 4)][:stars]:
        radius = across / 2 / sin(radians(72))
        cloth.paint_star(centre, radius + 0.5 / sin(radians(18)), _WHITE)
        cloth.paint_star(centre, radius, red)


def paint_samoa(cloth: Cloth, stars: int) -> None:
    """The blue canton's five stars by the flag's drawing of 1949, hoist 1440."""
    cloth.fill("#ce1126")
    cloth.paint_bar(0, 0, 1440, 720, "#002b7f")
    cross = [
        ((720, 605), 105),
        ((500, 294), 84),
        ((720, 114), 84),
        ((945, 259), 79),
        ((830, 418), 53),
        ((604, 450), 53),
    ]
    for centre, radius in cross[:stars]:
        cloth.paint_star(centre, radius, _WHITE)
