"""ProtoBias's Tables 1 and 2 and Figures 2 and 3: failures, mean scores and margins of metrics.

- A metric fails on a pair where M(adv) ≥ M(corr) (eq. 5): a tie fails. Ties have a rate of their
  own, and enter the incorrect margin as 0.
- SC and PA are the mean scores of correct and adversarial pictures; Δ = SC − PA.
- The correct margin is the mean of M(corr) − M(adv) over the pairs that are ranked right, and the
  incorrect one that of M(adv) − M(corr) over those that fail, so that with a failure rate f
  Δ = (1 − f) · correct − f · incorrect.
- A pair that lacks a score on a side is unscored, and in none of these.
- Domain `all` is the mean over domains, each weighing the same, as the paper's evaluation set is
  even. Where a metric lacks one that another metric has scored, it is null. A margin is then the
  mean over those domains in which there is one.
"""

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from metrics.protobias.scored_pairs import pair_scores
from metrics.statistics.cluster_bootstrap import Interval
from metrics.statistics.cluster_intervals import stratified_interval
from metrics.statistics.graded_intervals import graded_interval

ALL = "all"
MEASURES = (
    *("failure_rate", "tie_rate", "sc", "pa", "delta"),
    *("correct_margin", "incorrect_margin"),
)

_METRIC = ["painter", "is_stand_in", "sample", "metric", "formula", "same_family"]
_PART = ["domain", "knob", "concept"]
_COUNTS = ["pairs", "prompts", "unscored", "ties"]
_NUMBERS = [f"{name}{end}" for name in MEASURES for end in ("", "_low", "_high")]
_COLUMNS = [*_METRIC, *_PART, *_COUNTS, *_NUMBERS]
_INTERVALS: Mapping[str, Callable[..., Interval]] = {
    "failure_rate": stratified_interval,
    "tie_rate": stratified_interval,
    "delta": partial(graded_interval, least=-1.0),
}


def ranking_table(scores: pd.DataFrame, *, seed: int = 0) -> pd.DataFrame:
    """Compute one row for each painter × sample × metric × domain × (all, each knob, each concept).

    `scores` has one row per picture, as `metrics.protobias.scored_pairs.pair_scores` takes it. Rows
    are by knob or by
    concept, inside their domain; `all` covers every one. A domain stands before its knobs and
    concepts, and domain `all` last.

    `pairs` counts those with a score on both sides and `prompts` their concepts, `unscored` the
    others, `ties` those of `pairs` that tie. Numbers have 95 % intervals, `…_low` and `…_high`, by
    a bootstrap over prompts (`metrics.statistics.cluster_intervals` for shares,
    `metrics.statistics.graded_intervals` for scores),
    the same for the same `seed`; they are NaN where there is nothing to average.
    """
    pairs = pair_scores(scores)
    pairs["cluster"] = pairs.groupby(["domain", "concept_id"]).ngroup()
    pairs["stratum"] = pairs.groupby("domain").ngroup()
    same_family = pairs.groupby(["painter", "sample", "metric"])["same_family"].transform("any")
    pairs["same_family"] = same_family.astype(bool)
    records = [
        {**dict(zip(_METRIC, metric, strict=True)), **part, **_compute_numbers(rows, domains, seed)}
        for _, sample_pairs in pairs.groupby(["painter", "sample"], sort=False)
        for part, part_pairs, domains in _parts(sample_pairs)
        for metric, rows in part_pairs.groupby(_METRIC, sort=False)
    ]
    kinds = dict.fromkeys(_COUNTS, "int64") | dict.fromkeys(_NUMBERS, "float64")
    table = pd.DataFrame(records, columns=_COLUMNS).astype(kinds)
    # Every metric of a part has the same resamples, which are kept while they are of use.
    order = table.groupby(["painter", "sample", "metric"], sort=False).ngroup()
    return table.iloc[np.argsort(order, kind="stable")].reset_index(drop=True)


def _parts(pairs: pd.DataFrame) -> Iterator[tuple[dict[str, Any], pd.DataFrame, int]]:
    """Yield the columns, the pairs and the number of domains of each group of rows."""
    for domain, domain_pairs in pairs.groupby("domain"):
        part = {"domain": domain, "knob": ALL, "concept": ALL}
        yield part, domain_pairs, 1
        for name in ("knob", "concept"):
            for value, rows in domain_pairs.groupby(name):
                yield {**part, name: value}, rows, 1
    yield dict.fromkeys(_PART, ALL), pairs, pairs["domain"].nunique()


def _compute_numbers(pairs: pd.DataFrame, domains: int, seed: int) -> dict[str, float]:
    """The numbers of one row: the mean over its domains, one or more."""
    fails, sc, pa = (pairs[name].to_numpy() for name in ("fails", "sc", "pa"))
    scored = ~np.isnan(fails)
    clusters, strata = pairs["cluster"].to_numpy(), pairs["stratum"].to_numpy()
    values = {
        "failure_rate": fails,
        "tie_rate": pairs["tie"].to_numpy(),
        "sc": sc,
        "pa": pa,
        "delta": sc - pa,
        "correct_margin": np.where(fails == 0, sc - pa, np.nan),
        "incorrect_margin": np.where(fails == 1, pa - sc, np.nan),
    }
    numbers: dict[str, float] = {
        "pairs": int(scored.sum()),
        "prompts": len(np.unique(clusters[scored])),
        "unscored": int((~scored).sum()),
        "ties": int(np.nansum(values["tie_rate"])),
    }
    is_complete = len(np.unique(strata[scored])) == domains
    for name, column in values.items():
        mean = low = high = float("nan")
        if is_complete and not np.isnan(column).all():
            interval = _INTERVALS.get(name, graded_interval)
            mean = stratified_mean(column, strata)
            low, high = interval(column, clusters, strata, seed=seed)
        numbers |= {name: mean, f"{name}_low": low, f"{name}_high": high}
    return numbers


def stratified_mean(values: NDArray[np.float64], strata: NDArray[np.int64]) -> float:
    """The mean over strata of the means of the values there are; at least one is there."""
    is_present = ~np.isnan(values)
    rows = np.bincount(strata[is_present])
    sums = np.bincount(strata[is_present], values[is_present])
    return float(np.mean(sums[rows > 0] / rows[rows > 0]))
