"""Optical illusions in black ink on white, at any size."""

from collections.abc import Iterator

from generators.canvas import create_canvas
from generators.domains.optical_illusions.figures import FIGURES
from generators.domains.optical_illusions.illusion_scenes import list_illusion_scenes
from generators.domains.optical_illusions.shapes import Disc, Point, Shape, Stroke, find_bounds
from generators.scene import Scene

VERSION = "1"
MIN_SIZE = 256
"""Smallest size whose strokes are at least 2 px wide."""

PENS_ACROSS = 128
"""The number of strokes that, side by side, would fill the longer side."""


def list_scenes(seed: int) -> list[Scene]:
    """The 132 scenes (VLMBias, Appendix H.1), whatever the seed."""
    return list(list_illusion_scenes())


def draw(scene: Scene, size: int) -> str:
    """The SVG of a scene, its longer side `size` px, the figure centred."""
    figure = FIGURES[scene.subject]
    scale = size / max(figure.width, figure.height)
    width, height = round(figure.width * scale), round(figure.height * scale)
    pen = round(size / PENS_ACROSS)
    drawing = create_canvas(width, height)
    ink = drawing.add(drawing.g(stroke="#000000", stroke_width=pen, fill="none"))
    for shape in place_shapes(list(list_shapes(scene)), width, height, scale, pen):
        if isinstance(shape, Disc):
            ink.add(drawing.circle(shape.centre, shape.diameter / 2, fill="#000000", stroke="none"))
        elif shape.closed:
            ink.add(drawing.polygon(shape.points, fill="#ffffff"))
        else:
            ink.add(drawing.polyline(shape.points))
    return str(drawing.tostring())


def list_shapes(scene: Scene) -> Iterator[Shape]:
    """The shapes of a scene, in the units of its illusion, y upwards."""
    strength = scene.settings["size" if "size" in scene.settings else "strength"]
    return FIGURES[scene.subject].shapes(float(strength), float(scene.settings["difference"]))


def place_shapes(
    figure: list[Shape], width: int, height: int, scale: float, pen: int
) -> Iterator[Shape]:
    """The figure in the middle of a canvas, in px.

    The figure as a whole and every level line is moved by half a pixel at most, so that as many
    edges as can be fall on whole pixels.
    """
    min_x, min_y, max_x, max_y = find_bounds(figure)
    x0 = _snap(width / 2 - (min_x + max_x) / 2 * scale, pen)
    y0 = _snap(height / 2 + (min_y + max_y) / 2 * scale, pen)

    def place(point: Point) -> Point:
        return round(float(x0 + point[0] * scale), 3), round(float(y0 - point[1] * scale), 3)

    for shape in figure:
        if isinstance(shape, Disc):
            yield Disc(centre=place(shape.centre), diameter=round(float(shape.diameter * scale), 3))
            continue
        points = [place(point) for point in shape.points]
        if shape.level:
            points = [(x, _snap(y, pen)) for x, y in points]
        yield Stroke(points=tuple(points), closed=shape.closed)


def _snap(middle: float, pen: int) -> float:
    """The nearest place for the middle of a stroke that lets both its edges be whole."""
    return round(middle - pen / 2) + pen / 2
