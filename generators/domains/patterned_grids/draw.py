"""Pictures of the patterned grids (VLMBias, App. I)."""

from collections.abc import Iterable, Mapping

import numpy as np

from generators.canvas import canvas
from generators.domains.patterned_grids.dice import FACES, Spot, circle, face, polygon_path
from generators.domains.patterned_grids.layout import Layout, layout
from generators.domains.patterned_grids.pattern import count_at, every_cell, row_and_column
from generators.domains.patterned_grids.scenes import SMALLEST, scenes
from generators.domains.patterned_grids.tally import strokes
from generators.scene import Scene

__all__ = ["SMALLEST", "VERSION", "dice_grid", "draw", "scenes", "tally_grid"]

VERSION = "2"
INK, LINES = "#000000", "#666666"

Cell = tuple[int, int]


def draw(scene: Scene, size: int) -> str:
    """The SVG of a grid, `size` x `size` px."""
    settings = scene.settings
    cells, change = int(settings["cells"]), settings["change"]
    counts = {cell: count_at(*cell, cells) for cell in every_cell(cells)}
    max_count = max(counts.values()) + 1
    odd_cell = None if change == "none" else row_and_column(str(settings["cell"]))
    if settings["grid"] == "tally":
        if odd_cell is not None:
            counts[odd_cell] += 1 if change == "add" else -1
        return tally_grid(cells, size, counts, max_count)
    faces = {cell: dict.fromkeys(FACES[count], "circle") for cell, count in counts.items()}
    if odd_cell is not None:
        spot = FACES[counts[odd_cell]][int(settings["dot"])]
        if change == "remove":
            del faces[odd_cell][spot]
        else:
            faces[odd_cell][spot] = str(settings["shape"])
    return dice_grid(cells, size, faces)


def dice_grid(cells: int, size: int, faces: Mapping[Cell, Mapping[Spot, str]]) -> str:
    """The SVG of any grid of dice: by cell and spot a "circle" or one of `dice.SHAPES`."""
    frame = layout(cells, size)
    measures = face(frame.inside)

    def mark(cell: Cell, spot: Spot, shape: str) -> str:
        cell_x, cell_y = frame.corner(*cell)
        if shape != "circle":
            return polygon_path(measures.polygon(shape, spot) + np.array([cell_x, cell_y]))
        x, y = measures.centre(spot)
        return circle(cell_x + x, cell_y + y, measures.dot)

    marked = (
        mark(cell, *marked_spot) for cell, spots in faces.items() for marked_spot in spots.items()
    )
    return _picture(frame, size, marked)


def tally_grid(cells: int, size: int, counts: Mapping[Cell, int], max_count: int) -> str:
    """The SVG of any grid of tallies; strokes are spaced so that a count of `most` fits."""
    frame = layout(cells, size)
    pen = strokes(frame.inside, max_count)
    return _picture(frame, size, (pen.path(*frame.corner(*c), n) for c, n in counts.items()))


def _picture(frame: Layout, size: int, marks: Iterable[str]) -> str:
    picture = canvas(size, size)
    picture.add(picture.path(frame.lines(), fill=LINES))
    picture.add(picture.path("".join(marks), fill=INK))
    picture.add(picture.path(frame.labels(), fill=INK))
    return str(picture.tostring())
