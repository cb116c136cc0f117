"""Scenes gathered from the tables: readings, questions and answers beside their pictures."""

import json
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from operator import attrgetter
from typing import Any, TypeAlias

import numpy as np
import pandas as pd

from assets.kit.columns import NamedRow, iterate_named_rows
from assets.vlmbias.pages.judges import PromptedJudge, prompted_judge, sort_judges
from assets.vlmbias.pages.proofs import find_proof
from assets.vlmbias.pages.scenes import (
    PicturedScene,
    ScenePicture,
    SceneQuestion,
    ShownPicture,
    Target,
)

ImageKey: TypeAlias = tuple[str, str]
"""An image and its very bytes: its id and its sha256."""
Found: TypeAlias = Mapping[ImageKey, Sequence[NamedRow]]

_OF_AN_ANSWER = (
    *("image_id", "sha256", "question_id", "question", "expected_bias", "model", "prompting"),
    *("response", "first_response", "answer", "outcome", "refusal", "reason", "shown_sha256"),
    *("right", "biased"),
)
_OF_A_SCENE = (
    *("base_id", "original_id", "domain", "subject", "subtopic", "variant", "modification"),
    *("image_set", "target", "seed", "generator_version", "rasteriser", "painter", "review"),
)
_IMAGE, _LABEL = ["image_id", "sha256"], ["target", "truth", "standard"]
_MEASURED = ("mark", "gap", "measure_version")
_image: Callable[[Any], ImageKey] = attrgetter(*_IMAGE)


def gather(
    images: pd.DataFrame,
    measurements: pd.DataFrame,
    questions: pd.DataFrame,
    answers: pd.DataFrame,
    references: Collection[str],
) -> tuple[list[PicturedScene], list[PromptedJudge]]:
    """Gather every scene, linked to its original, and every judge.

    Topics and originals keep the order of `images`; a scene follows its original. What was
    measured, asked or answered about other bytes than those of the image now is left out.
    """
    tables = (_readings(images, measurements), questions, _scored(answers)[[*_OF_AN_ANSWER]])
    read, questions_by_image, answered = (
        _by(iterate_named_rows(table), _image) for table in tables
    )
    judges = sort_judges(
        {prompted_judge(row, references) for group in answered.values() for row in group}
    )
    scenes = []
    for drawn in _by(iterate_named_rows(images), attrgetter("base_id")).values():
        drawn.sort(key=lambda row: row.size)
        scene = _scene(drawn, read)
        scene.questions = _asked(scene.pictures, questions_by_image, answered, references)
        scene.shown = _shown(scene.pictures, answered, painted=scene.painted)
        scenes.append(scene)
    _link(scenes)
    return _in_families(scenes), judges


def _by(
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
    names = [*_IMAGE, "target", "measured", "problem", "agrees", *_MEASURED]
    read = labels.merge(measurements.reindex(columns=names), on=[*_IMAGE, "target"], how="left")
    verdicts = np.where(read["agrees"].eq(other=True), "agrees", "disagrees")
    return read.assign(verdict=np.where(read["measured"].isna(), "not measured", verdicts))


def _scored(answers: pd.DataFrame) -> pd.DataFrame:
    """The answers with what is `right`, empty where nothing was scored, and `biased`."""
    right = answers["score"].ge(1).astype(object).where(answers["score"].notna(), None)
    biased = right.eq(other=False) & answers["answer"].eq(answers["expected_bias"])
    return answers.assign(right=right, biased=biased)


def _scene(drawn: Sequence[NamedRow], read: Found) -> PicturedScene:
    first = drawn[0]
    by_target = _by(
        (reading for row in drawn for reading in read[_image(row)]), attrgetter(*_LABEL)
    )
    return PicturedScene(
        **{name: getattr(first, name) for name in _OF_A_SCENE},
        settings=json.loads(first.settings),
        source=(int(first.source_width), int(first.source_height)) if first.source_sha256 else None,
        pictures=[_picture(row, read[_image(row)]) for row in drawn],
        targets=[Target._make((*label, readings)) for label, readings in by_target.items()],
    )


def _picture(row: NamedRow, readings: Sequence[NamedRow]) -> ScenePicture:
    verdicts = {reading.verdict for reading in readings}
    worst = ("disagrees", "not measured")
    verdict = next((candidate for candidate in worst if candidate in verdicts), "agrees")
    measured = next((reading for reading in readings if reading.measure_version), None)
    measured_fields: dict[str, Any] = {name: getattr(measured, name, None) for name in _MEASURED}
    return ScenePicture(
        **{name: getattr(row, name) for name in (*_IMAGE, "width", "height", "size")},
        **measured_fields,
        verdict=verdict,
        proof=find_proof(row.review, is_stand_in=row.is_stand_in, confirmed=verdict == "agrees"),
    )


def _asked(
    pictures: Sequence[ScenePicture],
    questions_by_image: Found,
    answered: Found,
    references: Collection[str],
) -> list[SceneQuestion]:
    """The scene's questions in order; counts the wrong answers of each picture as well."""
    questions = {
        (row.question_id, row.question): SceneQuestion(
            *(row.question_id, row.target, row.question, row.ground_truth, row.expected_bias), {}
        )
        for picture in pictures
        for row in questions_by_image.get(_image(picture), ())
    }
    answers_by_question: dict[Any, dict[PromptedJudge, dict[str, NamedRow]]] = defaultdict(
        lambda: defaultdict(dict)
    )
    for picture in pictures:
        for row in answered.get(_image(picture), ()):
            judge = prompted_judge(row, references)
            answers_by_question[row.question_id, row.question][judge][picture.image_id] = row
            picture.wrong[judge] += row.right is False
    for key, question in questions.items():
        for judge in sort_judges(answers_by_question[key]):
            answers = [
                answers_by_question[key][judge].get(picture.image_id) for picture in pictures
            ]
            question.answers.setdefault(judge.prompting, []).append((judge, answers))
    return list(questions.values())


def _shown(
    pictures: Sequence[ScenePicture], answered: Found, *, painted: bool
) -> dict[str, list[ShownPicture]]:
    """The picture shown instead of the smallest one, by prompting; a judge may see none."""
    shown_by_prompting: dict[str, list[ShownPicture]] = {}
    for picture in pictures:
        shown_pictures: defaultdict[str, dict[ShownPicture, None]] = defaultdict(dict)
        for row in answered.get(_image(picture), ()):
            if row.shown_sha256 not in (None, picture.sha256):
                shown_pictures[row.prompting][
                    ShownPicture(picture.size, row.shown_sha256, painted)
                ] = None
        shown_by_prompting = {
            **{prompting: list(shown_once) for prompting, shown_once in shown_pictures.items()},
            **shown_by_prompting,
        }
    return shown_by_prompting


def _link(scenes: Sequence[PicturedScene]) -> None:
    by_id = {scene.base_id: scene for scene in scenes}
    for scene in scenes:
        original = by_id.get(scene.original_id)
        if original is not None and original is not scene:
            scene.original = original
            original.counterfactuals.append(scene)


def _in_families(scenes: Sequence[PicturedScene]) -> list[PicturedScene]:
    topics = list(dict.fromkeys(scene.domain for scene in scenes))
    families = {
        name: index for index, name in enumerate(dict.fromkeys(s.original_id for s in scenes))
    }
    return sorted(
        scenes,
        key=lambda scene: (
            topics.index(scene.domain),
            families[scene.original_id],
            scene.original is not None,
        ),
    )
