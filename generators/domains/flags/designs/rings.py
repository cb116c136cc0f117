"""Flags whose stars stand in a ring or an arc, which is spaced anew for each count."""

from math import atan2, degrees, sqrt

from generators.domains.flags.cloth import Cloth
from generators.domains.flags.layouts import (
    Point,
    compute_arc_angles,
    compute_boundaries,
    compute_resting_ring_angles,
    compute_ring_angles,
    find_circle_point,
    find_min_distance,
    outline_diagonal,
)

_WHITE = "#ffffff"
_MAX_RADIUS_SHARE = 0.4
"""The largest radius of a star as a share of the distance to its neighbour."""


def _fit_radius(radius: float, centres: list[Point]) -> float:
    return min(radius, _MAX_RADIUS_SHARE * find_min_distance(centres))


def paint_european_union(cloth: Cloth, stars: int) -> None:
    """Graphical guide of the Council of Europe, hoist 18: a ring of a third of the hoist."""
    cloth.fill("#003399")
    centres = [find_circle_point((13.5, 9), 6, angle) for angle in compute_ring_angles(stars)]
    radius = _fit_radius(1, centres)
    for centre in centres:
        cloth.paint_star(centre, radius, "#ffcc00")


def paint_cape_verde(cloth: Cloth, stars: int) -> None:
    """Constitution of 1992, hoist 300: bands 6:1:1:1:3, the ring round three eighths of the fly."""
    blue = "#003893"
    bands = compute_boundaries((6, 1, 1, 1, 3), 300)
    cloth.paint_bands(bands, (blue, _WHITE, "#cf2027", _WHITE, blue))
    centres = [
        find_circle_point((191.25, 187.5), 75, angle) for angle in compute_ring_angles(stars)
    ]
    radius = _fit_radius(15, centres)
    for centre in centres:
        cloth.paint_star(centre, radius, "#f7d116")


def paint_micronesia(cloth: Cloth, stars: int) -> None:
    """Hoist 20: a ring of stars that point outwards."""
    cloth.fill("#75b2dd")
    angles = compute_ring_angles(stars)
    centres = [find_circle_point((19, 10), 6, angle) for angle in angles]
    radius = _fit_radius(2, centres)
    for centre, angle in zip(centres, angles, strict=True):
        cloth.paint_star(centre, radius, _WHITE, turn=angle)


def paint_singapore(cloth: Cloth, stars: int) -> None:
    """Hoist 2880: a crescent of two discs, the stars on a ring within its horns."""
    red = "#ed2939"
    cloth.paint_bands((0, 1440, 2880), (red, _WHITE))
    cloth.paint_disc((940, 720), 541.5, _WHITE)
    cloth.paint_disc((1140, 720), 511.7, red)
    centres = [
        find_circle_point((1222.5, 720), 305, angle) for angle in compute_resting_ring_angles(stars)
    ]
    radius = _fit_radius(128, centres)
    for centre in centres:
        cloth.paint_star(centre, radius, _WHITE)


def paint_burundi(cloth: Cloth, stars: int) -> None:
    """Hoist 300: hexagrams edged in green on a disc that lies on a saltire."""
    red, green = "#ce1126", "#1eb53a"
    cloth.fill(red)
    for edge in (0, 500):
        cloth.paint_polygon([(edge, 0), (250, 150), (edge, 300)], green)
    saltire = outline_diagonal(500, 300, 40)
    cloth.paint_polygon(saltire, _WHITE)
    cloth.paint_polygon([(500 - x, y) for x, y in saltire], _WHITE)
    cloth.paint_disc((250, 150), 85, _WHITE)
    centres = [
        find_circle_point((250, 150), 44, angle) for angle in compute_resting_ring_angles(stars)
    ]
    for centre in centres:
        radius = _fit_radius(20, centres)
        cloth.paint_star(centre, radius, green, points=6)
        cloth.paint_star(centre, 0.82 * radius, red, points=6)


def paint_venezuela(cloth: Cloth, stars: int) -> None:
    """Hoist 120: three equal bands, the stars on an arc of 140 degrees."""
    cloth.paint_bands((0, 40, 80, 120), ("#ffcc00", "#00247d", "#cf142b"))
    angles = compute_arc_angles(stars, half=70)
    centres = [find_circle_point((90, 84), 36, angle) for angle in angles]
    radius = _fit_radius(5, centres)
    for centre, angle in zip(centres, angles, strict=True):
        cloth.paint_star(centre, radius, _WHITE, turn=angle)


def paint_china(cloth: Cloth, stars: int) -> None:
    """GB 12982, 30 x 20: small stars that each point at the large one's centre.

    The four published places lie on one circle; other counts are spread over it.
    """
    yellow = "#ffde00"
    cloth.fill("#de2910")
    large = (5.0, 5.0)
    cloth.paint_star(large, 3, yellow)
    centres: list[Point] = [(10, 2), (12, 4), (12, 7), (10, 9)]
    if stars != 5:
        half = 20.0 * (stars - 1)
        centres = [
            find_circle_point((8.5, 5.5), sqrt(14.5), angle)
            for angle in compute_arc_angles(stars - 1, half=half, middle=90)
        ]
    for centre in centres:
        towards = degrees(atan2(large[0] - centre[0], centre[1] - large[1]))
        cloth.paint_star(centre, 1, yellow, turn=towards)
