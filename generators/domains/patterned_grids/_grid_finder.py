"""Finding the cells of a grid in its pixels."""

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from generators.reading import Pixels, Unreadable

Ink = NDArray[np.float64]
"""The share of each pixel covered by ink, from 0 on white paper to 1."""

DARK = 215
"""Level below which a pixel holds ink: even a thin grey line that scaling has smeared."""
LONG = 0.8
"""The share of the picture that a grid line crosses, at least."""
EVEN = 0.15
"""The largest deviation of two lines' distance, in parts of the usual one."""


@dataclass(frozen=True, slots=True)
class GridCells:
    """The white squares between the grid lines: their starts and stops, in px."""

    light: NDArray[np.uint8]
    rows: list[tuple[int, int]]
    columns: list[tuple[int, int]]

    def crop_ink(self, row: int, column: int) -> Ink:
        """The ink in one cell, without the lines around it."""
        (start_row, stop_row), (start_column, stop_column) = self.rows[row], self.columns[column]
        light = self.light[start_row:stop_row, start_column:stop_column]
        return 1.0 - light / max(1.0, float(light.max()))

    def find_cell(self, name: str) -> tuple[int, int]:
        """Row and column, from 0, of the cell that a spreadsheet gives that name."""
        column, row = ord(name[0]) - ord("A"), int(name[1:]) - 1
        if not (0 <= row < len(self.rows) and column < len(self.columns)):
            raise Unreadable(
                f"The picture has no cell {name}: its grid has {len(self.rows)} rows and "
                f"{len(self.columns)} columns."
            )
        return row, column


def find_cells(pixels: Pixels) -> GridCells:
    """The cells between the evenly spaced lines that cross nearly all of the picture."""
    light = pixels[..., 1]  # the pictures are black, grey and white: any channel will do
    dark = light < DARK
    return GridCells(
        light=light, rows=_find_spaces(dark.mean(axis=1)), columns=_find_spaces(dark.mean(axis=0))
    )


def _find_spaces(share: NDArray[np.float64]) -> list[tuple[int, int]]:
    """Spaces between lines, from the share of ink along each row or column of the picture.

    A line that touches the picture's border is no grid line but a frame around the picture.
    """
    lines = [(a, b) for a, b in find_runs(share > LONG) if a > 0 and b < len(share)]
    spaces = [(end, start) for (_, end), (start, _) in pairwise(lines)]
    widths = np.array([end - start for start, end in spaces])
    if len(spaces) < 2:
        raise Unreadable("The picture shows no grid: fewer than three lines cross it.")
    if np.ptp(widths) > max(2, EVEN * np.median(widths)):
        raise Unreadable("The picture shows no grid: the lines that cross it are not even.")
    return spaces


def find_runs(marked: NDArray[np.bool_]) -> list[tuple[int, int]]:
    """Find the start and the stop of each run of True."""
    edges = np.flatnonzero(np.diff(np.concatenate(([False], marked, [False]))))
    return [(int(a), int(b)) for a, b in edges.reshape(-1, 2)]
