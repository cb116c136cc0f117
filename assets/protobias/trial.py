"""Sample sizes relative to the paper's, and when a result is a trial."""

from collections.abc import Sequence
from typing import NamedTuple

import pandas as pd

from assets.kit.columns import to_records
from assets.kit.limits import format_count_of_total
from assets.protobias.common import asset_key
from assets.protobias.concepts import format_sample_size
from generators.prompts.concepts import DOMAINS
from resources.storage.data_root import DataRoot

MIN_RANKED_PAIRS = 100
"""Pairs of a domain that are evaluated at least where results are no trial."""


class DomainSample(NamedTuple):
    """Sample behind a painter's results in a domain."""

    domain: str
    concepts: int
    evaluated: int
    partial_steps: Sequence[str]
    """Describe the steps that a limit has cut short."""

    @property
    def is_trial(self) -> bool:
        """Return whether the sample is too small, or too incomplete, to be ranked."""
        return self.evaluated < MIN_RANKED_PAIRS or bool(self.partial_steps)

    @property
    def describe(self) -> str:
        """Describe the sample, as in "Animals: 6 of 2,000 concepts, 18 pairs evaluated"."""
        size = (
            f"{format_sample_size(self.concepts, self.domain)}, {self.evaluated:,} pairs evaluated"
        )
        return "; ".join([f"{self.domain.capitalize()}: {size}", *self.partial_steps])


def load_samples(home: DataRoot, painter: str) -> list[DomainSample]:
    """Load the samples behind a painter's results, one for each filtered domain."""
    return [sample for domain in DOMAINS if (sample := _sample(home, painter, domain)) is not None]


def _sample(home: DataRoot, painter: str, domain: str) -> DomainSample | None:
    partition, named = f"{domain}|{painter}", ["concept_id", "pair_id"]
    filtered = home.find(asset_key("filtered_pairs"), partition, [*named, "evaluated"])
    if filtered is None:
        return None
    pictures = home.find(asset_key("image_pairs"), partition, named)
    painted = filtered if pictures is None else pictures
    triplets = home.find(asset_key("prompt_triplets"), domain, ["concept_id", "outcome"])
    concepts = home.find(asset_key("concepts"), domain, ["concept_id"])
    parts: list[str] = []
    number = drawn = painted["concept_id"].nunique()
    if triplets is not None:
        accepted = set(triplets.loc[triplets["outcome"] == "accepted", "concept_id"])
        if accepted <= set(painted["concept_id"]):
            number = len(triplets)
        else:
            parts.append(f"painted {format_count_of_total(drawn, len(accepted), 'triplets')}")
        if concepts is not None and len(triplets) < len(concepts):
            parts.append(
                f"written {format_count_of_total(len(triplets), len(concepts), 'triplets')}"
            )
    pairs, looked = (table["pair_id"].nunique() for table in (painted, filtered))
    if looked < pairs:
        parts.append(f"filtered {format_count_of_total(looked, pairs, 'pairs')}")
    return DomainSample(
        domain=domain,
        concepts=number,
        evaluated=int(filtered["evaluated"].sum()) // 2,
        partial_steps=parts,
    )


def find_partial_scores(scores: pd.DataFrame, samples: Sequence[DomainSample]) -> dict[str, str]:
    """Describe, by metric, the domains in which it has scored only some of the evaluated pairs.

    `scores` are those of the sample `evaluated` (`score_table.load_all_scores`).
    """
    evaluated = {sample.domain: sample.evaluated for sample in samples}
    counts = scores.groupby(["metric", "domain"], sort=False)["pair_id"].nunique()
    parts_by_metric: dict[str, list[str]] = {}
    for row in to_records(counts.reset_index(name="pairs")):
        metric, domain, pairs = row["metric"], row["domain"], row["pairs"]
        if pairs < evaluated[domain]:
            part = f"{domain} {format_count_of_total(pairs, evaluated[domain], 'pairs')}"
            parts_by_metric.setdefault(metric, []).append(part)
    return {metric: ", ".join(parts) for metric, parts in parts_by_metric.items()}
