"""CSV files that a spreadsheet program opens as text: none of their cells is run as a formula.

A cell that begins as a formula does gets an apostrophe before it, as spreadsheet programs mark text
themselves; `unguard_cell` takes it away again, so that what is written is what is read.
"""

import csv
import io
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

_FORMULA = re.compile(r"'*[=+\-@\t\r\n＝＋－＠]")
_NUMBER = re.compile(r"[+-]?\d+(\.\d+)?([eE][+-]?\d+)?")


def format_csv(columns: Sequence[str], rows: Iterable[Mapping[str, Any]]) -> str:
    """A CSV of rows by column, with a head; a missing or null value is an empty cell."""
    text = io.StringIO()
    writer = csv.writer(text)
    writer.writerow(guard_cell(column) for column in columns)
    for row in rows:
        cells = (row.get(column) for column in columns)
        writer.writerow("" if cell is None else guard_cell(str(cell)) for cell in cells)
    return text.getvalue()


def guard_cell(cell: str) -> str:
    """A cell that no spreadsheet program runs; numbers stay as they are, negative ones too."""
    return f"'{cell}" if _FORMULA.match(cell) and not _NUMBER.fullmatch(cell) else cell


def unguard_cell(cell: str) -> str:
    """Undo `guard_cell`."""
    return cell[1:] if cell.startswith("'") and _FORMULA.match(cell) else cell


def guard_sheet(sheet: bytes) -> bytes:
    """A CSV of somebody else's with its cells guarded; the same bytes where all are harmless.

    Raises ValueError where it is no UTF-8 text, or no CSV.
    """
    text = sheet.decode("utf-8-sig")
    try:
        lines = list(csv.reader(io.StringIO(text, newline="")))
    except csv.Error as error:
        raise ValueError(f"it is no CSV ({error})") from None
    safe = [[guard_cell(unguard_cell(cell)) for cell in line] for line in lines]
    if safe == lines:
        return sheet
    written = io.StringIO()
    csv.writer(written).writerows(safe)
    return written.getvalue().encode()
