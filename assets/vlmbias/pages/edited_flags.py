"""Flags edited by language models: how many show the requested count."""

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from typing import NamedTuple, TypeAlias

import pandas as pd

from assets.kit.columns import NamedRow, iterate_named_rows
from assets.report.cells import Cell, Line, Table, rate_numbers
from assets.report.formats import Rate, capitalize_first, format_rate, format_value
from assets.vlmbias.pages.scenes import PicturedScene
from generators.changes import SceneChange, describe_difference
from metrics import exact_interval

KEPT = "kept"
_SHOWN = ("kept", "miscounted")
_MOST_SHOWN = 8

Part: TypeAlias = tuple[str, str]
"""Target of a count, and whether it was to be added or removed."""
_ALL: Part = ("all", "all")


class WriterEdits(NamedTuple):
    """A writer's edits by outcome, and some pictures of each that has any."""

    name: str
    stand_in: bool
    served: list[str]
    outcomes: list[tuple[str, int]]
    samples: list[tuple[str, int, list[tuple[NamedRow, str]]]]
    """The rows of some pictures, each with what was asked for."""


class Edited(NamedTuple):
    """The section about edited drawings: how many edits were kept, a line per writer."""

    table: Table
    writers: list[WriterEdits]

    @property
    def hashes(self) -> list[str]:
        """The sha256 of every picture of the strips."""
        strips = (samples for writer in self.writers for _, _, samples in writer.samples)
        return [row.sha256 for samples in strips for row, _ in samples]


def edited(tables: Collection[pd.DataFrame], scenes: Sequence[PicturedScene]) -> Edited | None:
    """Count the edits of each writer's table; None without any.

    The first line is the code that draws the same scenes, if all of them are drawn: what it kept
    is what the pixels confirm at every size.
    """
    edits_by_writer = [list(iterate_named_rows(table)) for table in tables]
    if not edits_by_writer:
        return None
    parts_by_scene = {
        row.base_id: (row.target, row.modification) for edits in edits_by_writer for row in edits
    }
    parts = [_ALL, *dict.fromkeys(sorted(parts_by_scene.values()))]
    confirmed = {
        scene.row.base_id: scene.proof == "pixels" for scene in scenes if not scene.row.painter
    }
    kept_by_writer = {
        edits[0].painter: {row.base_id: row.outcome == KEPT for row in edits}
        for edits in edits_by_writer
    }
    if parts_by_scene.keys() <= confirmed.keys():
        kept_by_writer = {"drawn by code": confirmed, **kept_by_writer}
    lines = [
        Line(name, [_cell(part, parts_by_scene, by_scene) for part in parts])
        for name, by_scene in kept_by_writer.items()
    ]
    heads = [
        capitalize_first(target if target == "all" else f"{target}, {how}") for target, how in parts
    ]
    table = Table.plain("Edits kept, by what was to change", "Drawn by", heads, lines)
    return Edited(table, [_writer(edits) for edits in edits_by_writer])


def _cell(
    part: Part, parts_by_scene: Mapping[str, Part], kept_by_scene: Mapping[str, bool]
) -> Cell:
    """`3 of 8` kept, with an exact interval: each edit is a drawing of its own."""
    here = [
        kept_by_scene[base_id]
        for base_id in parts_by_scene
        if part in (_ALL, parts_by_scene[base_id]) and base_id in kept_by_scene
    ]
    if not here:
        return Cell("", note="not asked")
    kept_count, total = sum(here), len(here)
    rate = Rate(kept_count / total, *exact_interval(kept_count, total))
    numbers = {**rate_numbers(rate), "": kept_count, "of": total}
    return Cell(f"{kept_count} of {total}", format_rate(rate), numbers=numbers)


def _writer(edits: Sequence[NamedRow]) -> WriterEdits:
    samples = []
    for outcome in _SHOWN:
        ended = [row for row in edits if row.outcome == outcome]
        step = max(1, -(-len(ended) // _MOST_SHOWN))
        if ended:
            samples.append(
                (outcome, len(ended), [(row, _format_request(row)) for row in ended[::step]])
            )
    return WriterEdits(
        edits[0].painter,
        any(row.is_stand_in for row in edits),
        sorted({row.served_model for row in edits if row.served_model}),
        Counter(row.outcome for row in edits).most_common(),
        samples,
    )


def _format_request(row: NamedRow) -> str:
    target_truth = dict(zip(row.targets, row.truths, strict=True))[row.target]
    difference = 1 if row.modification == "add" else -1
    change = describe_difference(SceneChange(row.modification, row.target, difference, {}))
    return f"{change}: {format_value(target_truth)} {row.target}"
