"""Edits of a CSV of answers that keep every other cell of it as it is."""

import csv
import io
from collections.abc import Iterable, Iterator, Mapping, Sequence

from resources.user_files.spreadsheets import guard_cell, unguard_cell

Cells = Mapping[str, str]
_MARK = "\ufeff"


def read_columns(content: bytes) -> list[str]:
    """The names of a CSV's columns."""
    return next(_iterate_lines(content), [])


def format_line(columns: Sequence[str], cells: Cells) -> bytes:
    """One line of a CSV with these cells by column; a column without a cell is empty."""
    return _format_lines([[guard_cell(cells.get(column, "")) for column in columns]]).encode()


def append_line(content: bytes, line: bytes) -> bytes:
    """A CSV with one more line, on a line of its own."""
    return content + (b"" if content.endswith((b"\n", b"\r")) else b"\r\n") + line


def has_row(content: bytes, key: Cells) -> bool:
    """True where a row of a CSV has the cells of `key`."""
    columns, *lines = _iterate_lines(content)
    return any(_has(columns, line, key) for line in lines)


def add_column(content: bytes, column: str) -> bytes:
    """A CSV with one more, empty column, unless it has it."""
    head, *lines = _iterate_lines(content)
    if column in head:
        return content
    return _join(content, [[*head, column], *([*line, ""] for line in lines)])


def update_row(content: bytes, key: Cells, cells: Cells | None) -> bytes:
    """A CSV whose last row with the cells of `key` has these further cells; None removes it."""
    columns, *lines = _iterate_lines(content)
    matches = [number for number, line in enumerate(lines) if _has(columns, line, key)]
    for number in matches[-1:]:
        row = dict(zip(columns, lines[number], strict=True))
        if cells is None:
            del lines[number]
        else:
            row |= {name: guard_cell(cell) for name, cell in cells.items() if name in row}
            lines[number] = [row[column] for column in columns]
    return _join(content, [columns, *lines])


def split_rows(content: bytes, keys: Sequence[Cells]) -> tuple[bytes, bytes]:
    """A CSV without the rows that have the cells of a key, and these rows alone, without a head."""
    columns, *lines = _iterate_lines(content)
    moved = [line for line in lines if any(_has(columns, line, key) for key in keys)]
    rest = [line for line in lines if line not in moved]
    return _join(content, [columns, *rest]), _format_lines(moved).encode()


def _has(columns: Sequence[str], line: Sequence[str], key: Cells) -> bool:
    cells = dict(zip(columns, line, strict=True))
    return all(unguard_cell(cells.get(name, "").strip()) == cell for name, cell in key.items())


def _iterate_lines(content: bytes) -> Iterator[list[str]]:
    text = content.decode().removeprefix(_MARK)
    return (line for line in csv.reader(io.StringIO(text, newline=""), strict=True) if line)


def _join(content: bytes, lines: Iterable[Sequence[str]]) -> bytes:
    mark = _MARK if content.startswith(_MARK.encode()) else ""
    return (mark + _format_lines(lines)).encode()


def _format_lines(lines: Iterable[Sequence[str]]) -> str:
    text = io.StringIO()
    csv.writer(text).writerows(lines)
    return text.getvalue()
