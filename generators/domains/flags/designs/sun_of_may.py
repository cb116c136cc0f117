"""The Sun of May: a face with sixteen rays, straight and wavy ones in turn."""

from math import cos, pi, radians, sin

from generators.domains.flags.cloth import Cloth
from generators.domains.flags.layouts import Point

_TIP, _DISC, _FOOT = 33.0, 11.0, 6.0
_FACE = (
    # brows and eyes, then the nose, the lips and the chin
    "M-7 -3.6Q-4.2 -6.2-1.4 -3.6M7 -3.6Q4.2 -6.2 1.4 -3.6"
    "M-5.9 -2Q-3.9 -3.9-2 -2Q-3.9 -.9-5.9 -2zM5.9 -2Q3.9 -3.9 2 -2Q3.9 -.9 5.9 -2z"
    "M-1.1 -2.6Q-1 .6-1.7 1.9Q0 3.1 1.7 1.9Q1 .6 1.1 -2.6"
    "M-3.2 4.6Q0 3.8 3.2 4.6Q0 6.6-3.2 4.6zM-1.8 8Q0 8.7 1.8 8"
)


def paint_sun_of_may(cloth: Cloth, *, centre: Point, radius: float) -> None:
    """Paint the sun, `radius` units from its centre to the tips of its rays."""
    unit, yellow, ink = radius / _TIP, "#fcd116", "#000000"
    wavy = "".join(_wavy(45 * k + 22.5) for k in range(8))
    straight = "".join(_straight(45 * k) for k in range(8))
    disc = f"M{_DISC} 0A{_DISC} {_DISC} 0 1 1 -{_DISC} 0A{_DISC} {_DISC} 0 1 1 {_DISC} 0z"
    for data in (wavy, straight, disc):
        cloth.emblem(data, centre, unit, fill=yellow, stroke=ink, pen=0.6)
    cloth.emblem(_FACE, centre, unit, fill="none", stroke=ink, pen=0.6)


def _straight(angle: float) -> str:
    return _outline([(-_FOOT / 2, _DISC - 1), (0, _TIP), (_FOOT / 2, _DISC - 1)], angle)


def _wavy(angle: float, *, pieces: int = 12) -> str:
    """A ray that tapers as it swings twice to either side."""
    ways = [k / pieces for k in range(pieces + 1)]

    def side(sign: int) -> list[Point]:
        return [
            (
                1.7 * sin(2.4 * pi * way) * (1 - way / 2) + sign * _FOOT / 2 * (1 - way),
                _DISC - 1 + (_TIP - _DISC + 1) * way,
            )
            for way in ways
        ]

    return _outline(side(-1) + side(1)[-2::-1], angle)


def _outline(points: list[Point], angle: float) -> str:
    c, s = cos(radians(angle)), sin(radians(angle))
    turned = (f"{x * c - y * s:.2f} {x * s + y * c:.2f}" for x, y in points)
    return f"M{'L'.join(turned)}z"
