"""Scenes gathered from the tables: readings, questions and answers beside their pictures."""

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from operator import attrgetter
from typing import Any, TypeAlias

import numpy as np
import pandas as pd

from assets.kit.columns import NamedRow, iterate_named_rows
from assets.vlmbias.pages.judges import PromptedJudge, prompted_judge, sort_judges
from assets.vlmbias.pages.scenes import (
    PicturedScene,
    ScenePicture,
    SceneQuestion,
    ShownPicture,
    Target,
)
from generators.domains import OutlineBox

Group: TypeAlias = Mapping[Any, Sequence[NamedRow]]

_ANSWER_COLUMNS = (
    *("image_id", "sha256", "question_id", "question", "expected_bias", "model", "prompting"),
    *("response", "first_response", "answer", "outcome", "refusal", "reason", "shown_sha256"),
    *("right", "biased"),
)
_IMAGE, _LABEL = ["image_id", "sha256"], ["target", "truth", "standard"]
_READING_COLUMNS = ("measured", "problem", "agrees", "mark", "gap", "measure_version")
_image: Callable[[Any], tuple[str, str]] = attrgetter(*_IMAGE)
"""An image and its very bytes: its id and its sha256."""


def gather(
    images: pd.DataFrame,
    measurements: pd.DataFrame,
    questions: pd.DataFrame,
    answers: pd.DataFrame,
    stand_ins: Collection[str],
    outlines: Mapping[str, Sequence[OutlineBox]],
) -> tuple[list[PicturedScene], list[PromptedJudge]]:
    """Gather every scene, linked to its original, and every judge.

    Topics and originals keep the order of `images`; a scene follows its original. What was
    measured, asked or answered about other bytes than those of the image now is left out.
    """
    tables = (
        _readings(images, measurements),
        questions,
        _mark_answers(answers)[[*_ANSWER_COLUMNS]],
    )
    read, questions_by_image, answered = (
        _group_rows(iterate_named_rows(table), _image) for table in tables
    )
    judges = {prompted_judge(row, stand_ins) for rows in answered.values() for row in rows}
    scenes = []
    for rows in _group_rows(iterate_named_rows(images), attrgetter("base_id")).values():
        rows.sort(key=lambda row: row.size)
        pictures = [ScenePicture(row, read[_image(row)]) for row in rows]
        labels = _group_rows(
            (reading for picture in pictures for reading in picture.readings), attrgetter(*_LABEL)
        )
        scenes.append(
            PicturedScene(
                pictures,
                [Target._make((*label, readings)) for label, readings in labels.items()],
                _gather_questions(pictures, questions_by_image, answered, stand_ins),
                _gather_shown(pictures, answered),
                outlines.get(rows[0].base_id, ()),
            )
        )
    _link(scenes)
    return _order_by_family(scenes), sort_judges(judges)


def _group_rows(
    table_rows: Iterable[NamedRow], key: Callable[[NamedRow], Any]
) -> dict[Any, list[NamedRow]]:
    groups = defaultdict(list)
    for row in table_rows:
        groups[key(row)].append(row)
    return groups


def _readings(images: pd.DataFrame, measurements: pd.DataFrame) -> pd.DataFrame:
    """Join each label of a picture with what its pixels say, and a `verdict` on that."""
    listed = ["targets", "truths", "standards"]
    labels = images[[*_IMAGE, *listed]].explode(listed)
    labels = labels.rename(columns=dict(zip(listed, _LABEL, strict=True)))
    names = [*_IMAGE, "target", *_READING_COLUMNS]
    read = labels.merge(measurements.reindex(columns=names), on=[*_IMAGE, "target"], how="left")
    verdicts = np.where(read["agrees"].eq(other=True), "agrees", "disagrees")
    return read.assign(verdict=np.where(read["measured"].isna(), "not measured", verdicts))


def _mark_answers(answers: pd.DataFrame) -> pd.DataFrame:
    """The answers with what is `right`, empty where nothing was scored, and `biased`."""
    right = answers["score"].ge(1).astype(object).where(answers["score"].notna(), None)
    biased = right.eq(other=False) & answers["answer"].eq(answers["expected_bias"])
    return answers.assign(right=right, biased=biased)


def _gather_questions(
    pictures: Sequence[ScenePicture],
    questions_by_image: Group,
    answered: Group,
    stand_ins: Collection[str],
) -> list[SceneQuestion]:
    """The scene's questions in order; counts the wrong answers of each picture as well."""
    key = attrgetter("question_id", "question")
    questions = {
        key(row): SceneQuestion(row, {})
        for picture in pictures
        for row in questions_by_image.get(_image(picture.row), ())
    }
    answers: dict[Any, dict[PromptedJudge, dict[str, NamedRow]]] = defaultdict(
        lambda: defaultdict(dict)
    )
    for picture in pictures:
        for row in answered.get(_image(picture.row), ()):
            judge = prompted_judge(row, stand_ins)
            answers[key(row)][judge][row.image_id] = row
            picture.wrong[judge] += row.right is False
    for place, question in questions.items():
        for judge in sort_judges(answers[place]):
            line = [answers[place][judge].get(picture.row.image_id) for picture in pictures]
            question.answers.setdefault(judge.prompting, []).append((judge, line))
    return [*questions.values()]


def _gather_shown(
    pictures: Sequence[ScenePicture], answered: Group
) -> dict[str, list[ShownPicture]]:
    """The picture shown instead of the smallest one, by prompting; a judge may see none."""
    shown: dict[str, list[ShownPicture]] = {}
    for picture in pictures:
        row = picture.row
        others = (
            a for a in answered.get(_image(row), ()) if a.shown_sha256 not in (None, row.sha256)
        )
        for prompting, answers in _group_rows(others, attrgetter("prompting")).items():
            pictures_shown = dict.fromkeys(answer.shown_sha256 for answer in answers)
            shown.setdefault(
                prompting,
                [ShownPicture(row.size, sha256, bool(row.painter)) for sha256 in pictures_shown],
            )
    return shown


def _link(scenes: Sequence[PicturedScene]) -> None:
    by_id = {scene.row.base_id: scene for scene in scenes}
    for scene in scenes:
        original = by_id.get(scene.row.original_id)
        if original is not None and original is not scene:
            scene.original = original
            original.counterfactuals.append(scene)


def _order_by_family(scenes: Sequence[PicturedScene]) -> list[PicturedScene]:
    topics, families = (
        [*dict.fromkeys(getattr(scene.row, name) for scene in scenes)]
        for name in ("domain", "original_id")
    )
    ranks = {name: rank for rank, name in enumerate(families)}

    def place(scene: PicturedScene) -> tuple[int, int, bool]:
        row = scene.row
        return topics.index(row.domain), ranks[row.original_id], scene.original is not None

    return sorted(scenes, key=place)
