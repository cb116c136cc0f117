"""The cell that breaks the pattern."""

from generators.domains.patterned_grids.layout import fit_layout
from generators.domains.patterned_grids.pattern import parse_cell_name
from generators.scene import Scene

Box = tuple[float, float, float, float]


def find_outline(scene: Scene, size: int) -> list[Box]:
    """The one cell, in parts of the picture."""
    frame = fit_layout(int(scene.settings["cells"]), size)
    x, y = frame.find_corner(*parse_cell_name(str(scene.settings["cell"])))
    return [(x / size, y / size, frame.cell_side / size, frame.cell_side / size)]
