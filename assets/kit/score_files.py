"""Scores in filled sheets and Label Studio's exports, by picture and annotator.

Every problem is an error that names file, place and remedy.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from itertools import chain
from typing import Annotated, Any, NamedTuple, TypeAlias
from unicodedata import normalize

from pydantic import BaseModel, BeforeValidator, Field
from upath import UPath

from assets.kit.score_sheets import CONFIG, QUESTION, SHEET, TASKS, ScoreForm
from assets.kit.score_sheets import Row as TableRow
from assets.kit.sheets import find_filled_files, read_sheet
from resources.user_files.rows import (
    BadRow,
    Row,
    RowCells,
    TableFormat,
    UserFileError,
    build_all,
    number_rows,
    require_none,
    to_cells,
)
from resources.user_files.text_rows import read_export


class HumanScore(NamedTuple):
    """A score by one annotator."""

    image: str
    """The sha256 of the picture."""
    text: str
    score: int
    annotator: str
    place: str
    """File and place, as in "anna.csv, line 8"."""
    chance: float | None = None
    """Chance of the picture to come into the sheet; None where all had the same."""


def read_score_files(folder: UPath, form: ScoreForm) -> list[HumanScore]:
    """The scores in all filled files of a folder, in the order of their names.

    Raises `UserFileError`.
    """
    scores: list[HumanScore] = []
    for path in find_filled_files(folder, (SHEET, TASKS).__contains__, (".csv", ".json")):
        read = _read_scores if path.suffix.lower() == ".csv" else _read_export
        scores += read(path, form)
    return scores


def check_scores(
    unchecked: Iterable[HumanScore], form: ScoreForm, pictures: Mapping[str, Iterable[TableRow]]
) -> list[HumanScore]:
    """The scores, if each is of a picture and its text, and its annotator's only one of it.

    `pictures` are rows with a `text`, by the sha256 of their picture. Names that differ in capitals
    alone, or in how an é is stored, are one person's. Raises `UserFileError`.
    """
    scores: dict[tuple[str, str], HumanScore] = {}
    names: dict[str, str] = {}
    problems: list[str] = []
    for written in unchecked:
        name = normalize("NFC", written.annotator)
        score = written._replace(annotator=names.setdefault(name.casefold(), name))
        key = (score.annotator, score.image)
        if score.image not in pictures:
            problem = (
                f"no picture {score.image!r} is in {form.source}. Write it as {SHEET} has it; if "
                "it was painted before and is not there any more, remove its score, or move the "
                "file out of this folder."
            )
        elif score.text not in {row["text"] for row in pictures[score.image]}:
            problem = (
                f"the picture {score.image} has another text now, or the text was changed. Write "
                f"it as {SHEET} has it, or have the picture scored again."
            )
        elif key in scores:
            problem = (
                f"{score.annotator} has scored the picture {score.image} already "
                f"({scores[key].place}). Keep one of the two."
            )
        else:
            scores[key] = score
            continue
        problems.append(f"{score.place}: {problem}")
    require_none(form.asset, problems)
    return list(scores.values())


def pair_with_rows(
    scores: Iterable[HumanScore], pictures: Mapping[str, Iterable[TableRow]]
) -> Iterator[tuple[HumanScore, TableRow]]:
    """Pair each checked score with every row of its picture that has its text."""
    for score in scores:
        for row in pictures[score.image]:
            if row["text"] == score.text:
                yield score, row


_Chance: TypeAlias = Annotated[
    Annotated[float, Field(gt=0, le=1)] | None, BeforeValidator(lambda cell: cell or None)
]


class _ChanceCells(RowCells):
    chance: _Chance = None


def read_chance(row: Row) -> float | None:
    """The chance in a row of a sheet; None where it has none. Raises `BadRow`."""
    return to_cells(row, _ChanceCells).chance


class _ScoreCells(_ChanceCells):
    image: str
    text: str
    score: str
    annotator: str = ""


def _read_scores(path: UPath, form: ScoreForm) -> list[HumanScore]:
    """The scores in a sheet; without an annotator column, the file's name is the annotator's."""
    rows = list(read_sheet(path, ("image", "text", "score")))
    scored = [row for row in rows if row.problem is not None or row.cells["score"]]
    has_annotators = any(row.cells.get("annotator") for row in scored)

    def build(row: Row) -> HumanScore:
        cells = to_cells(row, _ScoreCells)
        if has_annotators and not cells.annotator:
            raise BadRow(
                "it has a score and no annotator, as other lines have: fill in the column, or "
                "empty it everywhere, and the file's name says who it was"
            )
        score = _parse_score(cells.score, form)
        annotator = cells.annotator or path.stem
        return HumanScore(
            image=cells.image,
            text=cells.text,
            score=score,
            annotator=annotator,
            place=f"{path}, {row.place}",
            chance=cells.chance,
        )

    return build_all(path, scored, build)


def _parse_score(text: str, form: ScoreForm) -> int:
    choices = "|".join(map(str, form.guide))
    match = re.fullmatch(rf"({choices})(?: - .*)?", text)
    if match is None:
        raise BadRow(f"the score is {text!r}: write {form.scale}, or leave it empty")
    return int(match[1])


class _Data(BaseModel):
    sha256: str
    text: str
    chance: _Chance = None


class _User(BaseModel):
    id: int
    email: str = ""


class _Result(BaseModel):
    from_name: str
    value: dict[str, Any]

    @property
    def choices(self) -> list[str]:
        """The chosen words; none where the result is of another kind."""
        choices = self.value.get("choices")
        return list(map(str, choices)) if isinstance(choices, list) else []


class _Annotation(BaseModel):
    completed_by: int | str | _User
    result: list[_Result]
    was_cancelled: bool = False

    @property
    def annotator(self) -> str:
        """The name, e-mail or number of who has annotated."""
        user = self.completed_by
        return (user.email or str(user.id)) if isinstance(user, _User) else str(user)


class _Task(RowCells):
    data: _Data
    annotations: list[_Annotation]


def _read_export(path: UPath, form: ScoreForm) -> list[HumanScore]:
    """The scores in an export of Label Studio; tasks that were skipped have none."""
    tasks = read_export(path, TableFormat())
    if not isinstance(tasks, list):
        raise UserFileError(
            f"{path} is no list of tasks. Export the project again, as JSON (not JSON-MIN)."
        )

    def build(row: Row) -> list[HumanScore]:
        task = to_cells(row, _Task)
        place = f"{path}, {row.place}"
        return [
            HumanScore(
                image=task.data.sha256,
                text=task.data.text,
                score=score,
                annotator=annotation.annotator,
                place=place,
                chance=task.data.chance,
            )
            for annotation in task.annotations
            if annotation.result and not annotation.was_cancelled
            for score in [_find_score(annotation, form)]
        ]

    return list(chain.from_iterable(build_all(path, number_rows(tasks, "task"), build)))


def _find_score(annotation: _Annotation, form: ScoreForm) -> int:
    named = (result for result in annotation.result if result.from_name == QUESTION)
    choices = [choice for result in named for choice in result.choices]
    if not choices:
        raise BadRow(
            f"an annotation has no choice of `{QUESTION}`: set the project up with {CONFIG}"
        )
    return _parse_score(" and ".join(choices), form)
