"""Draw the two parts that a figure compares, without its inducer: the figure's control.

Figures that differ in their inducer alone give one picture.
"""

from generators.domains.optical_illusions import draw as figure_drawing
from generators.domains.optical_illusions.controls import VERSION, draw_control
from generators.isolation import isolate_scenes
from generators.scene import Scene

__all__ = ["MIN_SIZE", "VERSION", "draw", "list_scenes"]

MIN_SIZE = figure_drawing.MIN_SIZE


def list_scenes(seed: int) -> list[Scene]:
    """The scenes of the benchmark."""
    return isolate_scenes(figure_drawing.list_scenes(seed))


def draw(scene: Scene, size: int) -> str:
    """The SVG of the scene's compared parts, as large as that of its figure."""
    return draw_control(scene, size)
