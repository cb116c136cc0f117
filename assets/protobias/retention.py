"""What is left of a painter's concepts after each step, until there are scores."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple, TypeAlias

import pandas as pd

from assets.kit.columns import records
from assets.protobias.common import key
from assets.protobias.selection import surviving
from generators.prompts.concepts import DOMAINS
from resources.home import Home
from resources.models.catalog import Model

ALL = "all"
_COLUMNS = ["domain", "knob", "stage", "number", "of", "share"]

Knobs: TypeAlias = "pd.Series[str]"
"""The knob of each thing that is counted."""


def retention(home: Home, painter: str, models: Sequence[Model]) -> pd.DataFrame:
    """One row a domain, knob and stage, in this order; knob `all`, the whole domain, comes first.

    Columns: domain, knob, stage, number, of, share. `concepts` and accepted `triplets` are
    concepts; from `painted` on (a picture on both sides) they are pairs. `scored` are those on both
    sides by every one of `models` that has scored this domain at all. `of` is what there could have
    been: all concepts, all pairs that were asked for, what the stage before let through. `share` is
    number ÷ of, NaN for none of 0. A stage that is not there yet has no row.
    """
    rows = [
        [domain, knob, stage, number, of, number / of if of else float("nan")]
        for domain in DOMAINS
        for knob, stage, number, of in _of_domain(home, painter, domain, models)
    ]
    return pd.DataFrame(rows, columns=_COLUMNS)


class _Stage(NamedTuple):
    name: str
    left: Knobs
    of: Knobs


def _of_domain(
    home: Home, painter: str, domain: str, models: Sequence[Model]
) -> Iterator[tuple[str, str, int, int]]:
    stages = list(_stages(home, painter, domain, models))
    for knob in (ALL, *sorted({knob for stage in stages for knob in stage.of})):
        for name, *both in stages:
            number, of = (len(each) if knob == ALL else int((each == knob).sum()) for each in both)
            yield knob, name, number, of


def _stages(home: Home, painter: str, domain: str, models: Sequence[Model]) -> Iterator[_Stage]:
    """The stages of a domain that are there."""
    concepts = home.find(key("concepts"), domain, ["knob"])
    if concepts is not None:
        yield _Stage("concepts", concepts["knob"], concepts["knob"])
    triplets = home.find(key("prompt_triplets"), domain, ["knob", "outcome"])
    if triplets is not None:
        accepted = triplets["outcome"] == "accepted"
        yield _Stage("triplets", triplets.loc[accepted, "knob"], triplets["knob"])
    partition, named = f"{domain}|{painter}", ["pair_id", "knob", "outcome"]
    pictures = home.find(key("image_pairs"), partition, named)
    if pictures is not None:
        asked = pictures.groupby("pair_id")["knob"].first()
        painted = asked[_on_both_sides(pictures["pair_id"][pictures["outcome"] == "painted"])]
        yield _Stage("painted", painted, asked)
    named = ["pair_id", "knob", "kept", "evaluated"]
    filtered = home.find(key("filtered_pairs"), partition, named)
    if filtered is None:
        return
    all_of = filtered.groupby("pair_id")["knob"].first()
    kept = all_of[surviving(records(filtered))]
    evaluated = all_of[_on_both_sides(filtered["pair_id"][filtered["evaluated"]])]
    yield _Stage("kept", kept, all_of)
    yield _Stage("evaluated", evaluated, kept)
    named = ["pair_id", "outcome"]
    scores = [
        table
        for model in models
        if (table := home.find(key(f"scores_{model.name}"), partition, named)) is not None
    ]
    if scores:
        both = [_on_both_sides(table["pair_id"][table["outcome"] == "scored"]) for table in scores]
        left = set.intersection(*map(set, both))
        yield _Stage("scored", evaluated[evaluated.index.isin(left)], evaluated)


def _on_both_sides(pairs: "pd.Series[str]") -> "pd.Index[str]":
    """The pairs that are named twice."""
    times = pairs.value_counts(sort=False)
    return times.index[times == 2]
