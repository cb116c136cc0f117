"""The pattern of the grids: what each cell shows before anything is changed."""

from collections.abc import Iterator


def compute_count(row: int, column: int, cells: int) -> int:
    """The distance to the nearest edge of a `cells` x `cells` grid, plus one.

    Rows and columns are counted from 0; the count is 1 at the border and ceil(cells / 2) in
    the middle.
    """
    return min(row, column, cells - 1 - row, cells - 1 - column) + 1


def list_cells(cells: int) -> Iterator[tuple[int, int]]:
    """Row and column of each cell, row by row."""
    return ((row, column) for row in range(cells) for column in range(cells))


def format_cell_name(row: int, column: int) -> str:
    """The name as in a spreadsheet: C5 is in the third column and the fifth row."""
    return f"{format_column_letter(column)}{row + 1}"


def format_column_letter(column: int) -> str:
    """A for the leftmost column."""
    return chr(ord("A") + column)


def parse_cell_name(name: str) -> tuple[int, int]:
    """The row and the column of the cell of that name, counted from 0."""
    return int(name[1:]) - 1, ord(name[0]) - ord("A")
