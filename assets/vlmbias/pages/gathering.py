"""Scenes gathered from the tables: readings, questions and answers beside their pictures."""

import json
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from operator import attrgetter
from typing import Any, TypeAlias

import pandas as pd

from assets.kit.columns import Row, rows
from assets.vlmbias.pages.judges import PromptedJudge, in_order, judge_of
from assets.vlmbias.pages.proofs import proof_of
from assets.vlmbias.pages.scenes import (
    Answer,
    Asked,
    Picture,
    Reading,
    Scene,
    Shown,
    Target,
    Verdict,
)

ImageKey: TypeAlias = tuple[str, str]
"""An image and its very bytes: its id and its sha256."""

_OF_AN_ANSWER = (
    *("image_id", "sha256", "question_id", "question", "expected_bias", "model", "prompting"),
    *("response", "first_response", "answer", "outcome", "refusal", "reason", "score", "shown"),
)

_OF_A_SCENE = (
    *("base_id", "original_id", "domain", "subject", "subtopic", "variant", "modification"),
    *("image_set", "target", "seed", "generator_version", "rasteriser", "painter", "review"),
)

_image: Callable[[Any], ImageKey] = attrgetter("image_id", "sha256")


def gather(
    images: pd.DataFrame,
    measurements: pd.DataFrame,
    questions: pd.DataFrame,
    answers: pd.DataFrame,
    references: Collection[str],
) -> tuple[list[Scene], list[PromptedJudge]]:
    """Every scene, linked to its original, and every judge.

    Topics and originals keep the order of `images`; a scene follows its original. What was
    measured, asked or answered about other bytes than those of the image now is left out.
    """
    measured, asked, answered = (
        _by(found, _image)
        for found in (rows(measurements), rows(questions), rows(answers, _OF_AN_ANSWER))
    )
    judges = in_order({judge_of(row, references) for group in answered.values() for row in group})
    scenes = []
    for drawn in _by(rows(images), attrgetter("base_id")).values():
        drawn.sort(key=lambda row: row.size)
        scene = _scene(drawn, measured)
        scene.asked = _asked(scene.pictures, asked, answered, references)
        scene.shown = _shown(scene.pictures, answered, painted=scene.painted)
        scenes.append(scene)
    _link(scenes)
    return _in_families(scenes), judges


def _by(found: Iterable[Row], key: Callable[[Row], Any]) -> dict[Any, list[Row]]:
    groups = defaultdict(list)
    for row in found:
        groups[key(row)].append(row)
    return groups


def _scene(drawn: Sequence[Row], measured: Mapping[ImageKey, list[Row]]) -> Scene:
    first = drawn[0]
    targets = [
        Target(name, truth, standard, [])
        for name, truth, standard in zip(first.targets, first.truths, first.standards, strict=True)
    ]
    pictures = []
    for row in drawn:
        by_target = {found.target: found for found in measured.get(_image(row), ())}
        readings = [_reading(by_target.get(target.name)) for target in targets]
        for target, reading in zip(targets, readings, strict=True):
            target.readings.append(reading)
        pictures.append(_picture(row, readings, next(iter(by_target.values()), None)))
    return Scene(
        **{name: getattr(first, name) for name in _OF_A_SCENE},
        settings=json.loads(first.settings),
        source=(int(first.source_width), int(first.source_height)) if first.source_sha256 else None,
        pictures=pictures,
        targets=targets,
        asked=[],
        shown={},
    )


def _reading(found: Row | None) -> Reading:
    if found is None:
        return Reading(None, "not measured", "")
    if found.measured is None:
        return Reading(None, "not measured", found.problem or "")
    verdict: Verdict = "agrees" if found.agrees else "disagrees"
    return Reading(found.measured, verdict, found.problem or "")


def _picture(row: Row, readings: Sequence[Reading], found: Row | None) -> Picture:
    verdicts = {reading.verdict for reading in readings}
    worst: tuple[Verdict, ...] = ("disagrees", "not measured")
    verdict: Verdict = next((each for each in worst if each in verdicts), "agrees")
    return Picture(
        image_id=row.image_id,
        sha256=row.sha256,
        width=row.width,
        height=row.height,
        size=row.size,
        mark=found.mark if found else None,
        gap=found.gap if found else None,
        measure_version=found.measure_version if found else None,
        verdict=verdict,
        proof=proof_of(row.review, rehearsal=row.rehearsal, confirmed=verdict == "agrees"),
    )


def _asked(
    pictures: Sequence[Picture],
    asked: Mapping[ImageKey, list[Row]],
    answered: Mapping[ImageKey, list[Row]],
    references: Collection[str],
) -> list[Asked]:
    """The scene's questions in order; counts the wrong answers of each picture as well."""
    questions = {
        (row.question_id, row.question): Asked(
            *(row.question_id, row.target, row.question, row.ground_truth, row.expected_bias), {}
        )
        for picture in pictures
        for row in asked.get(_image(picture), ())
    }
    given: dict[tuple[str, str], dict[PromptedJudge, dict[str, Answer]]] = {
        key: {} for key in questions
    }
    for picture in pictures:
        for row in answered.get(_image(picture), ()):
            judge, answer = judge_of(row, references), _answer(row)
            by_judge = given.setdefault((row.question_id, row.question), {})
            by_judge.setdefault(judge, {})[picture.image_id] = answer
            if answer.right is False:
                picture.wrong[judge] = picture.wrong.get(judge, 0) + 1
    for key, question in questions.items():
        for judge in in_order(given[key]):
            answers = [given[key][judge].get(picture.image_id) for picture in pictures]
            question.answers.setdefault(judge.prompting, []).append((judge, answers))
    return list(questions.values())


def _shown(
    pictures: Sequence[Picture], answered: Mapping[ImageKey, list[Row]], *, painted: bool
) -> dict[str, list[Shown]]:
    """The picture shown instead of the smallest one, by prompting; a judge may see none."""
    found: dict[str, list[Shown]] = {}
    for picture in pictures:
        seen: defaultdict[str, dict[Shown, None]] = defaultdict(dict)
        for row in answered.get(_image(picture), ()):
            if row.shown not in (None, picture.sha256):
                seen[row.prompting][Shown(picture.size, row.shown, painted)] = None
        found = {**{prompting: list(each) for prompting, each in seen.items()}, **found}
    return found


def _answer(row: Row) -> Answer:
    right = None if row.score is None else row.score >= 1
    return Answer(
        text=row.answer,
        outcome=row.outcome,
        right=right,
        biased=right is False and row.answer == row.expected_bias,
        response=row.response or "",
        first=row.first_response or "",
        refusal=row.refusal or "",
        reason=row.reason or "",
    )


def _link(scenes: Sequence[Scene]) -> None:
    by_id = {scene.base_id: scene for scene in scenes}
    for scene in scenes:
        original = by_id.get(scene.original_id)
        if original is not None and original is not scene:
            scene.original = original
            original.counterfactuals.append(scene)


def _in_families(scenes: Sequence[Scene]) -> list[Scene]:
    topics = list(dict.fromkeys(scene.domain for scene in scenes))
    families = {name: at for at, name in enumerate(dict.fromkeys(s.original_id for s in scenes))}
    return sorted(
        scenes,
        key=lambda scene: (
            topics.index(scene.domain),
            families[scene.original_id],
            scene.original is not None,
        ),
    )
