"""CSV sheets that people fill in."""

import csv
import io
from collections.abc import Callable, Collection, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from resources.spreadsheets import unguarded

_SPREADSHEETS = (".xls", ".xlsx", ".ods", ".numbers")


class BadReview(ValueError):
    """A file of a review that cannot be followed; the message names file, line and remedy."""


class Line(NamedTuple):
    """A line of a sheet below its heads."""

    number: int
    """Where it ends in the file, from 1."""
    cells: Mapping[str, str]
    """By column, without the space around them and the apostrophe before what is no formula."""


def text_of(path: Path, kind: str) -> str:
    """The text of a file of a review; `kind` is what it is to be saved as, as in "CSV".

    Raises `BadReview`, or FileNotFoundError.
    """
    try:
        return path.read_bytes().decode("utf-8-sig")
    except FileNotFoundError:
        if path.is_symlink():
            raise BadReview(
                f"{path} is a link to {path.readlink()}, which is not there. Restore that file, or "
                "remove the link."
            ) from None
        raise
    except UnicodeDecodeError as error:
        raise BadReview(
            f"{path} is not UTF-8 text (byte {error.start}). Save it as {kind} with UTF-8, not as "
            "a spreadsheet."
        ) from None
    except OSError as error:
        raise BadReview(
            f"{path} cannot be read ({error.strerror}). Make it a file that you may read."
        ) from None


def filled_files(
    folder: Path, is_ours: Callable[[str], bool], suffixes: Collection[str] = (".csv",)
) -> list[Path]:
    """The files of a folder that people have filled in, in the order of their names.

    Not those whose name `is_ours`: these are written for people. Raises `BadReview` for a
    spreadsheet.
    """
    files = []
    for path in sorted(folder.iterdir()) if folder.is_dir() else ():
        if path.name.startswith((".", "~")) or is_ours(path.name):
            continue
        if path.suffix.lower() in _SPREADSHEETS:
            raise BadReview(f"{path} is a spreadsheet, which is not read. Save it as CSV (UTF-8).")
        if path.suffix.lower() in suffixes:
            files.append(path)
    return files


def lines_of(path: Path, columns: Sequence[str]) -> list[Line]:
    """The lines of a CSV that has `columns`, and maybe others beside them.

    Raises `BadReview`, or FileNotFoundError.
    """
    lines: list[Line] = []
    reader = csv.DictReader(io.StringIO(text_of(path, "CSV"), newline=""), strict=True)
    try:
        missing = [name for name in columns if name not in (reader.fieldnames or ())]
        if missing:
            raise BadReview(
                f"{path}, line 1: no column {', '.join(missing)}. The first line has to name "
                f"{', '.join(columns)}, separated by commas; others may stand beside them."
            )
        for name in columns:
            if list(reader.fieldnames or ()).count(name) > 1:
                raise BadReview(f"{path}, line 1: column {name} stands there twice. Keep one.")
        for row in reader:
            if None in row or None in row.values():
                raise BadReview(
                    f"{path}, line {reader.line_num}: it has {'more' if None in row else 'fewer'} "
                    'cells than line 1 has names. Put cells that hold commas in "quotes".'
                )
            cells = {name: unguarded(cell.strip()) for name, cell in row.items()}
            lines.append(Line(reader.line_num, cells))
    except csv.Error as error:
        raise BadReview(
            f"{path}, line {reader.line_num}: this is no CSV ({error}). Separate cells by commas, "
            'and put those that hold commas or quotes in "quotes".'
        ) from None
    return lines
