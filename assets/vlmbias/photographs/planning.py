"""What writers, painters, editors and checkers would be asked, if a step was materialized now."""

from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any

from dagster import AssetKey

from assets.columns import Columns
from assets.partitions import painter_and_topic
from assets.plans import Desk, Plan, Planners
from assets.vlmbias.common import GROUP, Mismatch
from assets.vlmbias.photographs.candidates import NOBODY, Checker
from assets.vlmbias.photographs.checking import CHECKERS, candidates_of, checks_of
from assets.vlmbias.photographs.chosen import chosen
from assets.vlmbias.photographs.edits import EDITS, Editor, editor_of, trials_of
from assets.vlmbias.photographs.paintings import PAINTINGS, Painter, paint, to_paint
from assets.vlmbias.photographs.pictured import Row
from assets.vlmbias.photographs.subjects import BUILT_IN, Suggesting, photographs_of, suggestion
from generators.photographs import Photograph, photographed
from resources.models.catalog import Catalog
from resources.models.requests import Edit, Look, Turn

_SOME_PICTURE = "0" * 64
"""Stands for the name of a picture that is not there yet."""


def planners(catalog: Catalog) -> Planners:
    """By asset: what the models of a catalog would be asked for it."""
    steps = {
        "subjects": _writing,
        "paintings": _painting,
        "edits": _editing,
        "candidates": _looking,
    }
    return {AssetKey([GROUP, name]): partial(step, catalog) for name, step in steps.items()}


def _writing(catalog: Catalog, desk: Desk, topic: str, config: Mapping[str, Any]) -> Iterator[Plan]:
    suggesting = Suggesting(**config)
    if suggesting.writer != BUILT_IN:
        writer = chosen(catalog, suggesting.writer, "writer")
        yield Plan(writer, [suggestion(photographed()[topic], suggesting.sample)])


def _painting(catalog: Catalog, desk: Desk, key: str, config: Mapping[str, Any]) -> Iterator[Plan]:
    name, topic = painter_and_topic(key)
    painter, seed = chosen(catalog, name, "painter"), Painter(**config).seed
    wanted = _photographs(desk, topic)
    if wanted is None:
        yield Plan(painter, missing=_name("subjects"))
    else:
        yield Plan(painter, [paint(painter, prompt, seed) for prompt in to_paint(wanted)])


def _editing(catalog: Catalog, desk: Desk, key: str, config: Mapping[str, Any]) -> Iterator[Plan]:
    """Certain where all is painted; where that is yet to come, each trial is later."""
    name, topic = painter_and_topic(key)
    editing = Editor(**config)
    editor, wanted = editor_of(catalog, name, editing), _photographs(desk, topic)
    if wanted is None:
        yield Plan(editor, missing=_name("subjects"))
        return
    paintings = _rows(desk, "paintings", PAINTINGS, key)
    now, later = _painted_and_not(wanted, paintings)
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


def _looking(catalog: Catalog, desk: Desk, key: str, config: Mapping[str, Any]) -> Iterator[Plan]:
    """Certain where all is edited; else every original and every trial that there may be."""
    checker_name = Checker(**config).checker
    if checker_name == NOBODY:
        return
    _, topic = painter_and_topic(key)
    checker, wanted = chosen(catalog, checker_name, *CHECKERS), _photographs(desk, topic)
    if wanted is None:
        yield Plan(checker, missing=_name("subjects"))
        return
    paintings, edits = (
        _rows(desk, "paintings", PAINTINGS, key),
        _rows(desk, "edits", EDITS, key),
    )
    certain: list[Look] = []
    later: list[Look] = []
    for photograph in wanted:
        try:
            found = candidates_of([photograph], paintings, edits)
        except Mismatch:
            pictures = photograph.has_original + Editor().trials
        else:
            certain += [check.request for check in checks_of(topic, found)]
            pictures = sum(candidate.row["outcome"] == "failed" for candidate in found)
        later += [
            Look((Turn("user", question, (_SOME_PICTURE,)),), sample)
            for question in photographed()[topic].checks(photograph).values()
            for sample in range(pictures)
        ]
    yield Plan(checker, certain, later)


def _photographs(desk: Desk, topic: str) -> list[Photograph] | None:
    """The base images of a topic; None where nothing was suggested yet."""
    try:
        return photographs_of(topic, desk.home.table(AssetKey([GROUP, "subjects"]), topic))
    except FileNotFoundError:
        return None


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


def _rows(desk: Desk, name: str, columns: Columns, key: str) -> list[Row]:
    """A stored table of a painter and topic; none of it where it was never materialized."""
    painter, topic = painter_and_topic(key)
    try:
        table = desk.home.table(AssetKey([GROUP, name]), f"{painter}/{topic}")
    except FileNotFoundError:
        return []
    return [*columns.rows(table)]


def _name(table: str) -> str:
    return AssetKey([GROUP, table]).to_user_string()
