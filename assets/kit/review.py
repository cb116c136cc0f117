"""Reviews by people: the sheet, and a page in a file for reviewing pictures.

A review file is a CSV with at least the columns image (the sha256), verdict (one of a few words, or
empty where nobody has decided) and reason; where not pictures are reviewed, another column names
them. It is written by hand or saved from the page, and lies below the data root in `reviews`. The
page needs no server and nothing from elsewhere.
"""

import os
from collections.abc import Iterator, Mapping, Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any
from urllib.parse import quote

from dagster import get_dagster_logger
from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup
from upath import UPath

from assets.kit.content_policy import content_policy
from assets.kit.picture_copies import format_picture_name, place_pictures
from assets.kit.review_forms import IMAGE, ReviewForm, ReviewItem
from assets.kit.sheets import read_sheet
from assets.kit.verdicts import Verdicts, verdict_columns
from resources.storage.atomic_writes import is_remote, to_local_path, write_atomically
from resources.storage.data_root import DataRoot
from resources.storage.files import is_stored, read_file
from resources.storage.image_store import ImageStore
from resources.user_files.rows import UserFileError
from resources.user_files.spreadsheets import format_csv

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


def review_file(home: DataRoot, name: str) -> UPath:
    """Return the path of a review's verdicts."""
    return home.path("reviews", f"{name}.csv")


def review_page(file: UPath) -> UPath:
    """The page that fills in a review file."""
    return file.with_name(f"{file.stem}-to-review.html")


def write_review(
    file: UPath,
    title: str,
    form: ReviewForm,
    pictures: Sequence[ReviewItem],
    verdicts: Verdicts,
    images: ImageStore,
) -> UPath:
    """Write the sheet and the page of a review, beside its file, and give the page's path.

    Both keep the verdicts that were given already. A word is chosen by the key of its first letter.
    A sheet that somebody has filled in itself is put aside, and stays.
    """
    page = review_page(file)
    lines = write_sheet(file, [(picture.name, picture.cells) for picture in pictures], verdicts)
    columns = [*verdict_columns(IMAGE), *(pictures[0].cells if pictures else ())]
    written = _environment.get_template("review.html").render(
        policy=content_policy([_STYLE], [_SCRIPT]),
        style=Markup(_STYLE),
        script=Markup(_SCRIPT),
        title=title,
        explanation=form.guidelines,
        file=file,
        columns=columns,
        words=[*form.choices],
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
    columns = [*verdict_columns(subject_column), *(things[0][1] if things else ())]
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
        rows = list(read_sheet(sheet, verdict_columns(subject_column)))
    except UserFileError:
        return False
    for row in rows:
        name, word, reason = (row.cells.get(column) for column in verdict_columns(subject_column))
        if row.problem is not None or ((word or reason) and (name, word, reason) not in decisions):
            return False
    return True


def _find_sources(
    folder: UPath, pictures: Sequence[ReviewItem], images: ImageStore
) -> Iterator[str]:
    """The pictures' addresses on the page; where folder or store is remote, of copies beside it."""
    if is_remote(folder) or is_remote(UPath(images.root)):
        place_pictures(folder, (picture.name for picture in pictures), images)
        yield from (format_picture_name(picture.name) for picture in pictures)
        return
    for picture in pictures:
        yield quote(os.path.relpath(images.path(picture.name).path, to_local_path(folder)))
