"""What people review candidates with: a sheet to fill in, and a page that fills it in for them.

Both lie below the data root in `reviews`, hold the candidates of all painters of a topic, and keep
the verdicts that were given already. The page needs no server and nothing from elsewhere.
"""

import os
from collections.abc import Sequence
from pathlib import Path
from urllib.parse import quote

from jinja2 import Environment, PackageLoader, StrictUndefined
from upath import UPath

from assets.kit.pictures import Row
from assets.vlmbias.photographs.publishing import ambiguous
from assets.vlmbias.photographs.verdicts import Verdicts, review_file
from generators.topics import caption, title
from resources.atomic import is_remote, write_new, write_whole
from resources.home import Home
from resources.images import ImageStore
from resources.spreadsheets import csv_of

_COLUMNS = (
    *("image", "verdict", "reason", "painter", "subject", "variant", "trial", "check"),
    *("sentence", "base_id"),
)

_environment = Environment(
    loader=PackageLoader("assets.vlmbias.photographs", ""),
    autoescape=True,
    undefined=StrictUndefined,
    trim_blocks=True,
    lstrip_blocks=True,
)


def review_page(file: Path) -> Path:
    """The page that fills in a review file."""
    return file.with_name(f"{file.stem}-to-review.html")


def write_review(
    home: Home, images: ImageStore, topic: str, candidates: Sequence[Row], verdicts: Verdicts
) -> Path:
    """Write sheet and page of a topic, and give the page's path.

    A picture that several trials have given stands in them once, and one that is to show several
    things not at all.
    """
    file, unclear = review_file(home, topic), ambiguous(candidates)
    once: dict[str, Row] = {}
    for row in candidates:
        if row["outcome"] == "candidate" and row["sha256"] not in unclear:
            # Of several trials, the one that would be published.
            once.setdefault(row["sha256"], row)
    shown = sorted(
        once.values(),
        key=lambda row: (row["rehearsal"], row["base_id"], row["variant"] != "original"),
    )
    lines = [
        {
            **{column: row.get(column) for column in _COLUMNS},
            "image": row["sha256"],
            "verdict": verdicts[row["sha256"]].word if row["sha256"] in verdicts else "",
            "reason": verdicts[row["sha256"]].reason if row["sha256"] in verdicts else "",
        }
        for row in shown
    ]
    page = review_page(file)
    write_whole(UPath(page.with_suffix(".csv")), csv_of(_COLUMNS, lines).encode())
    written = _environment.get_template("review.html").render(
        title=title(topic),
        file=file,
        columns=_COLUMNS,
        candidates=[
            {
                **line,
                "source": _source(images, line["image"], file.parent),
                "caption": caption(topic, line["subject"]),
                "failed_checks": row["failed_checks"],
                "rehearsal": row["rehearsal"],
            }
            for line, row in zip(lines, shown, strict=True)
        ],
    )
    write_whole(UPath(page), written.encode())
    return page


def _source(images: ImageStore, digest: str, folder: Path) -> str:
    """The picture's address on the page; one that lies elsewhere gets a copy beside the page."""
    path = images.path(digest)
    if is_remote(path):
        path = UPath(folder) / "images" / f"{digest}.png"
        if not path.exists():
            write_new(path, images.get(digest))
    return quote(os.path.relpath(path.path, folder))
