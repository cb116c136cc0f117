"""Tables of long rows, such as a paper's: each has one number, and names its line and column."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Any, TypeAlias

from assets.report.cells import Body, Cell, Group, Head, Line, Table
from assets.report.formats import NONE

LongRow: TypeAlias = Mapping[str, Any]


def pivot(
    caption: str,
    corner: str,
    rows: Iterable[LongRow],
    cell: Callable[[LongRow], Cell],
    *,
    line: str | tuple[str, str],
    column: str,
    group: str = "",
    body: str = "",
    bodies: Sequence[str] | None = None,
    titles: Mapping[str, str] = MappingProxyType({}),
) -> Table:
    """A table with a line for each value of `line`, and a column for each of `column`.

    `line`, `column`, `group` (of columns) and `body` (of lines) are names in the rows, whose order
    is that of their values; of two names of a line the second stands in small words. `bodies` are
    the values of `body` to show, by default all, and `titles` the words for values.
    """
    names = (line,) if isinstance(line, str) else line

    def title(value: str) -> str:
        return titles.get(value, value)

    cells: dict[str, dict[tuple[str, ...], dict[tuple[str, str], Cell]]] = {}
    columns: dict[str, dict[str, None]] = {}
    for row in rows:
        lines = cells.setdefault(row[body] if body else "", {})
        place = (row[group] if group else "", row[column])
        lines.setdefault(tuple(row[name] for name in names), {})[place] = cell(row)
        columns.setdefault(place[0], {})[place[1]] = None
    places = [(label, name) for label, names in columns.items() for name in names]
    return Table(
        caption,
        corner,
        [Group(label, [Head(title(name)) for name in names]) for label, names in columns.items()],
        [
            Body(
                label,
                [
                    Line(
                        title(values[0]),
                        [line_cells.get(place, Cell(NONE)) for place in places],
                        "".join(map(title, values[1:])).lower(),
                    )
                    for values, line_cells in cells.get(label, {}).items()
                ],
            )
            for label in (cells if bodies is None else bodies)
        ],
    )
