"""Questions by which two entries of one model are compared: a benchmark's own, or drawn ones."""

import math
from collections import defaultdict
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import NamedTuple, TypeVar

from assets.kit.benchmarks import load_benchmarks
from assets.kit.columns import to_records
from assets.kit.yes_no import Kind, YesNoTable
from generators.domains import load_domains
from generators.worker_jobs import DrawJob, draw_png
from resources.storage.data_root import DataRoot
from resources.storage.image_store import ImageStore

Item = TypeVar("Item")

DRAWN_SIZE = 512
"""Longer side in px of the pictures that are drawn where no benchmark has any."""


class ComparisonItem(NamedTuple):
    """A question about a picture, as judges are asked it, and the form of its answer."""

    sha256: str
    question: str
    kind: Kind


class ComparisonItems(NamedTuple):
    """The questions, and where they come from, in words."""

    items: Sequence[ComparisonItem]
    source: str


def choose_items(home: DataRoot, images: ImageStore, count: int) -> ComparisonItems:
    """Choose questions, evenly spread over the benchmarks' tables.

    Of a scene there is one alone: its sizes and wordings are no independent facts. Where no table
    is there, a few scenes of each domain are drawn, and their pictures stored.
    """
    tables = [table for item in load_benchmarks().values() for table in item.yes_no_tables]
    scenes = [scene for table in tables for scene in _read_scenes(table, home)]
    missing = images.find_missing({item.sha256 for scene in scenes for item in scene})
    present = [[item for item in scene if item.sha256 not in missing] for scene in scenes]
    if chosen := _spread([scene for scene in present if scene], count):
        names = sorted(
            {table.asset.to_user_string() for table in tables if _is_stored(table, home)}
        )
        items = [scene[place % len(scene)] for place, scene in enumerate(chosen)]
        return ComparisonItems(items, " and ".join(names))
    return ComparisonItems(
        list(islice(_draw_items(images, count), count)), "scenes drawn for this comparison"
    )


def _read_scenes(table: YesNoTable, home: DataRoot) -> list[list[ComparisonItem]]:
    """Read the questions of each scene."""
    scenes: defaultdict[tuple[str, str], list[ComparisonItem]] = defaultdict(list)
    for partition in table.partitions:
        rows = home.find(table.asset, partition)
        for row in [] if rows is None else to_records(rows):
            for question in table.to_questions(row):
                scenes[partition, table.base_picture(question.image_id)].append(
                    ComparisonItem(question.sha256, question.full_question, question.kind)
                )
    return [*scenes.values()]


def _is_stored(table: YesNoTable, home: DataRoot) -> bool:
    return any(home.holds(table.asset, partition) for partition in table.partitions)


def _draw_items(images: ImageStore, count: int) -> Iterator[ComparisonItem]:
    domains = load_domains()
    for name, domain in domains.items():
        scenes = domain.draw_module.list_scenes(0)
        size = max(DRAWN_SIZE, domain.draw_module.MIN_SIZE)
        for place, scene in enumerate(_spread(scenes, math.ceil(count / len(domains)))):
            digest = images.put(draw_png(DrawJob(topic=name, scene=scene, size=size)))
            questions = domain.ask_module.write_questions(scene)
            candidates = [item for item in questions if item.question_id in ("Q1", "Q3")]
            question = candidates[place % len(candidates)]
            kind: Kind = "yes/no" if question.ground_truth in ("Yes", "No") else "count"
            yield ComparisonItem(digest, question.text, kind)


def _spread(items: Sequence[Item], count: int) -> list[Item]:
    """So many items, evenly spread."""
    if count >= len(items):
        return list(items)
    return [items[place * len(items) // count] for place in range(count)]
