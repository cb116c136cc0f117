"""Reviews by people: the sheet, a page for reviewing pictures, and the parsing of verdicts.

A review file is a CSV with at least the columns image (the sha256), verdict (one of a few words, or
empty where nobody has decided) and reason; where not pictures are reviewed, another column names
them. It is written by hand or saved from the page, and lies below the data root in `reviews`. The
page needs no server and nothing from elsewhere.
"""

import os
from collections.abc import Iterator, Mapping, Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any, Literal, NamedTuple, TypeAlias
from urllib.parse import quote

from dagster import get_dagster_logger
from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup
from upath import UPath

from assets.kit.content_policy import content_policy
from assets.kit.picture_copies import format_picture_name, place_pictures
from assets.kit.sheets import read_sheet
from resources.storage.atomic_writes import is_remote, to_local_path, write_atomically
from resources.storage.data_root import DataRoot
from resources.storage.files import is_stored, read_file
from resources.storage.image_store import ImageStore
from resources.user_files.rows import BadRow, Row, RowCells, UserFileError, build_all, to_cells
from resources.user_files.spreadsheets import format_csv

IMAGE = "image"
ACCEPT, REJECT = WORDS = ("accept", "reject")

_environment = Environment(
    loader=PackageLoader("assets.kit", ""),
    autoescape=True,
    undefined=StrictUndefined,
    trim_blocks=True,
    lstrip_blocks=True,
)

_STYLE, _SCRIPT = (
    Path(__file__).with_name(name).read_text("utf-8") for name in ("review.css", "review.js")
)


class Verdict(NamedTuple):
    """Decision of a person about a picture."""

    decision: str
    reason: str
    place: str
    """Its place in the file, as in "line 8"."""


Verdicts: TypeAlias = Mapping[str, Verdict]
"""Verdicts by sha256, without pictures that await a decision."""


class _VerdictCells(RowCells):
    verdict: Literal["", "accept", "reject"]
    reason: str


class ReviewItem(NamedTuple):
    """A picture as people review it."""

    image: str
    """Its sha256."""
    cells: Mapping[str, Any]
    """Its further cells in the sheet."""
    title: str
    sentence: str
    """Sentence that people decide on."""
    notes: Sequence[str] = ()


def review_file(home: DataRoot, name: str) -> UPath:
    """Return the path of a review's verdicts."""
    return home.path("reviews", f"{name}.csv")


def review_page(file: UPath) -> UPath:
    """The page that fills in a review file."""
    return file.with_name(f"{file.stem}-to-review.html")


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
            verdicts[name] = Verdict(cells.verdict, cells.reason, row.place)

    if is_stored(path):
        build_all(path, read_sheet(path, _columns(subject_column)), add)
    return verdicts


def _columns(subject_column: str) -> tuple[str, str, str]:
    return subject_column, "verdict", "reason"


def write_review(
    file: UPath,
    title: str,
    explanation: str,
    pictures: Sequence[ReviewItem],
    verdicts: Verdicts,
    images: ImageStore,
) -> UPath:
    """Write the sheet and the page of a review, beside its file, and give the page's path.

    Both keep the verdicts that were given already. A word is chosen by the key of its first letter.
    A sheet that somebody has filled in itself is put aside, and stays.
    """
    page = review_page(file)
    lines = write_sheet(file, [(picture.image, picture.cells) for picture in pictures], verdicts)
    columns = [*_columns(IMAGE), *(pictures[0].cells if pictures else ())]
    written = _environment.get_template("review.html").render(
        policy=content_policy([_STYLE], [_SCRIPT]),
        style=Markup(_STYLE),
        script=Markup(_SCRIPT),
        title=title,
        explanation=explanation,
        file=file,
        columns=columns,
        words=WORDS,
        pictures=list(
            zip(pictures, lines, _find_sources(file.parent, pictures, images), strict=True)
        ),
    )
    write_atomically(page, written.encode())
    return page


def review_sheet(file: UPath) -> UPath:
    """The sheet that is filled in and saved as a review file."""
    return review_page(file).with_suffix(".csv")


def write_sheet(
    file: UPath,
    things: Sequence[tuple[str, Mapping[str, Any]]],
    verdicts: Verdicts,
    subject_column: str = IMAGE,
) -> list[dict[str, Any]]:
    """Write the sheet of a review, and give its lines: each thing's name, and its further cells.

    A sheet that somebody has filled in itself is put aside, and stays.
    """
    columns = [*_columns(subject_column), *(things[0][1] if things else ())]
    lines = [
        {
            subject_column: name,
            "verdict": verdicts[name].decision if name in verdicts else "",
            "reason": verdicts[name].reason if name in verdicts else "",
            **cells,
        }
        for name, cells in things
    ]
    _put_aside_filled(review_sheet(file), file, verdicts, subject_column)
    write_atomically(review_sheet(file), format_csv(columns, lines).encode())
    return lines


def _put_aside_filled(sheet: UPath, file: UPath, verdicts: Verdicts, subject_column: str) -> None:
    """Copy a sheet with verdicts or reasons that the review file does not have."""
    if not is_stored(sheet) or _has_all(verdicts, sheet, subject_column):
        return
    content = read_file(sheet)
    aside = sheet.with_name(f"{sheet.stem}-filled-{sha256(content).hexdigest()[:8]}.csv")
    write_atomically(aside, content)
    get_dagster_logger().warning(
        "%s has decisions that %s lacks. It is rewritten each time, and was set aside as %s: to "
        "use its decisions, save it as %s and materialize again.",
        *(sheet, file, aside, file),
    )


def _has_all(verdicts: Verdicts, sheet: UPath, subject_column: str) -> bool:
    """Return whether `verdicts` has all of a sheet's; False if the sheet cannot be read."""
    decisions = {(name, verdict.decision, verdict.reason) for name, verdict in verdicts.items()}
    try:
        rows = list(read_sheet(sheet, _columns(subject_column)))
    except UserFileError:
        return False
    for row in rows:
        name, word, reason = (row.cells.get(column) for column in _columns(subject_column))
        if row.problem is not None or ((word or reason) and (name, word, reason) not in decisions):
            return False
    return True


def _find_sources(
    folder: UPath, pictures: Sequence[ReviewItem], images: ImageStore
) -> Iterator[str]:
    """The pictures' addresses on the page; where folder or store is remote, of copies beside it."""
    if is_remote(folder) or is_remote(UPath(images.root)):
        place_pictures(folder, (picture.image for picture in pictures), images)
        yield from (format_picture_name(picture.image) for picture in pictures)
        return
    for picture in pictures:
        yield quote(os.path.relpath(images.path(picture.image).path, to_local_path(folder)))
