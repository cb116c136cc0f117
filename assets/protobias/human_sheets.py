"""What people score pictures with: a sheet, and a project for Label Studio.

All of it lies in one folder, with the pictures beside it. Nothing there tells which side a picture
is of: pictures are named by their sha256, stand in an order drawn by seed, and come with the text
alone. The guidelines are those that judges get (Table 6).
"""

import json
import os
import re
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from xml.sax.saxutils import quoteattr

from upath import UPath

from assets.kit.sheets import BadReview, lines_of
from assets.kit.step import Row
from generators.prompts.rating_prompts import judge_prompt
from resources.atomic import is_remote, write_new, write_whole
from resources.home import Home
from resources.images import ImageStore
from resources.spreadsheets import csv_of

COLUMNS = ("image", "text", "file", "score", "annotator")
SHEET, TASKS, CONFIG = "to-score.csv", "label-studio-tasks.json", "label-studio.xml"
GUIDELINES = "guidelines.md"
QUESTION = "score"
"""What Label Studio calls the scores."""


def review_folder(home: Home, painter: str) -> Path:
    """Where a painter's pictures are scored, and filled files are read from."""
    return Path(home.root) / "reviews" / "protobias" / painter


def write_sheets(folder: Path, rows: Sequence[Row], images: ImageStore) -> None:
    """Write sheet, project and guidelines, and lay the pictures beside them.

    Raises `BadReview` where somebody has filled in the sheet itself: it is not written over.
    """
    _require_empty(folder / SHEET)
    (folder / "images").mkdir(parents=True, exist_ok=True)
    for row in rows:
        _lay(folder / _file(row), row["sha256"], images)
    files = {
        SHEET: csv_of(COLUMNS, map(_line, rows)),
        TASKS: json.dumps([_task(folder, row) for row in rows], indent=1, ensure_ascii=False),
        CONFIG: _config(),
        GUIDELINES: _guidelines(),
    }
    for name, text in files.items():
        write_whole(UPath(folder / name), text.encode())


def _require_empty(sheet: Path) -> None:
    with suppress(FileNotFoundError):
        for line in lines_of(sheet, ("image", "score")):
            if line.cells["score"]:
                raise BadReview(
                    f"{sheet}, line {line.number}: it has a score, and this sheet is written anew "
                    "each time. Save it beside it under its annotator's name, as in anna.csv, "
                    f"remove {sheet.name}, and materialize protobias/human_scores again."
                )


def _file(row: Row) -> str:
    return f"images/{row['sha256']}.png"


def _lay(path: Path, digest: str, images: ImageStore) -> None:
    """Put a picture where people look: a link where that can be had, else a copy."""
    if path.exists():
        return
    source = images.path(digest)
    if not is_remote(source):
        with suppress(OSError):
            os.link(source.path, path)
            return
    write_new(UPath(path), images.get(digest))


def _line(row: Row) -> dict[str, str]:
    return {"image": row["sha256"], "text": row["text"], "file": _file(row)}


def _task(folder: Path, row: Row) -> dict[str, dict[str, str]]:
    """A task of Label Studio, whose document root is the folder above the painter's."""
    address = f"/data/local-files/?d={folder.name}/{_file(row)}"
    return {"data": {"image": address, "text": row["text"], "sha256": row["sha256"]}}


def _section(first: str, after: str) -> str:
    """Table 6 from one heading to the next."""
    return judge_prompt("").partition(f"{first}\n")[2].partition(f"{after}\n")[0].strip()


def _config() -> str:
    """The labeling interface; what is exported of a choice is its alias."""
    guide = re.findall(r"- (\d) - (.+)", _section("Rating Guide (1-4):", "Output Format:"))
    choices = "\n".join(
        f'    <Choice alias="{score}" hotkey="{score}" value={quoteattr(f"{score} - {words}")}/>'
        for score, words in guide
    )
    return f"""\
<View>
  <Header value={quoteattr(_section("Task:", "Rules:"))}/>
  <Text name="text" value="$text"/>
  <Image name="image" value="$image"/>
  <Choices name="{QUESTION}" toName="image" choice="single-radio" required="true">
{choices}
  </Choices>
</View>
"""


def _guidelines() -> str:
    """What people are told: what judges are, and where to write it down."""
    task = _section("Task:", "Rules:")
    sections = {
        "Rules": _section("Rules:", "Key Checks:"),
        "Key checks": _section("Key Checks:", "Rating Guide (1-4):"),
        "Rating guide": _section("Rating Guide (1-4):", "Output Format:"),
    }
    told = "\n\n".join(f"## {title}\n\n{words}" for title, words in sections.items())
    return f"""\
# Guidelines

{task}

{told}

## Where to write it down

Copy `{SHEET}` to a file of your name, as in `anna.csv`. Look at the picture in each line's `file`,
read its `text`, and write 1, 2, 3 or 4 into `score`; leave it empty where you have not decided.
Leave the other columns as they are, save as CSV (commas, UTF-8), and do not talk about the pictures
with others who score them.
"""
