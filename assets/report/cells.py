"""Tables of text cells, which a single template prints."""

import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Literal, NamedTuple

import pandas as pd

from assets.report.formats import (
    NONE,
    Rate,
    Shares,
    format_count,
    format_interval,
    format_percent,
    format_points,
    format_score,
    format_score_interval,
    format_signed,
    hide_wide_share,
)
from metrics.statistics.firmness import Firmness

MARK = "Trial"
"""The mark beside a number that is not ranked."""
_NO_NUMBERS: Mapping[str, float] = {}


class Fill(NamedTuple):
    """A way to fill an empty cell: its price in a few words, more about it, and the command."""

    price: str
    details: str
    command: str


class Cell(NamedTuple):
    """A value, its interval or whatever else stands below it, and what a reader must know of it.

    `numbers` are what a CSV holds in its place: the value itself under "", on which the column is
    sorted, and others by the name that is added to the column's. `heat` colours the cell, from 0
    to 1, or from −1 in another colour; one that is `framed` stands out without colour as well.
    `link` is where the value leads, `mark` a word beside it that nobody may miss, `hover` is more
    about it, for whoever rests on it, and `fill` is what would fill it.
    """

    text: str
    detail: str = ""
    note: str = ""
    numbers: Mapping[str, float] = _NO_NUMBERS
    change: str = ""
    bar: Shares | None = None
    heat: float | None = None
    framed: bool = False
    link: str = ""
    mark: str = ""
    hover: str = ""
    fill: Fill | None = None


class Head(NamedTuple):
    """A column's heading, what stands below it, and where it leads, if anywhere."""

    label: str
    detail: str = ""
    link: str = ""


class Line(NamedTuple):
    """A row: its heading, what is said of it in small letters, and where it leads, if anywhere."""

    label: str
    cells: Sequence[Cell]
    small: str = ""
    link: str = ""
    title: str = ""
    kind: Literal["", "mean"] = ""


class Body(NamedTuple):
    """Rows that belong together; the label is printed where there are several bodies."""

    label: str
    lines: Sequence[Line]


class Group(NamedTuple):
    """Columns under one heading; a group without a heading has an empty label."""

    label: str
    heads: Sequence[Head]


class Table(NamedTuple):
    """A table with its caption, and what its first column is about."""

    caption: str
    corner: str
    groups: Sequence[Group]
    bodies: Sequence[Body]

    @classmethod
    def plain(
        cls, caption: str, corner: str, heads: Iterable[str | Head], lines: Sequence[Line]
    ) -> "Table":
        """A table without groups, of columns or of rows."""
        return cls.build(caption, corner, heads, [Body("", lines)])

    @classmethod
    def build(
        cls, caption: str, corner: str, heads: Iterable[str | Head], bodies: Sequence[Body]
    ) -> "Table":
        """A table without groups of columns."""
        columns = [Head(head) if isinstance(head, str) else head for head in heads]
        return cls(caption, corner, [Group("", columns)], bodies)

    @property
    def lines(self) -> Iterator[Line]:
        """The rows of all bodies."""
        return (line for body in self.bodies for line in body.lines)

    @property
    def width(self) -> int:
        """Number of columns, the first one as well."""
        return 1 + sum(len(group.heads) for group in self.groups)

    @property
    def empty(self) -> bool:
        """True without any line."""
        return next(self.lines, None) is None

    @property
    def slug(self) -> str:
        """The caption as a file's name."""
        plain = unicodedata.normalize("NFKD", self.caption).encode("ascii", "ignore").decode()
        return re.sub(r"[^a-z0-9]+", "-", plain.lower()).strip("-")


def share_cell(rate: Rate) -> Cell:
    """`71.6 %` with its interval, if that says anything."""
    rate = hide_wide_share(rate)
    return _noted_cell(rate, format_percent(rate.value), format_interval(rate))


def mean_cell(rate: Rate, places: int = 2) -> Cell:
    """`0.63` with its interval."""
    return _noted_cell(rate, format_score(rate.value, places), format_score_interval(rate, places))


def margin_cell(rate: Rate) -> Cell:
    """`0.187` with its interval, as Table 1 has it."""
    return mean_cell(rate, 3)


def points_cell(rate: Rate) -> Cell:
    """A difference of shares in percentage points: `+2.7 [−1.0, 6.3]`."""
    value, _, interval_text = format_points(rate).partition(" ")
    return _noted_cell(rate, value, interval_text)


def change_cell(rate: Rate) -> Cell:
    """A change as a share of what was before: `+27.3 %` with its interval."""
    cell = points_cell(rate)
    return cell if rate.value is None else cell._replace(text=f"{cell.text}\u00a0%")


def mark_trial(cell: Cell, firmness: Firmness) -> Cell:
    """The cell of a number that is no result: marked, and sorted below all results."""
    if firmness != "trial":
        return cell
    numbers = {f"trial {name}".strip(): value for name, value in cell.numbers.items()}
    return cell._replace(numbers=numbers, mark=MARK if cell.numbers else "")


def add_change(cell: Cell, change: Rate) -> Cell:
    """The cell of a share, and its change in percentage points below it: `+12.5`."""
    if change.value is None:
        return cell
    changes = {"change": change.value, "change, low": change.low, "change, high": change.high}
    numbers = {name: number for name, number in changes.items() if number is not None}
    return cell._replace(
        change=format_signed(100 * change.value), numbers={**cell.numbers, **numbers}
    )


def number_cell(value: int, note: str = "") -> Cell:
    """`1,029`."""
    return Cell(format_count(value), note=note, numbers={"": value})


def part_cell(count_in_part: int, total: int, note: str = "") -> Cell:
    """`12 of 40`, with the share below; a dash where the total is 0."""
    if not total:
        return Cell(NONE, note=note)
    numbers = {"": count_in_part, "of": total}
    return Cell(
        f"{format_count(count_in_part)} of {format_count(total)}",
        format_percent(count_in_part / total),
        note,
        numbers,
    )


def count_rows(mask: "pd.Series[bool]", note: str = "") -> Cell:
    """`12 of 40`: the rows for which a mask is true."""
    return part_cell(int(mask.sum()), len(mask), note)


def rate_numbers(rate: Rate) -> dict[str, float]:
    """The numbers of a rate that there are: the value, its interval, and what it changed by."""
    change = rate.change.value if rate.change else None
    bar = {"right": rate.bar.right, "wrong as expected": rate.bar.biased} if rate.bar else {}
    numbers = {"": rate.value, "low": rate.low, "high": rate.high, "change": change, **bar}
    return {name: value for name, value in numbers.items() if value is not None}


def _noted_cell(rate: Rate, text: str, detail: str) -> Cell:
    return Cell(NONE if rate.value is None else text, detail, rate.note, rate_numbers(rate))
