"""Verdicts in a CSV: the columns of what is reviewed, verdict (or empty) and reason."""

from collections.abc import Mapping
from typing import Literal, NamedTuple, TypeAlias
from unicodedata import normalize

from upath import UPath

from assets.kit.review_forms import IMAGE, REASON, VERDICT
from assets.kit.sheets import find_filled_files, read_sheet
from resources.storage.files import is_stored
from resources.user_files.rows import BadRow, Row, RowCells, UserFileError, build_all, to_cells


class Verdict(NamedTuple):
    """Decision of a person about a picture."""

    decision: str
    reason: str
    place: str
    """Its place in the file, as in "line 8"."""
    annotator: str = ""
    """Who decided, where the file says so."""


Verdicts: TypeAlias = Mapping[str, Verdict]
"""Verdicts by sha256, without pictures that await a decision."""
Panel: TypeAlias = Mapping[str, Verdicts]
"""Verdicts of each annotator, by annotator."""
PANEL_SHEET = "sheet"
"""Begins the names of the sheets in a panel's folder, which are nobody's."""


class _VerdictCells(RowCells):
    verdict: Literal["", "accept", "reject"]
    reason: str
    annotator: str = ""


def read_verdicts(path: UPath, subject_column: str = IMAGE) -> Verdicts:
    """The verdicts in a file, each one of `WORDS`; none where it is not there.

    `subject_column` names what is reviewed. Raises `UserFileError`.
    """
    verdicts: dict[str, Verdict] = {}

    def add(row: Row) -> None:
        cells = to_cells(row, _VerdictCells)
        name = row.cells[subject_column]
        if cells.verdict and name in verdicts:
            place = verdicts[name].place
            raise BadRow(
                f"{subject_column} {name} has a verdict on {place} already: keep one of the two"
            )
        if cells.verdict:
            verdicts[name] = Verdict(cells.verdict, cells.reason, row.place, cells.annotator)

    if is_stored(path):
        build_all(path, read_sheet(path, verdict_columns(subject_column)), add)
    return verdicts


def read_panel(folder: UPath, subject_column: str) -> Panel:
    """Read all annotators' verdicts by file name; `subject_column` names the reviewed items.

    Names that differ in how an é is stored, or in capitals alone, are one person's. Raises
    `UserFileError`.
    """
    panel: dict[str, Verdicts] = {}
    names: dict[str, UPath] = {}
    for path in panel_files(folder):
        name = normalize("NFC", path.stem)
        first = names.setdefault(name.casefold(), path)
        if first != path:
            raise UserFileError(f"{path} and {first} have the same annotator. Keep one of them.")
        panel[name] = read_verdicts(path, subject_column=subject_column)
    return panel


def panel_files(folder: UPath) -> list[UPath]:
    """The files of annotators. Raises `UserFileError` for a spreadsheet among them."""
    return find_filled_files(folder, lambda name: name.startswith(f"{PANEL_SHEET}-"))


def verdict_columns(subject_column: str) -> tuple[str, str, str]:
    """Columns that a file of verdicts must have."""
    return subject_column, VERDICT, REASON
