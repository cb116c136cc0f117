"""The outlines of stars."""

from math import cos, pi

from generators.domains.flags.layouts import Point, around


def star(
    centre: Point, radius: float, *, points: int = 5, inner: float | None = None, turn: float = 0.0
) -> list[Point]:
    """A star's outline, its first point `turn` degrees clockwise from the top.

    `inner` is the radius of the notches as a share of `radius`. Without it the edges of a point
    are in line with those of the points next to its neighbours, as in the pentagram and the
    hexagram.
    """
    if inner is None:
        inner = cos(2 * pi / points) / cos(pi / points)
    step = 180 / points
    return [
        around(centre, radius * (inner if k % 2 else 1), turn + step * k) for k in range(2 * points)
    ]
