"""The tables of a site as CSV files beside its pages, and those of papers as CSV files here."""

import csv
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

from assets.report.cells import Line, Table
from resources.user_files.spreadsheets import format_csv


def read_csv_rows(file: Path, **values: str) -> Sequence[Mapping[str, str]]:
    """The rows of a CSV file in the project, such as a paper's numbers, that have some values."""
    return [row for row in _read_csv(file) if all(row[name] == values[name] for name in values)]


@cache
def _read_csv(file: Path) -> Sequence[Mapping[str, str]]:
    with file.open(encoding="utf-8", newline="") as text:
        return list(csv.DictReader(text))


@dataclass(frozen=True)
class CsvFiles:
    """The CSV files of one page, each written for a table that the page prints."""

    page: str
    texts: dict[str, str] = field(default_factory=dict)

    def add(self, table: Table) -> str:
        """Keep the CSV of a table, and return its path in the site.

        Raises ValueError where another table of the page has the same caption.
        """
        stem = self.page.removesuffix(".html")
        path = f"tables/{table.slug if stem == 'index' else f'{stem}-{table.slug}'}.csv"
        if path in self.texts:
            raise ValueError(f"{self.page}: two tables are called {table.caption!r}. Rename one.")
        self.texts[path] = csv_text(table)
        return path


def csv_text(table: Table) -> str:
    """A table as CSV: plain numbers, shares as fractions from 0 to 1, one line of headings.

    A column with several numbers per cell (an interval, a change) becomes as many columns, and
    notes get a column of their own. A first column names the group of rows if there are several.
    """
    parts = _parts(table)
    several = len(table.bodies) > 1
    columns = [*(["Group"] if several else []), table.corner]
    columns += [_heading(head, part) for head, names in parts.items() for part in names]
    rows = [
        {"Group": body.label, table.corner: line.label, **_cells(list(parts), line)}
        for body in table.bodies
        for line in body.lines
    ]
    return format_csv(columns, rows)


def _parts(table: Table) -> dict[str, dict[str, None]]:
    """Find by heading the names of all numbers that some cell below it holds."""
    parts: dict[str, dict[str, None]] = {
        f"{group.label}: {head.label}" if group.label else head.label: {"": None}
        for group in table.groups
        for head in group.heads
    }
    for line in table.lines:
        for head, cell in zip(parts, line.cells, strict=True):
            parts[head] |= dict.fromkeys(cell.numbers)
            if cell.numbers and (cell.note or cell.hover):
                parts[head] |= {"note": None}
    return parts


def _cells(heads: list[str], line: Line) -> dict[str, str | float]:
    row: dict[str, str | float] = {}
    for head, cell in zip(heads, line.cells, strict=True):
        row |= {_heading(head, part): round(value, 6) for part, value in cell.numbers.items()}
        if not cell.numbers:
            row[head] = cell.note or cell.text
        elif cell.note or cell.hover:
            row[_heading(head, "note")] = "; ".join(filter(None, (cell.hover, cell.note)))
    return row


def _heading(head: str, part: str) -> str:
    return f"{head}, {part}" if part else head
