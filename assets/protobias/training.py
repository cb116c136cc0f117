"""The pairs of ProtoBias that metrics can be trained on, and those excluded from training."""

from collections import defaultdict
from collections.abc import Mapping
from typing import Any

from assets.kit.columns import to_records
from assets.kit.pairs import PairTable, TrainingPair
from assets.protobias.common import (
    FILTERED_KEY,
    TRIPLETS_KEY,
    pairs,
    split_pair_key,
)
from assets.protobias.image_pairs import SIDES
from resources.storage.data_root import DataRoot

_READ_COLUMNS = [
    *("domain", "painter", "concept_id", "concept", "knob", "text", "pair_id", "side", "prompt"),
    *("sample", "sha256", "pair_kept", "evaluated", "is_stand_in"),
]


def _load_kept_pairs(home: DataRoot, partition: str) -> list[TrainingPair]:
    """The pairs of a painter and domain that the filter has kept, evaluated ones among them."""
    filtered = home.find(FILTERED_KEY, partition, _READ_COLUMNS)
    if filtered is None:
        return []
    settings = _load_settings(home, split_pair_key(partition)[0])
    by_pair: dict[str, dict[str, dict[str, Any]]] = defaultdict(dict)
    for row in to_records(filtered[filtered["pair_kept"].astype(bool)]):
        by_pair[row["pair_id"]][row["side"]] = row
    return [_pair(sides, settings) for sides in by_pair.values()]


def _load_settings(home: DataRoot, domain: str) -> Mapping[str, str]:
    """Return the setting of each concept's scene."""
    triplets = home.find(TRIPLETS_KEY, domain, ["concept_id", "environment_hint"])
    rows = [] if triplets is None else to_records(triplets)
    return {row["concept_id"]: row["environment_hint"] for row in rows}


def _pair(sides: Mapping[str, Mapping[str, Any]], settings: Mapping[str, str]) -> TrainingPair:
    correct, adversarial = (sides[side] for side in SIDES)
    same = ("pair_id", "painter", "domain", "concept_id", "concept", "knob", "text")
    return TrainingPair(
        **{name: correct[name] for name in same},
        setting=settings.get(correct["concept_id"]) or "",
        sample=int(correct["sample"]),
        sentences=(correct["prompt"], adversarial["prompt"]),
        correct=correct["sha256"],
        adversarial=adversarial["sha256"],
        evaluated=bool(correct["evaluated"]),
        is_stand_in=bool(correct["is_stand_in"]),
    )


TRAINING_PAIRS = PairTable(asset=FILTERED_KEY, partitions=pairs, load_pairs=_load_kept_pairs)
