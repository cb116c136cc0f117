"""Tables that are declared: columns with their labels and cells, over rows of any kind."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from operator import itemgetter
from typing import Generic, TypeVar

from assets.report.cells import Body, Cell, Group, Head, Line, Table, mark_trial
from metrics.statistics.firmness import Evidence

RowT = TypeVar("RowT")


@dataclass(frozen=True)
class TableColumn(Generic[RowT]):
    """A column: its label, the cell of a row, and the heading that it shares with its neighbours.

    Numbers of a `ranked` column are marked and sorted below all results in rows whose evidence is
    that of a trial.
    """

    label: str
    cell: Callable[[RowT], Cell]
    ranked: bool = False
    group: str = ""
    detail: str = ""
    link: str = ""


@dataclass(frozen=True, kw_only=True)
class RowHead(Generic[RowT]):
    """The first column: each row's label, small words beside it, and the evidence behind it.

    The reasons why numbers are no results stand in small words as well, unless the row is a
    stand-in's.
    """

    label: Callable[[RowT], str]
    small: Callable[[RowT], str] = lambda row: ""
    link: Callable[[RowT], str] = lambda row: ""
    evidence: Callable[[RowT], Evidence] | None = None
    is_mean: Callable[[RowT], bool] = lambda row: False


def tabulate(
    caption: str,
    corner: str,
    head: RowHead[RowT],
    columns: Sequence[TableColumn[RowT]],
    bodies: Mapping[str, Iterable[RowT]],
) -> Table:
    """A table of rows; `bodies` are rows that belong together, by the label above them."""
    groups = group_heads(
        (column.group, Head(column.label, column.detail, column.link)) for column in columns
    )
    lines = {label: [_line(head, columns, row) for row in rows] for label, rows in bodies.items()}
    return Table(caption, corner, groups, [Body(*body) for body in lines.items()])


def group_heads(heads: Iterable[tuple[str, Head]]) -> list[Group]:
    """Groups of neighbouring headings, each given with the label that it shares with others."""
    return [
        Group(label, [head for _, head in grouped])
        for label, grouped in groupby(heads, key=itemgetter(0))
    ]


def _line(head: RowHead[RowT], columns: Sequence[TableColumn[RowT]], row: RowT) -> Line:
    evidence = head.evidence(row) if head.evidence else None
    cells = [
        mark_trial(column.cell(row), evidence.firmness)
        if evidence and column.ranked
        else column.cell(row)
        for column in columns
    ]
    reasons = () if evidence is None or evidence.is_stand_in else evidence.reasons
    return Line(
        head.label(row),
        cells,
        ", ".join(dict.fromkeys(filter(None, (*reasons, head.small(row))))),
        head.link(row),
        kind="mean" if head.is_mean(row) else "",
    )
