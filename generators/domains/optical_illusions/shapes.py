"""The two shapes that every illusion is made of, in the figure's own units, y upwards."""

from collections.abc import Iterable
from dataclasses import dataclass

Point = tuple[float, float]
Box = tuple[float, float, float, float]


@dataclass(frozen=True, slots=True)
class Disc:
    """A filled circle."""

    centre: Point
    diameter: float

    @property
    def box(self) -> Box:
        """Left, lowest, right and highest coordinate."""
        (x, y), r = self.centre, self.diameter / 2
        return x - r, y - r, x + r, y + r


@dataclass(frozen=True, slots=True)
class Stroke:
    """A line drawn with the pen along `points`; a closed one hides what lies behind it."""

    points: tuple[Point, ...]
    closed: bool = False

    @property
    def box(self) -> Box:
        """Left, lowest, right and highest coordinate, without the pen's width."""
        xs, ys = zip(*self.points, strict=True)
        return min(xs), min(ys), max(xs), max(ys)

    @property
    def level(self) -> bool:
        """True if the stroke is exactly horizontal."""
        return len({y for _, y in self.points}) == 1


Shape = Disc | Stroke


def find_bounds(shapes: Iterable[Shape]) -> Box:
    """The box around all shapes: left, lowest, right and highest coordinate."""
    lefts, lows, rights, highs = zip(*(shape.box for shape in shapes), strict=True)
    return min(lefts), min(lows), max(rights), max(highs)
