"""Retention of a painter's concepts after each step, shown until scores exist."""

from collections.abc import Iterator, Sequence
from typing import TypeAlias

import pandas as pd

from assets.kit.columns import to_records
from assets.protobias.common import asset_key
from assets.protobias.selection import list_surviving_pairs
from generators.prompts.concepts import DOMAINS
from resources.models.catalog import Model
from resources.storage.data_root import DataRoot

ALL_KNOBS = "all"
_COLUMNS = ["domain", "knob", "stage", "number", "of", "share"]

KnobByItem: TypeAlias = "pd.Series[str]"
"""The knob of each thing that is counted."""


def count_retention(home: DataRoot, painter: str, models: Sequence[Model]) -> pd.DataFrame:
    """Count one row per domain, knob and stage, in this order; knob `all` comes first.

    Columns: domain, knob, stage, number, of, share. `concepts` and accepted `triplets` are
    concepts; from `painted` on (a picture on both sides) they are pairs. `scored` are those on both
    sides by every one of `models` that has scored this domain at all. `of` is what there could have
    been: all concepts, all pairs that were asked for, what the stage before let through. `share` is
    number ÷ of, NaN for none of 0. A stage that is not there yet has no row.
    """
    rows = []
    for domain in DOMAINS:
        stages = list(_stages(home, painter, domain, models))
        for knob in (
            ALL_KNOBS,
            *sorted({knob for *_, stage_knobs in stages for knob in stage_knobs}),
        ):
            for stage, *both in stages:
                number, total = (
                    len(knobs if knob == ALL_KNOBS else knobs[knobs == knob]) for knobs in both
                )
                rows.append(
                    [domain, knob, stage, number, total, number / total if total else float("nan")]
                )
    return pd.DataFrame(rows, columns=_COLUMNS)


def _stages(
    home: DataRoot, painter: str, domain: str, models: Sequence[Model]
) -> Iterator[tuple[str, KnobByItem, KnobByItem]]:
    """The stages of a domain that are there, each with what is left, and of what."""
    concepts = home.find(asset_key("concepts"), domain, ["knob"])
    if concepts is not None:
        yield ("concepts", concepts["knob"], concepts["knob"])
    triplets = home.find(asset_key("prompt_triplets"), domain, ["knob", "outcome"])
    if triplets is not None:
        accepted = triplets["outcome"] == "accepted"
        yield ("triplets", triplets.loc[accepted, "knob"], triplets["knob"])
    partition, named = f"{domain}|{painter}", ["pair_id", "knob", "outcome"]
    pictures = home.find(asset_key("image_pairs"), partition, named)
    if pictures is not None:
        requested_pairs = pictures.groupby("pair_id")["knob"].first()
        painted = requested_pairs[
            _select_complete(pictures["pair_id"][pictures["outcome"] == "painted"])
        ]
        yield ("painted", painted, requested_pairs)
    named = ["pair_id", "knob", "kept", "evaluated"]
    filtered = home.find(asset_key("filtered_pairs"), partition, named)
    if filtered is None:
        return
    all_of = filtered.groupby("pair_id")["knob"].first()
    kept_pairs = all_of[list_surviving_pairs(to_records(filtered))]
    evaluated = all_of[_select_complete(filtered["pair_id"][filtered["evaluated"]])]
    yield ("kept", kept_pairs, all_of)
    yield ("evaluated", evaluated, kept_pairs)
    named = ["pair_id", "outcome"]
    scores = [
        table
        for model in models
        if (table := home.find(asset_key(f"scores_{model.name}"), partition, named)) is not None
    ]
    if scores:
        both = [
            _select_complete(table["pair_id"][table["outcome"] == "scored"]) for table in scores
        ]
        scored_pairs = set.intersection(*map(set, both))
        yield ("scored", evaluated[evaluated.index.isin(scored_pairs)], evaluated)


def _select_complete(pairs: "pd.Series[str]") -> "pd.Index[str]":
    """The pairs that are named twice."""
    times = pairs.value_counts(sort=False)
    return times.index[times == 2]
