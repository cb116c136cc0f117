"""The pairs of ProtoBias that metrics can be trained on, and those that are kept from that."""

from collections import defaultdict
from collections.abc import Mapping
from typing import Any

from assets.kit.columns import records
from assets.kit.pairs import Pair, PairTable
from assets.protobias.common import (
    FILTERED_KEY,
    TRIPLETS_KEY,
    domain_and_painter,
    pairs,
)
from assets.protobias.pairs import SIDES
from resources.home import Home

_READ = [
    *("domain", "painter", "concept_id", "concept", "knob", "text", "pair_id", "side", "prompt"),
    *("sample", "sha256", "pair_kept", "evaluated", "rehearsal"),
]


def _kept(home: Home, partition: str) -> list[Pair]:
    """The pairs of a painter and domain that the filter has kept, evaluated ones among them."""
    filtered = home.find(FILTERED_KEY, partition, _READ)
    if filtered is None:
        return []
    places = _places(home, domain_and_painter(partition)[0])
    by_pair: dict[str, dict[str, dict[str, Any]]] = defaultdict(dict)
    for row in records(filtered[filtered["pair_kept"].astype(bool)]):
        by_pair[row["pair_id"]][row["side"]] = row
    return [_pair(sides, places) for sides in by_pair.values()]


def _places(home: Home, domain: str) -> Mapping[str, str]:
    """By concept, where its scene is."""
    triplets = home.find(TRIPLETS_KEY, domain, ["concept_id", "environment_hint"])
    found = [] if triplets is None else records(triplets)
    return {row["concept_id"]: row["environment_hint"] for row in found}


def _pair(sides: Mapping[str, Mapping[str, Any]], places: Mapping[str, str]) -> Pair:
    correct, adversarial = (sides[side] for side in SIDES)
    same = ("pair_id", "painter", "domain", "concept_id", "concept", "knob", "text")
    return Pair(
        **{name: correct[name] for name in same},
        place=places.get(correct["concept_id"]) or "",
        sample=int(correct["sample"]),
        sentences=(correct["prompt"], adversarial["prompt"]),
        correct=correct["sha256"],
        adversarial=adversarial["sha256"],
        evaluated=bool(correct["evaluated"]),
        rehearsal=bool(correct["rehearsal"]),
    )


TRAINING_PAIRS = PairTable(asset=FILTERED_KEY, partitions=pairs, pairs=_kept)
