"""What writers, painters, editors and checkers would be asked, if a step was materialized now."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from functools import partial
from typing import Any

import pandas as pd
from dagster import AssetKey

from assets.kit.choice import chosen
from assets.kit.pictures import Row
from assets.kit.plan import Plan, PlanContext, Planners
from assets.kit.table_asset import Mismatch
from assets.vlmbias.common import GROUP, painter_and_topic
from assets.vlmbias.photographs.candidates import NOBODY, Checker
from assets.vlmbias.photographs.checking import CHECKERS, candidates_of, checks_of
from assets.vlmbias.photographs.edits import EDITS, Editor, editor_of, trials_of
from assets.vlmbias.photographs.paintings import PAINTINGS, Painter, paint, to_paint
from assets.vlmbias.photographs.parts import first_photographs, part_in, part_painted
from assets.vlmbias.photographs.subjects import BUILT_IN, Suggesting, photographs_of, suggestion
from generators.photographs import Photograph, photographed
from resources.models.catalog import Catalog
from resources.models.legacy_keys import stored_keys
from resources.models.requests import Edit, Look, Turn

_SOME_PICTURE = "0" * 64
"""Stands for the name of a picture that is not there yet."""


def planners(catalog: Catalog) -> Planners:
    """By asset: what the models of a catalog would be asked for it."""
    return {AssetKey([GROUP, name]): partial(step, catalog) for name, step in _STEPS.items()}


def _writing(
    catalog: Catalog, sources: PlanContext, topic: str, config: Mapping[str, Any]
) -> Iterator[Plan]:
    suggesting = Suggesting(**config)
    if suggesting.writer != BUILT_IN:
        writer = chosen(catalog, suggesting.writer, "writer")
        yield Plan(writer, [suggestion(photographed()[topic], suggesting.sample)])


def _painting(
    catalog: Catalog, sources: PlanContext, key: str, config: Mapping[str, Any]
) -> Iterator[Plan]:
    name, topic = painter_and_topic(key)
    painter, painting = chosen(catalog, name, "painter"), Painter(**config)
    wanted = _photographs(catalog, sources, topic)
    if wanted is None:
        yield Plan(painter, missing=_name("subjects"))
    else:
        some = to_paint(first_photographs(wanted, painting.limit))
        yield Plan(painter, [paint(painter, prompt, painting.seed) for prompt in some])


def _editing(
    catalog: Catalog, sources: PlanContext, key: str, config: Mapping[str, Any]
) -> Iterator[Plan]:
    """Certain where all is painted; where that is yet to come, each trial is later."""
    name, topic = painter_and_topic(key)
    editing = Editor(**config)
    editor, wanted = editor_of(catalog, name, editing), _photographs(catalog, sources, topic)
    if wanted is None:
        yield Plan(editor, missing=_name("subjects"))
        return
    paintings = _rows(catalog, sources, "paintings", key)
    some = first_photographs(_painted(sources, key, wanted, paintings), editing.limit)
    now, later = _painted_and_not(some, paintings)
    trials = trials_of(now, paintings, editing.trials)
    yield Plan(
        editor,
        requests=[trial.request for trial in trials if trial.request],
        later=[
            Edit(photograph.edit, (_SOME_PICTURE,) * len(photograph.paintings), sample=trial)
            for photograph in later
            for trial in range(editing.trials)
        ],
    )


def _looking(
    catalog: Catalog, sources: PlanContext, key: str, config: Mapping[str, Any]
) -> Iterator[Plan]:
    """Certain where all is edited; else every original and every trial that there may be."""
    checking = Checker(**config)
    if checking.checker == NOBODY:
        return
    _, topic = painter_and_topic(key)
    checker = chosen(catalog, checking.checker, *CHECKERS)
    wanted = _photographs(catalog, sources, topic)
    if wanted is None:
        yield Plan(checker, missing=_name("subjects"))
        return
    paintings, edits = (_rows(catalog, sources, step, key) for step in ("paintings", "edits"))
    together = sources.together.get((AssetKey([GROUP, "edits"]), key))
    editing = Editor(**(together or {}))
    if together is None and edits:
        some = part_in(wanted, edits)
    else:
        some = first_photographs(_painted(sources, key, wanted, paintings), editing.limit)
    certain: list[Look] = []
    later: list[Look] = []
    for photograph in first_photographs(some, checking.limit):
        try:
            found = candidates_of([photograph], paintings, edits)
        except Mismatch:
            pictures = photograph.has_original + editing.trials
        else:
            certain += [check.request for check in checks_of(topic, found)]
            outcomes = Counter(candidate.row["outcome"] for candidate in found)
            pictures = outcomes["failed"] + editing.trials * outcomes["unpainted"]
        later += [
            Look((Turn("user", question, (_SOME_PICTURE,)),), sample)
            for question in photographed()[topic].checks(photograph).values()
            for sample in range(pictures)
        ]
    yield Plan(checker, certain, later)


def _photographs(catalog: Catalog, sources: PlanContext, topic: str) -> list[Photograph] | None:
    """The base images of a topic; None where nothing was suggested yet, or something else will."""
    config = sources.together.get((AssetKey([GROUP, "subjects"]), topic))
    if config is not None and Suggesting(**config).writer == BUILT_IN:
        return photographed()[topic].photographs(photographed()[topic].BUILT_IN)
    try:
        table = sources.home.table(AssetKey([GROUP, "subjects"]), topic)
    except FileNotFoundError:
        return None
    if config is not None:
        asked = _asked(sources, _writing(catalog, sources, topic, config))
        if asked != _behind(table):
            return None
    return photographs_of(topic, table)


def _painted(
    sources: PlanContext, key: str, photographs: list[Photograph], paintings: list[Row]
) -> list[Photograph]:
    """The base images that paintings are about once all that is planned is materialized."""
    config = sources.together.get((AssetKey([GROUP, "paintings"]), key))
    if config is not None:
        return first_photographs(photographs, Painter(**config).limit)
    return part_painted(photographs, paintings)


def _painted_and_not(
    photographs: list[Photograph], paintings: list[Row]
) -> tuple[list[Photograph], list[Photograph]]:
    """Those whose pictures are all painted or refused, for good, and those that may yet be."""
    ended = {row["prompt"] for row in paintings if row["outcome"] != "failed"}
    now = [
        photograph
        for photograph in photographs
        if all(painting.prompt in ended for painting in photograph.paintings)
    ]
    return now, [photograph for photograph in photographs if photograph not in now]


def _rows(catalog: Catalog, sources: PlanContext, step: str, key: str) -> list[Row]:
    """What a step's table of a painter and topic holds, and still will once all is materialized.

    None of it where it was never materialized, or where the step would ask for something else.
    """
    try:
        table = sources.home.table(AssetKey([GROUP, step]), key)
    except FileNotFoundError:
        return []
    config = sources.together.get((AssetKey([GROUP, step]), key))
    if config is not None:
        plans = list(_STEPS[step](catalog, sources, key, config))
        if any(True for plan in plans for _ in plan.later) or not _asked(sources, plans) <= _behind(
            table
        ):
            return []
    return [*_COLUMNS[step].rows(table)]


def _asked(sources: PlanContext, plans: Iterable[Plan]) -> set[str]:
    """The keys of what is certain."""
    return {
        key for plan in plans for key in stored_keys(sources.calls, plan.model, [*plan.requests])
    }


def _behind(table: pd.DataFrame) -> set[str]:
    """The keys of all calls behind a table."""
    return {key for calls in table["calls"] for key in calls}


_STEPS = {
    "subjects": _writing,
    "paintings": _painting,
    "edits": _editing,
    "candidates": _looking,
}
_COLUMNS = {"paintings": PAINTINGS, "edits": EDITS}


def _name(table: str) -> str:
    return AssetKey([GROUP, table]).to_user_string()
