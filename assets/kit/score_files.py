"""Scores in filled sheets and Label Studio's exports, by picture and annotator.

Nothing that is wrong is passed over: every problem is an error that names file, line and remedy.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple
from unicodedata import normalize

from pydantic import BaseModel, TypeAdapter, ValidationError

from assets.kit.score_sheets import CONFIG, QUESTION, SHEET, TASKS, ScoreForm
from assets.kit.sheets import BadReview, filled_files, lines_of, text_of
from assets.kit.step import Row


class Given(NamedTuple):
    """One score that one person gave."""

    image: str
    """The sha256 of the picture."""
    text: str
    score: int
    annotator: str
    where: str
    """File and line, as messages name it."""


def scores_in(folder: Path, form: ScoreForm) -> list[Given]:
    """What all filled files of a folder say, in the order of their names. Raises `BadReview`."""
    given: list[Given] = []
    for path in filled_files(folder, (SHEET, TASKS).__contains__, (".csv", ".json")):
        read = _of_sheet if path.suffix.lower() == ".csv" else _of_export
        given += read(path, form)
    return given


def checked(
    given: Iterable[Given], form: ScoreForm, pictures: Mapping[str, Iterable[Row]]
) -> list[Given]:
    """The same, once each is known to be of a picture, of its text, and its annotator's only one.

    `pictures` are rows with a `text`, by the sha256 of their picture. Names that differ in capitals
    alone, or in how an é is stored, are one person's.

    Raises `BadReview`.
    """
    seen: dict[tuple[str, str], Given] = {}
    names: dict[str, str] = {}
    for said in given:
        name = normalize("NFC", said.annotator)
        each = said._replace(annotator=names.setdefault(name.casefold(), name))
        rows = pictures.get(each.image)
        if rows is None:
            raise BadReview(
                f"{each.where}: no picture {each.image!r} is in {form.source}. Write "
                f"it as {SHEET} has it; if it was painted before and is not there any more, remove "
                "what is said of it, or move the file out of this folder."
            )
        if each.text not in {row["text"] for row in rows}:
            raise BadReview(
                f"{each.where}: the picture {each.image} has another text now, or the text was "
                f"changed. Write it as {SHEET} has it, or have the picture scored again."
            )
        before = seen.setdefault((each.annotator, each.image), each)
        if before is not each:
            raise BadReview(
                f"{each.where}: {each.annotator} has scored the picture {each.image} already "
                f"({before.where}). Keep one of the two."
            )
    return list(seen.values())


def with_rows(
    given: Iterable[Given], pictures: Mapping[str, Iterable[Row]]
) -> Iterator[tuple[Given, Row]]:
    """Each score that is `checked`, with every row of its picture that has its text."""
    for each in given:
        for row in pictures[each.image]:
            if row["text"] == each.text:
                yield each, row


def _of_sheet(path: Path, form: ScoreForm) -> Iterator[Given]:
    """The scores in a sheet; without an annotator column, the file's name is the annotator's."""
    lines = [line for line in lines_of(path, ("image", "text", "score")) if line.cells["score"]]
    named = [line.cells.get("annotator", "") for line in lines]
    for line, annotator in zip(lines, named, strict=True):
        where = f"{path}, line {line.number}"
        if any(named) and not annotator:
            raise BadReview(
                f"{where}: it has a score and no annotator, as other lines have. Fill in the "
                "column, or empty it everywhere: the file's name then says who it was."
            )
        score = _score(line.cells["score"], form, where)
        yield Given(line.cells["image"], line.cells["text"], score, annotator or path.stem, where)


def _score(said: str, form: ScoreForm, where: str) -> int:
    choices = "|".join(map(str, form.guide))
    found = re.fullmatch(rf"({choices})(?: - .*)?", said)
    if found is None:
        raise BadReview(
            f"{where}: the score is {said!r}. Write {form.scale}, or nothing where nobody has "
            "decided."
        )
    return int(found[1])


class _Data(BaseModel):
    sha256: str
    text: str


class _User(BaseModel):
    id: int
    email: str = ""


class _Result(BaseModel):
    from_name: str
    value: dict[str, Any]

    @property
    def choices(self) -> list[str]:
        """What was chosen; nothing where the result is of something else."""
        chosen = self.value.get("choices")
        return list(map(str, chosen)) if isinstance(chosen, list) else []


class _Annotation(BaseModel):
    completed_by: int | str | _User
    result: list[_Result]
    was_cancelled: bool = False


class _Task(BaseModel):
    data: _Data
    annotations: list[_Annotation]


_EXPORT = TypeAdapter(list[_Task])


def _of_export(path: Path, form: ScoreForm) -> Iterator[Given]:
    """The scores in what Label Studio exports as JSON; tasks that were skipped have none."""
    for number, task in enumerate(_tasks(path), 1):
        where = f"{path}, task {number}"
        for annotation in task.annotations:
            if annotation.was_cancelled or not annotation.result:
                continue
            named = (result for result in annotation.result if result.from_name == QUESTION)
            said = [choice for result in named for choice in result.choices]
            if not said:
                raise BadReview(
                    f"{where}: an annotation has no choice of `{QUESTION}`. Set the project up "
                    f"with {CONFIG}."
                )
            user = annotation.completed_by
            annotator = (user.email or str(user.id)) if isinstance(user, _User) else str(user)
            score = _score(" and ".join(said), form, where)
            yield Given(task.data.sha256, task.data.text, score, annotator, where)


def _tasks(path: Path) -> list[_Task]:
    remedy = "Export the project again, as JSON (not JSON-MIN or another format)."
    try:
        return _EXPORT.validate_json(text_of(path, "JSON"))
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        if first["type"] == "json_invalid":
            raise BadReview(f"{path}: {first['msg']}. {remedy}") from None
        number, *field = first["loc"] or ("",)
        place = f", task {int(number) + 1}: `{'.'.join(map(str, field))}`" if field else ""
        raise BadReview(
            f"{path}{place} is not as Label Studio exports it ({first['msg']}). {remedy}"
        ) from None
