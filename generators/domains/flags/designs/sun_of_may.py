"""The Sun of May: a face with sixteen rays, straight and wavy ones in turn."""

from math import cos, pi, radians, sin

from generators.domains.flags.cloth import Cloth
from generators.domains.flags.layouts import Point

_TIP, _DISC = 33.0, 11.0
_YELLOW, _INK = "#fcd116", "#000000"
_FEATURES = (
    "M-7.2 -3.4Q-4.4 -6.6-1.3 -3.9M7.2 -3.4Q4.4 -6.6 1.3 -3.9"  # brows
    "M-6.4 -2.2Q-4 -4.6-1.8 -2.2Q-4 -.8-6.4 -2.2zM6.4 -2.2Q4 -4.6 1.8 -2.2Q4 -.8 6.4 -2.2z"  # eyes
    "M-1 -2.6Q-.7 .4-1.9 1.6Q-1.2 2.8 0 2.5Q1.2 2.8 1.9 1.6Q.7 .4 1 -2.6"  # nose
    "M-4 4.9Q-1.2 3.9 0 4.5Q1.2 3.9 4 4.9Q0 7.1-4 4.9zM-4 4.9H4M-1.6 8.2Q0 8.8 1.6 8.2"  # mouth
)
_PUPILS = "M-4.4 -2.7h.7v1h-.7zM3.7 -2.7h.7v1h-.7z"


def paint_sun_of_may(cloth: Cloth, *, centre: Point, radius: float) -> None:
    """Paint the sun, `radius` units from its centre to the tips of its rays."""
    disc = f"M{_DISC} 0A{_DISC} {_DISC} 0 1 1 -{_DISC} 0A{_DISC} {_DISC} 0 1 1 {_DISC} 0z"
    for data, fill in (
        ("".join(_build_wavy_ray(45 * k + 22.5) for k in range(8)), _YELLOW),
        ("".join(_build_straight_ray(45 * k) for k in range(8)), _YELLOW),
        (disc, _YELLOW),
        (_FEATURES, "none"),
        (_PUPILS, _INK),
    ):
        cloth.paint_emblem(data, centre, radius / _TIP, fill=fill, stroke=_INK, pen=0.6)


def _build_straight_ray(angle: float) -> str:
    return _build_ray([(-6, 0), (0, _TIP), (6, 0)], [(0, 0), (0, _TIP)], angle)


def _build_wavy_ray(angle: float, *, pieces: int = 16) -> str:
    """A ray that tapers as it swings to either side, its rib along the middle."""
    ways = [k / pieces for k in range(pieces + 1)]

    def along(side: float) -> list[Point]:
        return [
            (side * (1 - way) - 2.1 * way * sin(2 * pi * way), _DISC - 1 + (_TIP - _DISC + 1) * way)
            for way in ways
        ]

    return _build_ray(along(-4.6) + along(4.6)[-2::-1], along(0), angle)


def _build_ray(outline: list[Point], rib: list[Point], angle: float) -> str:
    c, s = cos(radians(angle)), sin(radians(angle))

    def path(points: list[Point]) -> str:
        return "L".join(f"{x * c - y * s:.2f} {x * s + y * c:.2f}" for x, y in points)

    # There and back, or the fill would take the rib's curve for the edge of a shape.
    return f"M{path(outline)}zM{path(rib + rib[-2::-1])}"
