"""Flags whose stars lie as the five pips of a die; four and six lie as those of a die do."""

from generators.domains.flags.cloth import Cloth
from generators.domains.flags.layouts import outline_diagonal, place_pips

_WHITE = "#ffffff"


def paint_honduras(cloth: Cloth, stars: int) -> None:
    """Hoist 36: three equal bands, the stars on the middle one."""
    blue = "#0073cf"
    cloth.paint_bands((0, 12, 24, 36), (blue, _WHITE, blue))
    for x, y in place_pips(stars, half_width=10, half_height=3):
        cloth.paint_star((36 + x, 18 + y), 2, blue)


def paint_solomon_islands(cloth: Cloth, stars: int) -> None:
    """Hoist 400: a band from corner to corner, the stars above it, six of them a little smaller."""
    cloth.fill("#0051ba")
    cloth.paint_polygon([(0, 400), (800, 0), (800, 400)], "#215b33")
    cloth.paint_polygon([(800 - x, y) for x, y in outline_diagonal(800, 400, 36)], "#fcd116")
    half_width, half_height, radius = (79, 68, 40) if stars < 6 else (85, 60, 34)
    for x, y in place_pips(stars, half_width=half_width, half_height=half_height):
        cloth.paint_star((140 + x, 120 + y), radius, _WHITE)
