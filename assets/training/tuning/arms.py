"""The arms of fine-tuning: which rows each trains on, and which cases nothing is trained on."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from hashlib import sha256
from typing import Any, NamedTuple, TypeAlias

from assets.kit.tuning import (
    EXPANDED_ARM,
    HELD_OUT,
    ORIGINAL_ARM,
    EvaluationCase,
    TuningCase,
    picture_marks,
)

Row: TypeAlias = Mapping[str, Any]
CASE, VQA = "case", "vqa"
NONE = "none"
BASE, PICTURE = "base picture", "picture"


class GeneralQuestion(NamedTuple):
    """A general question about a picture, with its answer: what fine-tuning is not to spoil."""

    name: str
    collection: str
    sha256: str
    question: str
    answer: str


class GeneralSplit(NamedTuple):
    """General questions to train on, and those that are held out."""

    training: Sequence[GeneralQuestion]
    held_out: Sequence[GeneralQuestion]


def case_rows(case: TuningCase, perturbation: str) -> Iterator[dict[str, Any]]:
    """The rows of a case in both arms.

    The original arm has it once. The expanded arm has both forms, about the picture as it was and
    perturbed, in all wordings: 2 · 2 · (1 + 4) of one, as 200 become 800 and then 4,000 (§5.4).
    """
    for wording in case.wordings:
        wording_columns = {"form": wording.form, "version": wording.version}
        wording_columns |= {"question": wording.question, "answer": wording.answer}
        pictures = ((NONE, case.sha256), (perturbation, case.perturbed))
        for picture_perturbation, picture in pictures:
            columns = (
                _build_case_columns(case)
                | wording_columns
                | {"perturbation": picture_perturbation, "sha256": picture}
            )
            if picture_perturbation == NONE and wording == case.wordings[0]:
                yield columns | {"arm": ORIGINAL_ARM}
            yield columns | {"arm": EXPANDED_ARM}


def general_rows(
    questions: Iterable[GeneralQuestion], arms: Iterable[str]
) -> Iterator[dict[str, Any]]:
    """The rows of general questions in some arms: the same in each."""
    all_questions = list(questions)
    for arm in arms:
        for question in all_questions:
            yield {
                "arm": arm,
                "kind": VQA,
                "dataset": question.collection,
                "case_id": question.name,
                "base": question.sha256,
                "original": question.sha256,
                "sha256": question.sha256,
                "perturbation": NONE,
                "version": 0,
                "is_stand_in": False,
                **(
                    {}
                    if arm == HELD_OUT
                    else {"question": question.question, "answer": question.answer}
                ),
            }


def held_out_rows(
    cases: Iterable[EvaluationCase], training: Iterable[Row]
) -> Iterator[dict[str, Any]]:
    """The cases whose picture nothing is trained on, nor another size or version of it."""
    marks = picture_marks(training)
    for case in cases:
        if not marks & {case.base, case.sha256}:
            columns = _build_case_columns(case) | {
                "perturbation": NONE,
                "sha256": case.sha256,
                "version": 0,
            }
            yield columns | {"arm": HELD_OUT}


def split_general(
    questions: Sequence[GeneralQuestion], case_pictures: set[str], number: int, held_out: int
) -> GeneralSplit:
    """Select general questions to hold out and to train on, all of a picture together.

    None is about a picture of `case_pictures`. Fewer are the beginning of more; the last picture
    may bring a few more than were asked for to what is held out, none to what is trained.
    """
    by_picture: dict[str, list[GeneralQuestion]] = {}
    for question in questions:
        if question.sha256 not in case_pictures:
            by_picture.setdefault(question.sha256, []).append(question)
    pictures = sorted(by_picture, key=lambda name: sha256(name.encode()).digest())
    held_out_questions: list[GeneralQuestion] = []
    training_questions: list[GeneralQuestion] = []
    for picture in pictures:
        (held_out_questions if len(held_out_questions) < held_out else training_questions).extend(
            by_picture[picture]
        )
    return GeneralSplit(training_questions[:number], held_out_questions)


def find_shared_pictures(rows: Sequence[Row]) -> list[tuple[str, str, str, str]]:
    """The rows that share a picture with one held out: arm, case, what is shared, and with what."""
    held_out_marks: dict[tuple[str, str], str] = {}
    for row in rows:
        if row["arm"] == HELD_OUT:
            held_out_marks |= dict.fromkeys(_marks(row), str(row["case_id"]))
    shared = []
    for row in rows:
        if row["arm"] != HELD_OUT:
            mark = next(
                (candidate for candidate in _marks(row) if candidate in held_out_marks), None
            )
            if mark:
                shared.append((row["arm"], row["case_id"], mark[0], held_out_marks[mark]))
    return shared


def _marks(row: Row) -> Iterator[tuple[str, str]]:
    yield BASE, row["base"]
    yield PICTURE, row["original"]
    yield PICTURE, row["sha256"]


def _build_case_columns(case: TuningCase | EvaluationCase) -> dict[str, Any]:
    shared_columns = {
        name: getattr(case, name) for name in ("dataset", "case_id", "base", "is_stand_in")
    }
    return {**shared_columns, "kind": CASE, "original": case.sha256}
