"""Sheets that people fill in: CSV files beside those that this project writes."""

from collections.abc import Callable, Collection, Iterator, Sequence

from upath import UPath

from resources.storage.files import list_folder
from resources.user_files.reader import read_rows
from resources.user_files.rows import Row, TableFormat, UserFileError

_SPREADSHEETS = (".xls", ".xlsx", ".ods", ".numbers")


def find_filled_files(
    folder: UPath, is_ours: Callable[[str], bool], suffixes: Collection[str] = (".csv",)
) -> list[UPath]:
    """The files of a folder that people have filled in, in the order of their names.

    Files whose name `is_ours` are left out: this project writes them. Raises `UserFileError` for a
    spreadsheet.
    """
    files = []
    for path in list_folder(folder):
        if path.name.startswith((".", "~")) or is_ours(path.name):
            continue
        if path.suffix.lower() in _SPREADSHEETS:
            raise UserFileError(f"{path} is a spreadsheet. Save it as CSV (UTF-8).")
        if path.suffix.lower() in suffixes:
            files.append(path)
    return files


def read_sheet(path: UPath, columns: Sequence[str]) -> Iterator[Row]:
    """The rows of a CSV with `columns`, and maybe others. Raises `UserFileError`.

    Cells are stripped, and lose the apostrophe that guards against formulas.
    """
    return read_rows(path, TableFormat(columns=columns, is_sheet=True), (".csv",))
