"""The two things that a figure compares."""

from collections.abc import Sequence
from math import dist

from generators.domains.optical_illusions.draw import PENS_ACROSS, list_shapes, place_shapes
from generators.domains.optical_illusions.figures import FIGURES
from generators.domains.optical_illusions.shapes import Disc, Shape, Stroke, find_bounds
from generators.scene import Scene

Box = tuple[float, float, float, float]


def find_outline(scene: Scene, size: int) -> list[Box]:
    """Outline both discs or lines in question, in fractions of the picture."""
    figure = FIGURES[scene.subject]
    scale = size / max(figure.width, figure.height)
    width, height = round(figure.width * scale), round(figure.height * scale)
    pen = round(size / PENS_ACROSS)
    compared_shapes = _select_compared(
        scene.subject, list(place_shapes(list(list_shapes(scene)), width, height, scale, pen))
    )
    boxes = []
    for shape in compared_shapes:
        left_x, top_y, right_x, bottom_y = find_bounds([shape])
        boxes.append(
            (
                (left_x - pen) / width,
                (top_y - pen) / height,
                (right_x - left_x + 2 * pen) / width,
                (bottom_y - top_y + 2 * pen) / height,
            )
        )
    return boxes


def _select_compared(subject: str, drawn: Sequence[Shape]) -> Sequence[Shape]:
    if subject == "Ebbinghaus":
        inner = [shape for shape in drawn if isinstance(shape, Disc)]
        level = [disc for disc in inner if abs(disc.centre[1] - inner[0].centre[1]) < 1]
        sizes = {
            id(disc): sum(other.diameter == disc.diameter for other in inner) for disc in level
        }
        return sorted(level, key=lambda disc: sizes[id(disc)])[:2]
    lines = [s for s in drawn if isinstance(s, Stroke) and len(s.points) == 2 and not s.closed]
    if subject == "Zöllner":
        lines.sort(key=lambda line: -dist(*line.points))
    return lines[:2]
