"""Sample sizes relative to the paper's, and when a result is a trial."""

from collections.abc import Sequence
from typing import NamedTuple

import pandas as pd

from assets.kit.columns import records
from assets.kit.limits import so_many
from assets.protobias.common import key
from assets.protobias.concepts import sample_size
from generators.prompts.concepts import DOMAINS
from resources.home import Home

ENOUGH = 100
"""Pairs of a domain that are evaluated at least where results are no trial."""


class Sample(NamedTuple):
    """What a painter's results in a domain rest on."""

    domain: str
    concepts: int
    evaluated: int
    parts: Sequence[str]
    """In words: the steps that a limit has cut short."""

    @property
    def is_trial(self) -> bool:
        """Whether it is too small, or partial, to be ranked."""
        return self.evaluated < ENOUGH or bool(self.parts)

    @property
    def told(self) -> str:
        """As in "Animals: 6 of 2,000 concepts, 18 pairs evaluated"."""
        size = f"{sample_size(self.concepts, self.domain)}, {self.evaluated:,} pairs evaluated"
        return "; ".join([f"{self.domain.capitalize()}: {size}", *self.parts])


def samples_of(home: Home, painter: str) -> list[Sample]:
    """What a painter's pairs rest on, for each domain that is filtered."""
    return [sample for domain in DOMAINS if (sample := _sample(home, painter, domain)) is not None]


def _sample(home: Home, painter: str, domain: str) -> Sample | None:
    where, named = f"{domain}|{painter}", ["concept_id", "pair_id"]
    filtered = home.find(key("filtered_pairs"), where, [*named, "evaluated"])
    if filtered is None:
        return None
    pictures = home.find(key("image_pairs"), where, named)
    painted = filtered if pictures is None else pictures
    triplets = home.find(key("prompt_triplets"), domain, ["concept_id", "outcome"])
    concepts = home.find(key("concepts"), domain, ["concept_id"])
    parts: list[str] = []
    number = drawn = painted["concept_id"].nunique()
    if triplets is not None:
        accepted = set(triplets.loc[triplets["outcome"] == "accepted", "concept_id"])
        if accepted <= set(painted["concept_id"]):
            number = len(triplets)
        else:
            parts.append(f"painted {so_many(drawn, len(accepted), 'triplets')}")
        if concepts is not None and len(triplets) < len(concepts):
            parts.append(f"written {so_many(len(triplets), len(concepts), 'triplets')}")
    pairs, looked = (table["pair_id"].nunique() for table in (painted, filtered))
    if looked < pairs:
        parts.append(f"filtered {so_many(looked, pairs, 'pairs')}")
    return Sample(domain, number, int(filtered["evaluated"].sum()) // 2, parts)


def scored_in_part(scores: pd.DataFrame, samples: Sequence[Sample]) -> dict[str, str]:
    """By metric that was asked about a part of a domain's evaluated pairs: how many, in words.

    `scores` are those of the sample `evaluated` (`score_table.all_scores`).
    """
    evaluated = {sample.domain: sample.evaluated for sample in samples}
    counts = scores.groupby(["metric", "domain"], sort=False)["pair_id"].nunique()
    found: dict[str, list[str]] = {}
    for row in records(counts.reset_index(name="pairs")):
        metric, domain, pairs = row["metric"], row["domain"], row["pairs"]
        if pairs < evaluated[domain]:
            said = f"{domain} {so_many(pairs, evaluated[domain], 'pairs')}"
            found.setdefault(metric, []).append(said)
    return {metric: ", ".join(parts) for metric, parts in found.items()}
