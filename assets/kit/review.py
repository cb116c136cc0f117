"""Reviews by people: a sheet to fill in, for pictures a page that fills it in, and their reading.

A review file is a CSV with at least the columns image (the sha256), verdict (one of a few words, or
empty where nobody has decided) and reason; where not pictures are reviewed, another column names
them. It is written by hand or saved from the page, and lies below the data root in `reviews`. The
page needs no server and nothing from elsewhere.
"""

import os
from collections.abc import Mapping, Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias
from urllib.parse import quote

from dagster import get_dagster_logger
from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup
from upath import UPath

from assets.kit.content_policy import content_policy
from assets.kit.sheets import BadReview, Line, lines_of
from resources.atomic_writes import is_remote, write_new, write_whole
from resources.home import Home
from resources.images import ImageStore
from resources.spreadsheets import csv_of

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
    """What a person decided about a picture."""

    word: str
    reason: str
    line: int
    """Where it stands in the file."""


Verdicts: TypeAlias = Mapping[str, Verdict]
"""By sha256; pictures on which nobody has decided are not in it."""


class Reviewed(NamedTuple):
    """A picture as people review it."""

    image: str
    """Its sha256."""
    cells: Mapping[str, Any]
    """Its further cells in the sheet."""
    title: str
    sentence: str
    """What is decided on."""
    notes: Sequence[str] = ()


def review_file(home: Home, name: str) -> Path:
    """Where the verdicts of a review are read from."""
    return Path(home.root) / "reviews" / f"{name}.csv"


def review_page(file: Path) -> Path:
    """The page that fills in a review file."""
    return file.with_name(f"{file.stem}-to-review.html")


def read_verdicts(path: Path, of: str = IMAGE) -> Verdicts:
    """The verdicts in a file, each one of `WORDS`; none where it is not there.

    `of` is the column that names what is reviewed. Raises `BadReview`.
    """
    verdicts: dict[str, Verdict] = {}
    try:
        lines = lines_of(path, _columns(of))
    except FileNotFoundError:
        return verdicts
    for line in lines:
        _take(line, path, of, verdicts)
    return verdicts


def _columns(of: str) -> tuple[str, str, str]:
    return of, "verdict", "reason"


def _take(line: Line, path: Path, of: str, verdicts: dict[str, Verdict]) -> None:
    """Add what one line says, if anything, to `verdicts`."""
    name, word, reason = (line.cells[column] for column in _columns(of))
    if not word:
        return
    if word not in WORDS:
        raise BadReview(
            f"{path}, line {line.number}: the verdict is {word!r}. Write {' or '.join(WORDS)}, or "
            "nothing where you have not decided."
        )
    if name in verdicts:
        what = "picture" if of == IMAGE else of
        raise BadReview(
            f"{path}, line {line.number}: the {what} {name} has a verdict on line "
            f"{verdicts[name].line} already. Keep one of the two."
        )
    verdicts[name] = Verdict(word, reason, line.number)


def write_review(
    file: Path,
    title: str,
    explanation: str,
    pictures: Sequence[Reviewed],
    verdicts: Verdicts,
    images: ImageStore,
) -> Path:
    """Write the sheet and the page of a review, beside its file, and give the page's path.

    Both keep the verdicts that were given already. A word is chosen by the key of its first letter.
    A sheet that somebody has filled in itself is put aside, and stays.
    """
    page = review_page(file)
    lines = write_sheet(file, [(each.image, each.cells) for each in pictures], verdicts)
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
        pictures=[
            (each, line, _source(images, each.image, file.parent))
            for each, line in zip(pictures, lines, strict=True)
        ],
    )
    write_whole(UPath(page), written.encode())
    return page


def review_sheet(file: Path) -> Path:
    """The sheet that is filled in and saved as a review file."""
    return review_page(file).with_suffix(".csv")


def write_sheet(
    file: Path,
    things: Sequence[tuple[str, Mapping[str, Any]]],
    verdicts: Verdicts,
    of: str = IMAGE,
) -> list[dict[str, Any]]:
    """Write the sheet of a review, and give its lines: each thing's name, and its further cells.

    A sheet that somebody has filled in itself is put aside, and stays.
    """
    columns = [*_columns(of), *(things[0][1] if things else ())]
    lines = [
        {
            of: name,
            "verdict": verdicts[name].word if name in verdicts else "",
            "reason": verdicts[name].reason if name in verdicts else "",
            **cells,
        }
        for name, cells in things
    ]
    _put_aside_filled(review_sheet(file), file, verdicts, of)
    write_whole(UPath(review_sheet(file)), csv_of(columns, lines).encode())
    return lines


def _put_aside_filled(sheet: Path, file: Path, verdicts: Verdicts, of: str) -> None:
    """Give a sheet another name that says something which the review file does not."""
    columns = _columns(of)
    try:
        said = {tuple(line.cells[name] for name in columns) for line in lines_of(sheet, columns)}
    except FileNotFoundError:
        return
    except BadReview:
        said = {("", "unreadable", "")}
    known = {(name, verdict.word, verdict.reason) for name, verdict in verdicts.items()}
    if all(each in known for each in said if each[1] or each[2]):
        return
    digest = sha256(sheet.read_bytes()).hexdigest()[:8]
    aside = sheet.replace(sheet.with_name(f"{sheet.stem}-filled-{digest}.csv"))
    get_dagster_logger().warning(
        "%s says what %s does not. It is written anew each time, and was put aside as "
        "%s: to have that count, save it as %s and materialize again.",
        *(sheet, file, aside, file),
    )


def _source(images: ImageStore, digest: str, folder: Path) -> str:
    """The picture's address on the page; one that lies elsewhere gets a copy beside the page."""
    path = images.path(digest)
    if is_remote(path):
        path = UPath(folder) / "images" / f"{digest}.png"
        if not path.exists():
            write_new(path, images.get(digest))
    return quote(os.path.relpath(path.path, folder))
