"""Rates of CDH-Bench (Chen et al. 2026): does a judge follow the picture or common sense?"""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from metrics.statistics.cluster_bootstrap import (
    RESAMPLES,
    Interval,
    build_generator,
    percentile_interval,
)
from metrics.statistics.cluster_intervals import stratified_interval
from metrics.statistics.graded_intervals import expand_level, graded_interval
from metrics.statistics.paired_intervals import paired_interval

ALL = "all"
RATES = ("cf_accuracy", "cs_accuracy", "drop", "collapse", "dependency")
_UNKNOWN = Interval(np.nan, np.nan)
Values = NDArray[np.float64]


def build_conflict_table(
    answers: pd.DataFrame, questions: pd.DataFrame, *, seed: int = 0
) -> pd.DataFrame:
    """Each judge's rates over everything (`part` is all), by form, and by category of a form.

    `answers` has a row for each judge, pair, form and side: `model`, `pair_id`, `form`, `side`
    (commonsense or counterfactual), `category`, `answer` (None if unreadable), `score` (1 right, 0
    wrong or unreadable, NaN without a reply) and `usual`, likewise for common sense's answer.
    `questions` has the rows that could be asked.

    `cf_accuracy` and `cs_accuracy` are CF-Acc and CS-Acc; `drop` is CFAD, CS-Acc less CF-Acc, and
    `dependency` RPD, the drop divided by CS-Acc, both of pairs with two answers; `collapse` is CCR,
    the share of wrong answers about counterfactual pictures that are the commonsense answer. Over
    both forms a pair counts by its mean. Intervals resample pairs.
    """
    return pd.DataFrame(
        [
            {
                "model": model,
                "part": name,
                "total_pairs": questions.loc[select(questions), "pair_id"].nunique(),
                **_measure(rows[select(rows)], seed),
            }
            for model, rows in answers.groupby("model", sort=False)
            for name, select in _list_parts(rows)
        ]
    )


def _list_parts(
    rows: pd.DataFrame,
) -> Iterator[tuple[str, Callable[[pd.DataFrame], "pd.Series[bool]"]]]:
    """Name the parts of a table, each with the mask that selects its rows."""
    yield ALL, lambda table: table["form"].notna()
    for form in rows["form"].unique():
        yield form, lambda table, form=form: table["form"].eq(form)  # type: ignore[misc]
        for category in rows.loc[rows["form"].eq(form), "category"].unique():
            chosen = {"form": form, "category": category}
            yield (
                f"{form}, {category}",
                lambda table, chosen=chosen: table[[*chosen]].eq(chosen).all(axis=1),  # type: ignore[misc]
            )


def _measure(rows: pd.DataFrame, seed: int) -> dict[str, Any]:
    """The counts and rates of some rows of a judge."""
    sides = (
        rows.pivot(index=["pair_id", "form"], columns="side", values="score")
        .reindex(columns=["counterfactual", "commonsense"])
        .groupby(level="pair_id")
        .mean()
    )
    cf, cs = sides.to_numpy(float).T
    pairs = sides.index.to_numpy()
    errors = rows[rows["side"].eq("counterfactual") & rows["score"].eq(0)]
    usual, usual_pairs = errors["usual"].to_numpy(float), errors["pair_id"].to_numpy()
    values: dict[str, tuple[float, Callable[..., Interval], Values, NDArray[Any]]] = {
        "cf_accuracy": (_mean(cf), graded_interval, cf, pairs),
        "cs_accuracy": (_mean(cs), graded_interval, cs, pairs),
        "drop": (_mean(cs - cf), paired_interval, cs - cf, pairs),
        "collapse": (_mean(usual), stratified_interval, usual, usual_pairs),
    }
    cells: dict[str, Any] = {
        "pairs": len(sides),
        "answered_pairs": int((~np.isnan(cs - cf)).sum()),
        "requests": len(rows),
        "readable": int(rows["answer"].notna().sum()),
        "errors": len(errors),
    }
    for name, (mean, bootstrap, numbers, clusters) in values.items():
        interval = _UNKNOWN
        if not np.isnan(mean):
            interval = bootstrap(numbers, clusters, np.zeros(len(numbers)), seed=seed)
        cells |= {name: mean, f"{name}_low": interval.low, f"{name}_high": interval.high}
    drop = Interval(cells["drop_low"], cells["drop_high"])
    share, interval = _measure_dependency(cf, cs, drop, seed)
    cells |= {"dependency_low": interval.low, "dependency_high": interval.high}
    return {**cells, "dependency": share}


def _measure_dependency(
    cf: Values, cs: Values, drop: Interval, seed: int
) -> tuple[float, Interval]:
    """The drop divided by CS-Acc; the drop's interval, divided, where no resample differs."""
    is_complete = ~np.isnan(cs - cf)
    cf, cs = cf[is_complete], cs[is_complete]
    if not cs.sum():
        return float("nan"), _UNKNOWN
    count = len(cs)
    random = build_generator(f"dependency/{seed}/{count}")
    weights = random.multinomial(count, np.full(count, 1 / count), RESAMPLES)
    totals = weights @ cs
    ratios = 1 - (weights @ cf)[totals > 0] / totals[totals > 0]
    share = float(1 - cf.sum() / cs.sum())
    if np.ptp(ratios) == 0:
        return share, Interval(drop.low / cs.mean(), drop.high / cs.mean())
    return share, percentile_interval(ratios, expand_level(count, 0.95))


def _mean(values: Values) -> float:
    return float(np.nanmean(values)) if (~np.isnan(values)).any() else float("nan")
