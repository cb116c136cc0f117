"""Differences of failure rates: between metrics on the same pairs, and between painters.

Two metrics are compared on the pairs that both have scored. The interval is that of a paired
difference (`metrics.statistics.paired_intervals`); the p-value is of a sign-flip test of prompts
(`metrics.statistics.sign_flips`).

Two painters' pairs are not the same, and differ in number, so that their failure rates are compared
over the prompts of which both have pairs, each prompt weighing the same.
"""

from collections.abc import Iterator
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from metrics.protobias.ranking import ALL, stratified_mean
from metrics.protobias.scored_pairs import pair_scores
from metrics.statistics.paired_intervals import paired_interval
from metrics.statistics.sign_flips import correct_by_holm, sign_flip_test

_NUMBERS = ["prompts", "difference", "low", "high"]
_BETWEEN_METRICS = ["painter", "sample", "domain", "first", "second", *_NUMBERS, "p", "p_holm"]
_BETWEEN_PAINTERS = ["sample", "metric", "domain", "earlier", "later", *_NUMBERS]


def compare_metrics(scores: pd.DataFrame, *, seed: int = 0) -> pd.DataFrame:
    """Compute one row for each painter, sample, domain and two metrics.

    `scores` is as `metrics.protobias.ranking.ranking_table` takes it. `difference` is the failure
    rate of
    `first` less that of `second`, over the pairs that both have scored, with its 95 % interval;
    `prompts` counts their concepts. `p` is of the sign-flip test, and `p_holm` is corrected for all
    two metrics inside the same painter, sample and domain. Domain `all`, which comes last, is the
    mean over domains. Numbers are NaN where the two have no pair in common, of any domain if it is
    `all`.
    """
    pairs = pair_scores(scores)
    rows: list[dict[str, Any]] = []
    for (painter, sample), sample_pairs in pairs.groupby(["painter", "sample"], sort=False):
        fails = sample_pairs.pivot(
            index=["domain", "concept_id", "pair_id"], columns="metric", values="fails"
        )
        metrics = list(sample_pairs["metric"].unique())
        for domain, domain_fails in _domains(fails):
            comparisons = [
                {
                    "first": first,
                    "second": second,
                    **_difference(domain_fails[first] - domain_fails[second], seed, has_test=True),
                }
                for first, second in combinations(metrics, 2)
            ]
            labels = {"painter": painter, "sample": sample, "domain": domain}
            corrected = correct_by_holm([row["p"] for row in comparisons])
            rows += [
                {**labels, **row, "p_holm": p}
                for row, p in zip(comparisons, corrected, strict=True)
            ]
    return pd.DataFrame(rows, columns=_BETWEEN_METRICS)


def compare_painters(scores: pd.DataFrame, *, seed: int = 0) -> pd.DataFrame:
    """Compute one row for each sample, metric, domain and two painters that it has scored.

    `scores` holds those of several painters, in the order in which they came: `earlier` comes
    before `later`. `difference` is the failure rate of the later less that of the earlier one, as
    the mean over the `prompts` of which both have pairs with scores, with its 95 % interval. Domain
    `all` is the mean over domains. Stand-ins are compared with stand-ins alone.
    """
    pairs = pair_scores(scores)
    rows: list[dict[str, Any]] = []
    for (sample, metric, _), sample_pairs in pairs.groupby(
        ["sample", "metric", "is_stand_in"], sort=False
    ):
        fails = (
            sample_pairs.groupby(["domain", "concept_id", "painter"])["fails"]
            .mean()
            .unstack("painter")
        )
        for domain, domain_fails in _domains(fails):
            for earlier, later in combinations(sample_pairs["painter"].unique(), 2):
                differences = domain_fails[later] - domain_fails[earlier]
                numbers = _difference(differences, seed, has_test=False)
                labels = {"sample": sample, "metric": metric, "domain": domain}
                rows.append({**labels, "earlier": earlier, "later": later, **numbers})
    return pd.DataFrame(rows, columns=_BETWEEN_PAINTERS)


def _domains(fails: pd.DataFrame) -> Iterator[tuple[str, pd.DataFrame]]:
    """Yield the rows of each domain, then all rows."""
    for domain, rows in fails.groupby(level="domain"):
        yield str(domain), rows
    yield ALL, fails


def _difference(differences: "pd.Series[float]", seed: int, *, has_test: bool) -> dict[str, float]:
    """The mean of differences by domain and concept, with its interval and, if tested, p-value.

    They are NaN unless every domain has one.
    """
    values: NDArray[np.float64] = np.asarray(differences, np.float64)
    is_compared = ~np.isnan(values)
    domains = differences.index.get_level_values("domain").factorize(sort=True)[0]
    clusters = differences.groupby(level=["domain", "concept_id"]).ngroup().to_numpy()
    numbers = {"p": float("nan")}
    if len(np.unique(domains[is_compared])) == len(np.unique(domains)):
        low, high = paired_interval(values, clusters, domains, seed=seed)
        numbers |= {"difference": stratified_mean(values, domains), "low": low, "high": high}
        if has_test:
            numbers["p"] = sign_flip_test(values, clusters, domains, seed=seed)
    return {"prompts": len(np.unique(clusters[is_compared])), **numbers}
