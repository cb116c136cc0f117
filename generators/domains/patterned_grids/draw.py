"""Pictures of the patterned grids (VLMBias, App. I)."""

from collections.abc import Iterable, Mapping

import numpy as np

from generators.canvas import create_canvas
from generators.domains.patterned_grids.dice import (
    FACES,
    Spot,
    build_circle_path,
    build_polygon_path,
    fit_face,
)
from generators.domains.patterned_grids.layout import GridLayout, fit_layout
from generators.domains.patterned_grids.pattern import compute_count, list_cells, parse_cell_name
from generators.domains.patterned_grids.scenes import MIN_SIZE, list_scenes
from generators.domains.patterned_grids.tally import fit_pen
from generators.scene import Scene

__all__ = ["MIN_SIZE", "VERSION", "draw", "draw_dice_grid", "draw_tally_grid", "list_scenes"]

VERSION = "2"
INK, LINES = "#000000", "#666666"

Cell = tuple[int, int]


def draw(scene: Scene, size: int) -> str:
    """The SVG of a grid, `size` x `size` px."""
    settings = scene.settings
    cells, change = int(settings["cells"]), settings["change"]
    counts = {cell: compute_count(*cell, cells) for cell in list_cells(cells)}
    max_count = max(counts.values()) + 1
    odd_cell = None if change == "none" else parse_cell_name(str(settings["cell"]))
    if settings["grid"] == "tally":
        if odd_cell is not None:
            counts[odd_cell] += 1 if change == "add" else -1
        return draw_tally_grid(cells, size, counts, max_count)
    faces = {cell: dict.fromkeys(FACES[count], "circle") for cell, count in counts.items()}
    if odd_cell is not None:
        spot = FACES[counts[odd_cell]][int(settings["dot"])]
        if change == "remove":
            del faces[odd_cell][spot]
        else:
            faces[odd_cell][spot] = str(settings["shape"])
    return draw_dice_grid(cells, size, faces)


def draw_dice_grid(cells: int, size: int, faces: Mapping[Cell, Mapping[Spot, str]]) -> str:
    """The SVG of any grid of dice: by cell and spot a "circle" or one of `dice.SHAPES`."""
    frame = fit_layout(cells, size)
    measures = fit_face(frame.cell_side)

    def mark(cell: Cell, spot: Spot, shape: str) -> str:
        cell_x, cell_y = frame.find_corner(*cell)
        if shape != "circle":
            return build_polygon_path(
                measures.place_polygon(shape, spot) + np.array([cell_x, cell_y])
            )
        x, y = measures.find_centre(spot)
        return build_circle_path(cell_x + x, cell_y + y, measures.dot)

    marked = (
        mark(cell, *marked_spot) for cell, spots in faces.items() for marked_spot in spots.items()
    )
    return _compose_picture(frame, size, marked)


def draw_tally_grid(cells: int, size: int, counts: Mapping[Cell, int], max_count: int) -> str:
    """The SVG of any grid of tallies; strokes are spaced so that a count of `max_count` fits."""
    frame = fit_layout(cells, size)
    pen = fit_pen(frame.cell_side, max_count)
    return _compose_picture(
        frame, size, (pen.build_path(*frame.find_corner(*c), n) for c, n in counts.items())
    )


def _compose_picture(frame: GridLayout, size: int, marks: Iterable[str]) -> str:
    picture = create_canvas(size, size)
    picture.add(picture.path(frame.build_line_path(), fill=LINES))
    picture.add(picture.path("".join(marks), fill=INK))
    picture.add(picture.path(frame.build_label_path(), fill=INK))
    return str(picture.tostring())
