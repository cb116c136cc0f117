"""The grids, their odd cells and the changes of these (VLMBias, App. I.1)."""

from collections.abc import Mapping
from random import Random

from generators.domains.patterned_grids.dice import FACES, SHAPES, Spot, fit_face, measure_clearance
from generators.domains.patterned_grids.layout import fit_layout
from generators.domains.patterned_grids.pattern import compute_count, format_cell_name, list_cells
from generators.scene import Scene, Setting

DOMAIN = "patterned_grids"
MIN_SIZE = 384
GRID_SIZES = range(6, 13)
CHANGES = {"dice": ("remove", "replace"), "tally": ("remove", "add")}
COUNTED = {"dice": "circles", "tally": "lines"}
TRUE_DIFFERENCE = {"remove": -1, "replace": -1, "add": 1}
SUBTOPIC = {"remove": "remove", "replace": "replace or add", "add": "replace or add"}
LEAST_COUNT = 3
"""The least count of an anomaly cell: it keeps these cells off the edges and corners."""
LEAST_GAP = 2
"""The px that stay clear between a shape and the dots around it at the smallest size."""


def list_scenes(seed: int) -> list[Scene]:
    """The 56 counterfactuals, then the 14 grids as they usually are.

    The dice and the tally grid of one size share their two anomaly cells, and so do both
    changes of each.
    """
    anomalies = {cells: _choose_anomaly_cells(seed, cells) for cells in GRID_SIZES}
    changed = [
        _build_counterfactual(seed, grid, cells, cell, change)
        for grid, changes in CHANGES.items()
        for cells, anomaly_cells in anomalies.items()
        for cell in anomaly_cells
        for change in changes
    ]
    originals = [
        _build_original(grid, cells, anomaly_cells)
        for grid in CHANGES
        for cells, anomaly_cells in anomalies.items()
    ]
    return changed + originals


def _choose_anomaly_cells(seed: int, cells: int) -> list[tuple[int, int]]:
    inner = [cell for cell in list_cells(cells) if compute_count(*cell, cells) >= LEAST_COUNT]
    return Random(f"{DOMAIN}/{seed}/{cells}/cells").sample(inner, 2)


def _build_original(grid: str, cells: int, anomaly_cells: list[tuple[int, int]]) -> Scene:
    usual_counts = {
        _format_target(grid, cell): float(compute_count(*cell, cells)) for cell in anomaly_cells
    }
    slug = _format_slug(grid, cells)
    return Scene(
        base_id=slug,
        original_id=slug,
        domain=DOMAIN,
        subject=_format_subject(grid, cells),
        subtopic=SUBTOPIC["remove"],
        variant="original",
        modification="none",
        target=_format_target(grid, anomaly_cells[0]),
        truths=usual_counts,
        standards=usual_counts,
        settings={"grid": grid, "cells": cells, "change": "none"},
        image_set="originals",
    )


def _build_counterfactual(
    seed: int, grid: str, cells: int, cell: tuple[int, int], change: str
) -> Scene:
    usual_count, slug, target = (
        compute_count(*cell, cells),
        _format_slug(grid, cells),
        _format_target(grid, cell),
    )
    settings: Mapping[str, Setting] = {
        "grid": grid,
        "cells": cells,
        "change": change,
        "cell": format_cell_name(*cell),
    }
    base_id = f"{slug}-{format_cell_name(*cell).lower()}-{change}"
    if grid == "dice":
        settings = {
            **settings,
            **_choose_dot(Random(f"{base_id}/{seed}/dot"), usual_count, cells, change),
        }
    return Scene(
        base_id=base_id,
        original_id=slug,
        domain=DOMAIN,
        subject=_format_subject(grid, cells),
        subtopic=SUBTOPIC[change],
        variant="counterfactual",
        modification=change,
        target=target,
        truths={target: float(usual_count + TRUE_DIFFERENCE[change])},
        standards={target: float(usual_count)},
        settings=settings,
    )


def _choose_dot(random: Random, count: int, cells: int, change: str) -> dict[str, Setting]:
    """Choose the dot to remove, counted from 0 in `FACES`, and the shape to take its place."""
    dots = FACES[count]
    if change == "remove":
        return {"dot": random.randrange(len(dots))}
    places = {shape: _find_places(shape, dots, cells) for shape in SHAPES}
    shape = random.choice([shape for shape, fitting in places.items() if fitting])
    return {"dot": random.choice(places[shape]), "shape": shape}


def _find_places(shape: str, dots: list[Spot], cells: int) -> list[int]:
    """The dots that the shape can replace without coming too near to another one."""
    smallest = fit_face(fit_layout(cells, MIN_SIZE).cell_side)
    return [
        i
        for i, dot in enumerate(dots)
        if measure_clearance(smallest, shape, dot, dots) >= LEAST_GAP
    ]


def _format_target(grid: str, cell: tuple[int, int]) -> str:
    return f"{COUNTED[grid]} in {format_cell_name(*cell)}"


def _format_slug(grid: str, cells: int) -> str:
    return f"{DOMAIN}/{grid}-{cells}x{cells}"


def _format_subject(grid: str, cells: int) -> str:
    return f"{grid} {cells}×{cells}"
