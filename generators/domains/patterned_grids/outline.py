"""The cell that breaks the pattern."""

from generators.domains.patterned_grids.layout import layout
from generators.domains.patterned_grids.pattern import row_and_column
from generators.scene import Scene

Box = tuple[float, float, float, float]


def outline(scene: Scene, size: int) -> list[Box]:
    """The one cell, in parts of the picture."""
    frame = layout(int(scene.settings["cells"]), size)
    x, y = frame.corner(*row_and_column(str(scene.settings["cell"])))
    return [(x / size, y / size, frame.inside / size, frame.inside / size)]
