"""Rows as trainers take them: in a fixed order, with their pictures opened when they are needed."""

import io
import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any

from PIL import Image

from resources.storage.image_store import ImageStore
from resources.training.reward import SIDES
from resources.training.training_errors import import_library

_OPEN = 4
"""Pictures that are kept open: all samples of one come one after another."""

Row = Mapping[str, Any]
Shown = Callable[[Row, str], dict[str, Any]]


def build_order(rows: int, row_count: int, seed: int) -> list[int]:
    """Order `row_count` places: pass after pass over all, each in an order of its own."""

    def passes() -> Iterator[int]:
        for number in range(-(-row_count // rows)):
            places = list(range(rows))
            random.Random(f"{seed}/{number}").shuffle(places)
            yield from places

    return [place for place, _ in zip(passes(), range(row_count), strict=False)]


def build_side_rows(rows: Sequence[Row], order: Sequence[int]) -> list[dict[str, Any]]:
    """Build a pair's rows in that order: its correct and then its adversarial picture."""
    return [
        {
            "text": rows[index]["text"],
            "sha256": rows[index][side],
            "pair": f"{index}/{turn}",
            "side": side,
        }
        for turn, index in enumerate(order)
        for side in SIDES
    ]


def build_dataset(rows: Sequence[Row], images: ImageStore, shown: Callable[[Row], Row]) -> Any:
    """A data set of these rows; `shown` says what a trainer gets of one, besides its picture."""
    picture = _opener(images)

    def opened(batch: Mapping[str, Sequence[Any]]) -> dict[str, list[Any]]:
        names = list(batch)
        rows_of_batch = [
            dict(zip(names, cells, strict=True)) for cells in zip(*batch.values(), strict=True)
        ]
        trainer_rows = [{**shown(row), "image": picture(row["sha256"])} for row in rows_of_batch]
        return {
            name: [trainer_row[name] for trainer_row in trainer_rows] for name in trainer_rows[0]
        }

    return (
        import_library("datasets").Dataset.from_list(list(map(dict, rows))).with_transform(opened)
    )


def build_user_turn(text: str) -> list[dict[str, str]]:
    """Build the question about a picture; trainers put the picture before it."""
    return [{"role": "user", "content": text}]


def build_assistant_turn(text: str) -> list[dict[str, str]]:
    """Build the answer to learn."""
    return [{"role": "assistant", "content": text}]


def _opener(images: ImageStore) -> Callable[[str], Image.Image]:
    @lru_cache(_OPEN)
    def picture(digest: str) -> Image.Image:
        return Image.open(io.BytesIO(images.get(digest))).convert("RGB")

    return picture
