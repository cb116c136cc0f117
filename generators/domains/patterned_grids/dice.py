"""Dice faces, and the shapes that may stand in for one of their dots."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import cos, pi, radians, sin, sqrt

import numpy as np
from numpy.typing import NDArray

Spot = tuple[int, int]
"""A place of the face's 3 x 3: row from the top, column from the left."""
Points = NDArray[np.float64]
"""Corners of a polygon as rows of x and y, in px."""

_DIAGONAL: list[Spot] = [(0, 0), (2, 2)]
_CORNERS: list[Spot] = [(0, 0), (0, 2), (2, 0), (2, 2)]
_MIDDLE: list[Spot] = [(1, 1)]
FACES: dict[int, list[Spot]] = {
    1: _MIDDLE,
    2: _DIAGONAL,
    3: _DIAGONAL + _MIDDLE,
    4: _CORNERS,
    5: _CORNERS + _MIDDLE,
    6: [*_CORNERS, (1, 0), (1, 2)],
}
"""The dots of a die's faces; the two and the three lie on the falling diagonal."""


@dataclass(frozen=True, slots=True)
class DieFace:
    """The measures of a face in px: dots of `dot` across, `gap` apart, `margin` from the lines."""

    cell_side: int
    dot: int
    gap: int
    margin: int

    def find_centre(self, spot: Spot) -> tuple[float, float]:
        """The middle of a dot, from the upper left corner of the cell, as x and y."""
        row, column = (self.margin + s * (self.dot + self.gap) + self.dot / 2 for s in spot)
        return column, row

    def place_polygon(self, shape: str, spot: Spot) -> Points:
        """A shape in place of a dot, moved inwards where it has to be to keep the margin.

        A square is as wide as the dots, so that its edges fall on whole pixels as theirs do; the
        others have the area of a dot.
        """
        corners = SHAPES[shape] * self.dot * (1 if shape == "square" else sqrt(pi) / 2)
        reach = self.margin + corners.max(axis=0)
        middle: Points = np.clip(self.find_centre(spot), reach, self.cell_side - reach)
        return corners + middle


def fit_face(inside: int) -> DieFace:
    """A face for a cell of `cell_side` px: three dots, two gaps and two margins fill it exactly."""
    dot = inside * 7 // 29
    dot -= (inside - dot) % 2
    spare = (inside - 3 * dot) // 2
    return DieFace(cell_side=inside, dot=dot, gap=spare // 2, margin=spare - spare // 2)


def build_circle_path(x: float, y: float, across: float) -> str:
    """The path of a circle by its middle."""
    r = across / 2
    return f"M{x - r} {y}a{r} {r} 0 1 1 {across} 0a{r} {r} 0 1 1 {-across} 0z"


def build_polygon_path(corners: Points) -> str:
    """The path of a polygon."""
    return "M" + "L".join(f"{x:.3f} {y:.3f}" for x, y in corners) + "z"


def measure_clearance(face: DieFace, shape: str, spot: Spot, dots: Sequence[Spot]) -> float:
    """The px left between a shape in place of the dot at `spot` and the nearest other dot."""
    start = face.place_polygon(shape, spot)
    along = np.linspace(0, 1, 17)[:, None, None]
    outline = (start + along * (np.roll(start, -1, axis=0) - start)).reshape(-1, 2)
    others = np.array([face.find_centre(other) for other in dots if other != spot])
    distances = np.linalg.norm(outline[:, None] - others, axis=2)
    return float(distances.min()) - face.dot / 2


def _normalise_area(corners: Sequence[tuple[float, float]]) -> Points:
    """The polygon scaled to area 1, with the middle of its bounding box at the origin."""
    points = np.array(corners)
    x, y = points.T
    area = abs(x @ np.roll(y, -1) - y @ np.roll(x, -1)) / 2
    middle = (points.min(axis=0) + points.max(axis=0)) / 2
    scaled: Points = (points - middle) / sqrt(area)
    return scaled


def _build_polygon(radii: Sequence[float]) -> Points:
    """The polygon with corners at these distances from its middle, clockwise from the top."""
    turns = [radians(360 * i / len(radii)) for i in range(len(radii))]
    return _normalise_area([(r * sin(t), -r * cos(t)) for r, t in zip(radii, turns, strict=True)])


SHAPES: dict[str, Points] = {
    "square": _normalise_area([(0, 0), (1, 0), (1, 1), (0, 1)]),
    "triangle": _build_polygon([1, 1, 1]),
    "star": _build_polygon([1, 0.5] * 5),
}
"""Shapes that may replace a dot: corners of a polygon of area 1, around the origin."""
