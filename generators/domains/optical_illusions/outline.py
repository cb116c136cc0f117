"""The two things that a figure compares."""

from generators.domains.optical_illusions.compared import select_compared
from generators.domains.optical_illusions.draw import PENS_ACROSS, list_shapes, place_shapes
from generators.domains.optical_illusions.figures import FIGURES
from generators.domains.optical_illusions.shapes import find_bounds
from generators.scene import Scene

Box = tuple[float, float, float, float]


def find_outline(scene: Scene, size: int) -> list[Box]:
    """Outline both discs or lines in question, in fractions of the picture."""
    figure = FIGURES[scene.subject]
    scale = size / max(figure.width, figure.height)
    width, height = round(figure.width * scale), round(figure.height * scale)
    pen = round(size / PENS_ACROSS)
    compared_shapes = select_compared(
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
