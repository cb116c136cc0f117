"""Reviews of pictures by people: a sheet to fill in, a page that fills it in, and its reading.

A review file is a CSV with at least the columns image (the sha256), verdict (one of a few words, or
empty where nobody has decided) and reason. It is written by hand or saved from the page, and lies
below the data root in `reviews`. The page needs no server and nothing from elsewhere.
"""

import os
from collections.abc import Mapping, Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias
from urllib.parse import quote

from dagster import get_dagster_logger
from jinja2 import Environment, PackageLoader, StrictUndefined
from upath import UPath

from assets.kit.sheets import BadReview, Line, lines_of
from resources.atomic import is_remote, write_new, write_whole
from resources.home import Home
from resources.images import ImageStore
from resources.spreadsheets import csv_of

COLUMNS = ("image", "verdict", "reason")
ACCEPT, REJECT = WORDS = ("accept", "reject")

_environment = Environment(
    loader=PackageLoader("assets.kit", ""),
    autoescape=True,
    undefined=StrictUndefined,
    trim_blocks=True,
    lstrip_blocks=True,
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


def read_verdicts(path: Path, words: Sequence[str] = WORDS) -> Verdicts:
    """The verdicts in a file, each one of `words`; none where it is not there.

    Raises `BadReview`.
    """
    verdicts: dict[str, Verdict] = {}
    try:
        lines = lines_of(path, COLUMNS)
    except FileNotFoundError:
        return verdicts
    for line in lines:
        _take(line, path, words, verdicts)
    return verdicts


def _take(line: Line, path: Path, words: Sequence[str], verdicts: dict[str, Verdict]) -> None:
    """Add what one line says, if anything, to `verdicts`."""
    image, word, reason = (line.cells[name] for name in COLUMNS)
    if not word:
        return
    if word not in words:
        raise BadReview(
            f"{path}, line {line.number}: the verdict is {word!r}. Write {' or '.join(words)}, or "
            "nothing where you have not decided."
        )
    if image in verdicts:
        raise BadReview(
            f"{path}, line {line.number}: the picture {image} has a verdict on line "
            f"{verdicts[image].line} already. Keep one of the two."
        )
    verdicts[image] = Verdict(word, reason, line.number)


def write_review(
    file: Path,
    title: str,
    explanation: str,
    pictures: Sequence[Reviewed],
    verdicts: Verdicts,
    images: ImageStore,
    words: Sequence[str] = WORDS,
) -> Path:
    """Write the sheet and the page of a review, beside its file, and give the page's path.

    Both keep the verdicts that were given already. A word is chosen by the key of its first letter.
    A sheet that somebody has filled in itself is put aside, and stays.
    """
    page = review_page(file)
    columns = [*COLUMNS, *(pictures[0].cells if pictures else ())]
    lines = [
        {
            "image": each.image,
            "verdict": verdicts[each.image].word if each.image in verdicts else "",
            "reason": verdicts[each.image].reason if each.image in verdicts else "",
            **each.cells,
        }
        for each in pictures
    ]
    sheet = page.with_suffix(".csv")
    _put_aside_filled(sheet, file, verdicts)
    write_whole(UPath(sheet), csv_of(columns, lines).encode())
    written = _environment.get_template("review.html").render(
        title=title,
        explanation=explanation,
        file=file,
        columns=columns,
        words=words,
        pictures=[
            (each, line, _source(images, each.image, file.parent))
            for each, line in zip(pictures, lines, strict=True)
        ],
    )
    write_whole(UPath(page), written.encode())
    return page


def _put_aside_filled(sheet: Path, file: Path, verdicts: Verdicts) -> None:
    """Give a sheet another name that says something which the review file does not."""
    try:
        cells = [line.cells for line in lines_of(sheet, COLUMNS)]
        said = {(each["image"], each["verdict"], each["reason"]) for each in cells}
    except FileNotFoundError:
        return
    except BadReview:
        said = {("", "unreadable", "")}
    known = {(image, verdict.word, verdict.reason) for image, verdict in verdicts.items()}
    if all(each in known for each in said if each[1] or each[2]):
        return
    digest = sha256(sheet.read_bytes()).hexdigest()[:8]
    aside = sheet.replace(sheet.with_name(f"{sheet.stem}-filled-{digest}.csv"))
    get_dagster_logger().warning(
        "%s says of pictures what %s does not. It is written anew each time, and was put aside as "
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
