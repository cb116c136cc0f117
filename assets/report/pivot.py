"""Tables of cells that name their own line and column, such as a paper's long rows."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple

from assets.kit.step_run import Row
from assets.report.cells import Body, Cell, Group, Head, Line, Table
from assets.report.formats import NONE

_DASH = Cell(NONE)


class Place(NamedTuple):
    """Position of a cell: its line and column, and the headings that these share with others.

    `small` are small words beside the line's label, and `is_mean` lines stand out.
    """

    line: str
    column: str
    small: str = ""
    body: str = ""
    group: str = ""
    is_mean: bool = False


def arrange(
    caption: str,
    corner: str,
    cells: Iterable[tuple[Place, Cell]],
    *,
    columns: Iterable[tuple[str, str]] = (),
    bodies: Sequence[str] | None = None,
    empty: Cell = _DASH,
) -> Table:
    """A table of cells, its lines and columns in the order in which cells name them first.

    `columns` are groups and labels of columns that come first, with or without cells; `bodies` are
    those to show, by default all, and `empty` stands where there is no cell.
    """
    heads: dict[str, dict[str, None]] = {}
    for group, label in columns:
        heads.setdefault(group, {})[label] = None
    lines: dict[str, dict[tuple[str, str, bool], dict[tuple[str, str], Cell]]] = {}
    for place, cell in cells:
        heads.setdefault(place.group, {})[place.column] = None
        line_cells = lines.setdefault(place.body, {}).setdefault(
            (place.line, place.small, place.is_mean), {}
        )
        line_cells[place.group, place.column] = cell
    places = [(group, label) for group, labels in heads.items() for label in labels]

    def build_body(body: str) -> Body:
        return Body(
            body,
            [
                Line(
                    label,
                    [line_cells.get(place, empty) for place in places],
                    small,
                    kind="mean" if is_mean else "",
                )
                for (label, small, is_mean), line_cells in lines.get(body, {}).items()
            ],
        )

    groups = [Group(group, [Head(label) for label in labels]) for group, labels in heads.items()]
    return Table(caption, corner, groups, [*map(build_body, lines if bodies is None else bodies)])


def pivot(
    caption: str,
    corner: str,
    rows: Iterable[Row],
    cell: Callable[[Row], Cell],
    *,
    line: str,
    column: str,
    small: str = "",
    group: str = "",
    body: str = "",
    bodies: Sequence[str] | None = None,
    titles: Mapping[str, str] = MappingProxyType({}),
) -> Table:
    """A table of long rows, with a line for each value of `line` and a column for each of `column`.

    `line`, `column`, `small`, `group` (of columns) and `body` (of lines) are names in the rows;
    `titles` are the words for values.
    """

    def title(row: Row, name: str) -> str:
        return titles.get(row[name], row[name]) if name else ""

    cells = (
        (
            Place(
                title(row, line),
                title(row, column),
                title(row, small).lower(),
                row[body] if body else "",
                row[group] if group else "",
            ),
            cell(row),
        )
        for row in rows
    )
    return arrange(caption, corner, cells, bodies=bodies)
