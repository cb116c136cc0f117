"""Differences of failure rates: between metrics on the same pairs, and between painters.

Two metrics are compared on the pairs that both have scored. The interval is that of a paired
difference (`metrics.statistics.paired_intervals`); the p-value is of a sign-flip test: if both
were equally good, each prompt's difference could equally have the other sign. Whole prompts are
flipped, as the pairs of a prompt are not independent; with one pair per prompt this is McNemar's
test. In simulations of equal metrics (8 to 100 prompts of 1 to 5 pairs, failing 10 to 70 % of them)
it rejected at a level of 5 % in 0 to 6 % of data sets, less for fewer prompts; the interval held 0
in 93 to 100 %.

Two painters' pairs are not the same, and differ in number, so that their failure rates are compared
over the prompts of which both have pairs, each prompt weighing the same.
"""

from collections.abc import Iterator
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from metrics.protobias.ranking import ALL, stratified_mean
from metrics.protobias.scored_pairs import pair_scores
from metrics.statistics.cluster_bootstrap import build_generator
from metrics.statistics.paired_intervals import paired_interval

FLIPS = 9999

_NUMBERS = ["prompts", "difference", "low", "high"]
_BETWEEN_METRICS = ["painter", "sample", "domain", "first", "second", *_NUMBERS, "p", "p_holm"]
_BETWEEN_PAINTERS = ["sample", "metric", "domain", "earlier", "later", *_NUMBERS]

Values = NDArray[np.float64]
Codes = NDArray[np.integer[Any]]


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
    values: Values = np.asarray(differences, np.float64)
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


def sign_flip_test(differences: Values, clusters: Codes, strata: Codes, *, seed: int) -> float:
    """The p-value of a sign-flip test: how likely a mean this far from 0 is under random signs.

    The mean is that over strata of the means of their `differences`, NaN where there is none.
    `clusters` are whole numbers from 0 on, unique over all strata. Two-sided, by `FLIPS` random
    flips; the observed mean counts as one more, so that p is never 0.
    """
    is_compared = ~np.isnan(differences)
    rows = np.bincount(strata[is_compared])
    weights = 1 / (np.count_nonzero(rows) * rows[strata[is_compared]])
    cluster_shares = np.bincount(clusters[is_compared], differences[is_compared] * weights)
    cluster_shares = cluster_shares[cluster_shares != 0]
    generator = build_generator(f"flips/{seed}/{len(cluster_shares)}")
    bits = np.frombuffer(generator.bytes(FLIPS * len(cluster_shares)), np.int8) & 1
    heads = np.einsum("ij,j->i", bits.reshape(FLIPS, len(cluster_shares)), cluster_shares)
    flipped_sums = np.abs(2 * heads - cluster_shares.sum())
    # Sums in another order may differ in their last digit, and are the same for all that.
    return float((1 + np.sum(flipped_sums >= abs(cluster_shares.sum()) - 1e-12)) / (1 + FLIPS))


def correct_by_holm(p: ArrayLike) -> NDArray[np.float64]:
    """Correct p-values for their number, in their order; NaN, which is no test, stays.

    The smallest of m is multiplied by m, the next by m − 1 and so on; none is then smaller than
    one before it, or above 1 (Holm 1979).

    >>> correct_by_holm([0.01, 0.04, 0.03]).tolist()
    [0.03, 0.06, 0.06]
    """
    values = np.asarray(p, np.float64)
    corrected = np.full(values.shape, np.nan)
    tested_indices = np.flatnonzero(~np.isnan(values))
    order = tested_indices[np.argsort(values[tested_indices], kind="stable")]
    factors = np.arange(len(order), 0, -1)
    corrected[order] = np.minimum(1.0, np.maximum.accumulate(values[order] * factors))
    return corrected
