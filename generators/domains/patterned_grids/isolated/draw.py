"""Draw the cell in question alone, with its lines, its column's letter and its row's number.

The name stays: without it, a question about cell C3 asks about nothing.
"""

from generators.domains.patterned_grids import draw as grid_drawing
from generators.domains.patterned_grids.layout import build_rectangle_path, fit_layout
from generators.domains.patterned_grids.pattern import parse_cell_name
from generators.isolation import isolate_scenes
from generators.scene import Scene

VERSION = "1"
MIN_SIZE = grid_drawing.MIN_SIZE


def list_scenes(seed: int) -> list[Scene]:
    """The scenes of the benchmark."""
    return isolate_scenes(grid_drawing.list_scenes(seed))


def draw(scene: Scene, size: int) -> str:
    """The SVG of the scene's grid under white paper, open over the cell and its name."""
    frame = fit_layout(int(scene.settings["cells"]), size)
    x, y = frame.find_corner(*parse_cell_name(str(scene.settings["cell"])))
    side, line = frame.cell_side, frame.line
    paper = "".join(
        build_rectangle_path(*rectangle)
        for rectangle in (
            (0, 0, size, size),
            (x - line, y - line, side + 2 * line, side + 2 * line),
            (x, 0, side, frame.origin_y),
            (0, y, frame.origin_x, side),
        )
    )
    cover = f'<path d="{paper}" fill="#ffffff" fill-rule="evenodd" />'
    return grid_drawing.draw(scene, size).replace("</svg>", f"{cover}</svg>")
