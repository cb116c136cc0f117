"""The cloth of a flag: its rectangle on the picture, painted in the units of its sheet."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import svgwrite

from generators.domains.flags.layouts import Point, outline_star


@dataclass(frozen=True, slots=True, kw_only=True)
class Cloth:
    """A rectangle of whole pixels, `width` x `height` units of the construction sheet large."""

    drawing: svgwrite.Drawing
    corner: tuple[int, int]
    extent: tuple[int, int]
    width: float
    height: float

    def _to_x(self, x: float) -> float:
        return self.corner[0] + x * self.extent[0] / self.width

    def _to_y(self, y: float) -> float:
        return self.corner[1] + y * self.extent[1] / self.height

    @property
    def _scale(self) -> float:
        return self.extent[0] / self.width

    def paint_bar(
        self, left_x: float, top_y: float, right_x: float, bottom_y: float, colour: str
    ) -> None:
        """A rectangle, its edges moved to the nearest whole pixels so that they are sharp."""
        x, y = round(self._to_x(left_x)), round(self._to_y(top_y))
        size = round(self._to_x(right_x)) - x, round(self._to_y(bottom_y)) - y
        self.drawing.add(self.drawing.rect((x, y), size, fill=colour))

    def fill(self, colour: str) -> None:
        """The whole cloth in one colour."""
        self.paint_bar(0, 0, self.width, self.height, colour)

    def paint_bands(self, edges: Sequence[float], colours: Iterable[str]) -> None:
        """Horizontal bands over the whole width between each edge and the next."""
        for top, bottom, colour in zip(edges, edges[1:], colours, strict=False):
            self.paint_bar(0, top, self.width, bottom, colour)

    def paint_polygon(self, points: Iterable[Point], colour: str) -> None:
        """A filled polygon."""
        corners = [(round(self._to_x(x), 3), round(self._to_y(y), 3)) for x, y in points]
        self.drawing.add(self.drawing.polygon(corners, fill=colour))

    def paint_star(
        self,
        centre: Point,
        radius: float,
        colour: str,
        *,
        points: int = 5,
        inner: float | None = None,
        turn: float = 0.0,
    ) -> None:
        """A star; see `outline_star`."""
        self.paint_polygon(
            outline_star(centre, radius, points=points, inner=inner, turn=turn), colour
        )

    def paint_disc(self, centre: Point, radius: float, colour: str) -> None:
        """A filled circle."""
        middle = (round(self._to_x(centre[0]), 3), round(self._to_y(centre[1]), 3))
        self.drawing.add(self.drawing.circle(middle, round(radius * self._scale, 3), fill=colour))

    def paint_emblem(
        self, data: str, centre: Point, unit: float, *, fill: str, stroke: str, pen: float
    ) -> None:
        """SVG path data about (0, 0), one of its units being `unit` of the sheet's."""
        place = (
            f"translate({self._to_x(centre[0]):.3f} {self._to_y(centre[1]):.3f}) "
            f"scale({unit * self._scale:.5f})"
        )
        self.drawing.add(
            self.drawing.path(data, transform=place, fill=fill, stroke=stroke, stroke_width=pen)
        )
