"""Flags whose stars stand in a ring or an arc, which is spaced anew for each count."""

from math import atan2, degrees, sqrt

from generators.domains.flags.cloth import Cloth
from generators.domains.flags.layouts import (
    Point,
    arc,
    around,
    boundaries,
    diagonal,
    resting_ring,
    ring,
    spacing,
)

_WHITE = "#ffffff"
_CLOSEST = 0.4
"""The largest radius of a star as a share of the distance to its neighbour."""


def _fitting(radius: float, centres: list[Point]) -> float:
    return min(radius, _CLOSEST * spacing(centres))


def european_union(cloth: Cloth, stars: int) -> None:
    """Graphical guide of the Council of Europe, hoist 18: a ring of a third of the hoist."""
    cloth.fill("#003399")
    centres = [around((13.5, 9), 6, angle) for angle in ring(stars)]
    radius = _fitting(1, centres)
    for centre in centres:
        cloth.star(centre, radius, "#ffcc00")


def cape_verde(cloth: Cloth, stars: int) -> None:
    """Constitution of 1992, hoist 300: bands 6:1:1:1:3, the ring round three eighths of the fly."""
    blue = "#003893"
    bands = boundaries((6, 1, 1, 1, 3), 300)
    cloth.bands(bands, (blue, _WHITE, "#cf2027", _WHITE, blue))
    centres = [around((191.25, 187.5), 75, angle) for angle in ring(stars)]
    radius = _fitting(15, centres)
    for centre in centres:
        cloth.star(centre, radius, "#f7d116")


def micronesia(cloth: Cloth, stars: int) -> None:
    """Hoist 20: a ring of stars that point outwards."""
    cloth.fill("#75b2dd")
    angles = ring(stars)
    centres = [around((19, 10), 6, angle) for angle in angles]
    radius = _fitting(2, centres)
    for centre, angle in zip(centres, angles, strict=True):
        cloth.star(centre, radius, _WHITE, turn=angle)


def singapore(cloth: Cloth, stars: int) -> None:
    """Hoist 2880: a crescent of two discs, the stars on a ring within its horns."""
    red = "#ed2939"
    cloth.bands((0, 1440, 2880), (red, _WHITE))
    cloth.disc((940, 720), 541.5, _WHITE)
    cloth.disc((1140, 720), 511.7, red)
    centres = [around((1222.5, 720), 305, angle) for angle in resting_ring(stars)]
    radius = _fitting(128, centres)
    for centre in centres:
        cloth.star(centre, radius, _WHITE)


def burundi(cloth: Cloth, stars: int) -> None:
    """Hoist 300: hexagrams edged in green on a disc that lies on a saltire."""
    red, green = "#ce1126", "#1eb53a"
    cloth.fill(red)
    for edge in (0, 500):
        cloth.shape([(edge, 0), (250, 150), (edge, 300)], green)
    saltire = diagonal(500, 300, 40)
    cloth.shape(saltire, _WHITE)
    cloth.shape([(500 - x, y) for x, y in saltire], _WHITE)
    cloth.disc((250, 150), 85, _WHITE)
    centres = [around((250, 150), 44, angle) for angle in resting_ring(stars)]
    for centre in centres:
        radius = _fitting(20, centres)
        cloth.star(centre, radius, green, points=6)
        cloth.star(centre, 0.82 * radius, red, points=6)


def venezuela(cloth: Cloth, stars: int) -> None:
    """Hoist 120: three equal bands, the stars on an arc of 140 degrees."""
    cloth.bands((0, 40, 80, 120), ("#ffcc00", "#00247d", "#cf142b"))
    angles = arc(stars, half=70)
    centres = [around((90, 84), 36, angle) for angle in angles]
    radius = _fitting(5, centres)
    for centre, angle in zip(centres, angles, strict=True):
        cloth.star(centre, radius, _WHITE, turn=angle)


def china(cloth: Cloth, stars: int) -> None:
    """GB 12982, 30 x 20: small stars that each point at the large one's centre.

    The four published places lie on one circle; other counts are spread over it.
    """
    yellow = "#ffde00"
    cloth.fill("#de2910")
    large = (5.0, 5.0)
    cloth.star(large, 3, yellow)
    centres: list[Point] = [(10, 2), (12, 4), (12, 7), (10, 9)]
    if stars != 5:
        half = 20.0 * (stars - 1)
        centres = [
            around((8.5, 5.5), sqrt(14.5), angle) for angle in arc(stars - 1, half=half, middle=90)
        ]
    for centre in centres:
        towards = degrees(atan2(large[0] - centre[0], centre[1] - large[1]))
        cloth.star(centre, 1, yellow, turn=towards)
