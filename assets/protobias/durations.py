"""Seconds a pair: how long each metric takes to score both pictures of a pair."""

from collections.abc import Callable, Iterable, Mapping

import pandas as pd

from assets.protobias.pages.figures import Duration


def pair_durations(
    scores: pd.DataFrame, seconds_of: Callable[[Iterable[str]], Mapping[str, float]]
) -> dict[str, Duration]:
    """The mean seconds a pair by metric, over pairs whose every request was sent alone.

    `scores` has a row per picture: `metric`, `pair_id` and `calls`, the keys of the stored calls;
    `seconds_of` gives the seconds by key, none for what came in a batch. A metric without any such
    pair is left out.
    """
    calls = scores[["metric", "domain", "pair_id", "calls"]].explode("calls")
    calls = calls[calls["calls"].notna()]
    seconds = calls["calls"].map(seconds_of(calls["calls"].unique())).astype(float)
    pairs = calls.assign(seconds=seconds).groupby(["metric", "domain", "pair_id"])["seconds"]
    # A pair of which one request has no seconds counts for nothing.
    durations = (
        pairs.agg(lambda seconds_of_pair: seconds_of_pair.sum(skipna=False))
        .dropna()
        .groupby("metric")
    )
    return {
        str(metric): Duration(float(of_metric.mean()), len(of_metric))
        for metric, of_metric in durations
    }
