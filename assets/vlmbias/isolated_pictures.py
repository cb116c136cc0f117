"""Isolated pictures that judges are shown in place of those that questions are about."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any

import pandas as pd
from dagster import AssetKey

from assets.kit.columns import to_records
from assets.kit.table_asset import NotMaterialized, TablesMismatch
from assets.vlmbias.common import asset_key
from assets.vlmbias.verification import require_verified
from generators.topics import PHOTOGRAPHED

ISOLATED_KEY, _READINGS_KEY = asset_key("isolated_images"), asset_key("isolated_measurements")
_PHOTOGRAPHS_KEY = asset_key("isolated_photographs")
FindTable = Callable[[AssetKey, str], pd.DataFrame | None]

_REMEDY = "Materialize vlmbias/isolated_images and vlmbias/isolated_measurements ({topic})."


def find_isolated_photographs(topic: str, find_table: FindTable) -> dict[str, dict[str, Any]]:
    """Map the sha256 of photographs to the rows of `isolated_photographs` that isolate them.

    Has only those that a person has accepted; none of drawn topics.
    """
    table = find_table(_PHOTOGRAPHS_KEY, topic) if topic in PHOTOGRAPHED else None
    rows = [] if table is None else to_records(table)
    return {row["photograph_sha256"]: row for row in rows}


def mark_isolated(questions: pd.DataFrame, topic: str, find_table: FindTable) -> pd.DataFrame:
    """Add `has_isolated`: whether a question is about a photograph that was isolated."""
    photographs = find_isolated_photographs(topic, find_table)
    return questions.assign(has_isolated=questions["sha256"].isin(photographs))


def find_isolated_pictures(
    questions: Iterable[Mapping[str, Any]], topic: str, find_table: FindTable
) -> dict[str, str]:
    """Map the sha256 of each question's picture to that of its scene, isolated in the same size.

    Raises `NotMaterialized` where a drawn topic has none, `Unverified` where a label of theirs is
    not proved, and `TablesMismatch` where they are of other seeds or sizes than the questions.
    """
    if topic in PHOTOGRAPHED:
        photographs = find_isolated_photographs(topic, find_table)
        return {photograph: row["sha256"] for photograph, row in photographs.items()}
    remedy = _REMEDY.format(topic=topic)
    images, measurements = (find_table(key, topic) for key in (ISOLATED_KEY, _READINGS_KEY))
    if images is None or measurements is None:
        raise NotMaterialized(f"vlmbias/isolated_images ({topic}): not proved yet. {remedy}")
    require_verified(images, measurements, is_isolated=True)
    isolated = {(row["image_id"], row["seed"]): row["sha256"] for row in to_records(images)}
    pictures: dict[str, str] = {}
    for row in questions:
        sha256 = isolated.get((row["image_id"], row["seed"]))
        if sha256 is None:
            raise TablesMismatch(
                f"vlmbias/isolated_images ({topic}): lacks {row['image_id']} of seed "
                f"{row['seed']}, which vlmbias/questions asks about. {remedy}"
            )
        pictures[row["sha256"]] = sha256
    return pictures
