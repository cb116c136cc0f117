"""Forms for scoring pictures: a sheet, and a project for Label Studio.

All of it lies in one folder, with the pictures beside it. Nothing there says what a picture is of:
pictures are named by their sha256, stand in the order that they are given in, and come with a text
alone.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias
from xml.sax.saxutils import quoteattr

from upath import UPath

from assets.kit.picture_copies import format_picture_name, place_pictures
from assets.kit.review_forms import SCORE, ReviewForm, ReviewItem, write_part
from assets.kit.sheets import read_sheet
from resources.storage.atomic_writes import write_atomically
from resources.storage.files import is_stored
from resources.storage.image_store import ImageStore
from resources.user_files.rows import UserFileError
from resources.user_files.spreadsheets import format_csv

if TYPE_CHECKING:
    from resources.storage.data_root import DataRoot

Row: TypeAlias = Mapping[str, Any]
COLUMNS = ("image", "text", "file", "score", "annotator")
CHANCE = "chance"
"""Column of pictures that did not all have the same chance of coming into the sheet."""
SHEET, TASKS, CONFIG = "to-score.csv", "label-studio-tasks.json", "label-studio.xml"
GUIDELINES = "guidelines.md"
QUESTION = "score"
"""Name of the scores in Label Studio."""


@dataclass(frozen=True)
class ScoreForm:
    """Instructions and scale for people who score pictures.

    `asset` makes the table of their scores, from pictures in the table of `source`.
    """

    task: str
    """Task in one line."""
    guide: Mapping[int, str]
    """Meaning of each score in words."""
    guidelines: str
    """Guidelines for annotators as Markdown, without where to write scores."""
    asset: str
    source: str

    @property
    def scale(self) -> str:
        """Scores as text, such as "1, 2, 3 or 4"."""
        *scores, last = sorted(self.guide)
        return f"{', '.join(map(str, scores))} or {last}"

    @property
    def review_form(self) -> ReviewForm:
        """The form of the review page, with the same scores."""
        return ReviewForm(
            asset=self.asset,
            task=self.task,
            choices={str(score): words for score, words in self.guide.items()},
            guidelines=self.guidelines,
            next_step=f"Materialize {self.asset} again, which reads the scores.",
            answer_column=SCORE,
        )


def write_sheets(folder: UPath, form: ScoreForm, rows: Sequence[Row], images: ImageStore) -> None:
    """Write sheet, project and guidelines, and lay the pictures beside them.

    `rows` have `sha256` and `text`, and a `chance` where pictures were drawn with unequal ones.

    Raises `UserFileError` where somebody has filled in the sheet itself: it is not written over.
    """
    _require_empty(folder / SHEET, form)
    place_pictures(folder, (row["sha256"] for row in rows), images)
    files = {
        SHEET: format_csv([*COLUMNS, *_list_draw_columns(rows)], map(_line, rows)),
        TASKS: json.dumps([_task(folder, row) for row in rows], indent=1, ensure_ascii=False),
        CONFIG: _config(form),
        GUIDELINES: _guidelines(form),
    }
    for name, text in files.items():
        write_atomically(folder / name, text.encode())


def write_score_part(
    home: "DataRoot", form: ScoreForm, name: str, folder: UPath, rows: Sequence[Row]
) -> None:
    """Store what `counterfactory review` shows of a folder of scores."""
    items = [
        ReviewItem(
            name=row["sha256"],
            cells={"text": row["text"], "file": format_picture_name(row["sha256"])}
            | {name: row[name] for name in _list_draw_columns(rows)},
            sentence=row["text"],
            pictures=[(row["sha256"], "")],
        )
        for row in rows
    ]
    write_part(home, form.review_form, name, title=name, answers=folder, items=items)


def _require_empty(sheet: UPath, form: ScoreForm) -> None:
    rows = read_sheet(sheet, ("image", "score")) if is_stored(sheet) else ()
    for row in rows:
        if row.problem is not None or row.cells["score"]:
            raise UserFileError(
                f"{sheet}, {row.place}: {row.problem or 'it has a score'}, and this sheet is "
                "written anew each time. Save it beside it under its annotator's name, as in "
                f"anna.csv, remove {sheet.name}, and materialize {form.asset} again."
            )


def _list_draw_columns(rows: Sequence[Row]) -> list[str]:
    return [CHANCE] if any(CHANCE in row for row in rows) else []


def _line(row: Row) -> dict[str, Any]:
    cells = {"image": row["sha256"], "text": row["text"]}
    return {**cells, "file": format_picture_name(row["sha256"]), CHANCE: row.get(CHANCE)}


def _task(folder: UPath, row: Row) -> dict[str, dict[str, Any]]:
    """A task of Label Studio, whose document root is the folder above the painter's."""
    address = f"/data/local-files/?d={folder.name}/{format_picture_name(row['sha256'])}"
    chance = {name: row[name] for name in _list_draw_columns([row])}
    return {"data": {"image": address, "text": row["text"], "sha256": row["sha256"], **chance}}


def _config(form: ScoreForm) -> str:
    """The labeling interface; what is exported of a choice is its alias."""
    choices = "\n".join(
        f'    <Choice alias="{score}" hotkey="{score}" value={quoteattr(f"{score} - {words}")}/>'
        for score, words in form.guide.items()
    )
    return f"""\
<View>
  <Header value={quoteattr(form.task)}/>
  <Text name="text" value="$text"/>
  <Image name="image" value="$image"/>
  <Choices name="{QUESTION}" toName="image" choice="single-radio" required="true">
{choices}
  </Choices>
</View>
"""


def _guidelines(form: ScoreForm) -> str:
    return f"""\
# Guidelines

{form.guidelines}

## Where to write it down

Copy `{SHEET}` to a file of your name, as in `anna.csv`. Look at the picture in each line's `file`,
read its `text`, and write {form.scale} into `score`; leave it empty where you have not decided.
Leave the other columns as they are, save as CSV (commas, UTF-8), and do not talk about the pictures
with others who score them.
"""
