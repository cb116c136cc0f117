"""Controls: the two things that a figure compares, alone, where the figure has them.

The inducer is gone: Ebbinghaus's rings, Müller-Lyer's fins, Ponzo's sides, Zöllner's strokes and
the outline of Poggendorff's rectangle, whose white stays, so that both segments end where they did.
The inverted T has no ink beside its two lines. What misleads there is that one halves the other, so
that its vertical stands beside the horizontal's right end instead, `DETACHED` away.
"""

from collections.abc import Mapping, Sequence

from generators.canvas import create_canvas
from generators.domains.optical_illusions.compared import select_compared
from generators.domains.optical_illusions.draw import PENS_ACROSS, list_shapes, place_shapes
from generators.domains.optical_illusions.figures import FIGURES
from generators.domains.optical_illusions.illusion_scenes import VERTICAL_HORIZONTAL
from generators.domains.optical_illusions.shapes import Disc, Shape, Stroke
from generators.scene import Scene

VERSION = "1"
DETACHED = 0.06
"""From the horizontal's end to the middle of the vertical in the inverted T's control, in the
figure's units."""


def find_controls(scenes: Sequence[Scene], size: int) -> Mapping[str, Scene]:
    """Map each scene's `base_id` to the first scene with the same control.

    Figures that differ in their inducer alone have one control.
    """
    first_scenes: dict[tuple[Shape, ...], Scene] = {}
    return {
        scene.base_id: first_scenes.setdefault(tuple(_place_parts(scene, size)), scene)
        for scene in scenes
    }


def draw_control(scene: Scene, size: int) -> str:
    """The SVG of a scene's control, on the canvas of the scene itself."""
    width, height, _ = _find_canvas(scene, size)
    drawing = create_canvas(width, height)
    pen = round(size / PENS_ACROSS)
    ink = drawing.add(drawing.g(stroke="#000000", stroke_width=pen, fill="none"))
    for shape in _place_parts(scene, size):
        if isinstance(shape, Disc):
            ink.add(drawing.circle(shape.centre, shape.diameter / 2, fill="#000000", stroke="none"))
        elif shape.closed:
            ink.add(drawing.polygon(shape.points, fill="#ffffff", stroke="#ffffff"))
        else:
            ink.add(drawing.polyline(shape.points))
    return str(drawing.tostring())


def _find_canvas(scene: Scene, size: int) -> tuple[int, int, float]:
    """Width and height in px, and the px of a unit."""
    figure = FIGURES[scene.subject]
    scale = size / max(figure.width, figure.height)
    return round(figure.width * scale), round(figure.height * scale), scale


def _place_parts(scene: Scene, size: int) -> list[Shape]:
    """The compared parts in px, and a closed stroke over what hides a stretch of them."""
    width, height, scale = _find_canvas(scene, size)
    figure = list(list_shapes(scene))
    placed = list(place_shapes(figure, width, height, scale, round(size / PENS_ACROSS)))
    covers = [shape for shape in placed if isinstance(shape, Stroke) and shape.closed]
    parts = [*select_compared(scene.subject, placed), *covers]
    if scene.subject == VERTICAL_HORIZONTAL:
        horizontal, vertical = (part for part in parts if isinstance(part, Stroke))
        shift = round(horizontal.box[2] + DETACHED * scale - vertical.box[2])
        return [horizontal, Stroke(points=tuple((x + shift, y) for x, y in vertical.points))]
    return parts
