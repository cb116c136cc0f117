"""The mean that people would give all items, from their labels of a sample and judges' of all.

People label a sample. A judge's predictions for all items narrow the interval as far as it agrees
with people on the sample (`metrics.statistics.prediction_powered`). Where people's labels do not
vary, the share of clusters that would have differed is bounded by Clopper and Pearson's interval
for none in n (`metrics.statistics.cluster_intervals`). Every benchmark whose people and judges
decide on the same items uses this one function.
"""

from collections.abc import Iterator

import pandas as pd

from metrics.statistics.cluster_intervals import stratified_interval
from metrics.statistics.prediction_powered import MIN_CLUSTERS, powered_mean

PEOPLE = "people"
"""The judge of the row by people alone."""
_COLUMNS = ["judge", "items", "sampled", "mean", "low", "high", "reliance"]


def estimate_people(items: pd.DataFrame, predictions: pd.DataFrame | None = None) -> pd.DataFrame:
    """Estimate people's mean over all items: by their labels alone, then with each judge.

    `items` has one row per item: `item`, `cluster` (items of one cluster are not independent),
    `stratum` (the mean is that over strata), `label` (people's, 0 to 1, NaN outside of the sample)
    and, where these differ, `chance` (of coming into the sample, up to a factor in a stratum; a
    label without a chance does not count).
    `predictions` has a row per `judge` and `item`, with a `prediction` from 0 to 1; NaN counts as
    no row.

    Columns: `judge` (`people` in the first row), `items` and the `sampled` ones among them, `mean`
    with its 95 % interval `low` to `high`, and `reliance`, the weight of the judge's predictions
    (0 to 1). A judge is left out unless it has items that people have not labelled, and all rows
    are where people have labelled fewer than `MIN_CLUSTERS` clusters of a stratum.
    """
    if "chance" in items:
        items = items.assign(label=items["label"].where(items["chance"].notna()))
    rows = _estimate_judges(items, predictions)
    return pd.DataFrame([row for row in rows if row is not None], columns=_COLUMNS)


def _estimate_judges(
    items: pd.DataFrame, predictions: pd.DataFrame | None
) -> Iterator[dict[str, object] | None]:
    yield _estimate(PEOPLE, items.assign(prediction=0.0))
    if predictions is None:
        return
    for judge, judged in predictions.dropna(subset="prediction").groupby("judge", sort=False):
        rows = items.merge(judged[["item", "prediction"]], on="item", validate="1:1")
        if rows["label"].isna().any():
            yield _estimate(str(judge), rows)


def _estimate(judge: str, rows: pd.DataFrame) -> dict[str, object] | None:
    sampled = rows.dropna(subset="label")
    clusters = sampled.groupby("stratum")["cluster"].nunique()
    clusters = clusters.reindex(rows["stratum"].unique(), fill_value=0)
    if clusters.empty or clusters.min() < MIN_CLUSTERS:
        return None
    estimate = powered_mean(
        rows["prediction"],
        rows["label"],
        rows["cluster"],
        rows["stratum"],
        probabilities=rows["chance"].fillna(1.0) if "chance" in rows else 1.0,
    )
    low, high = estimate.interval
    if sampled.groupby("stratum")["label"].nunique().max() == 1:
        low, high = stratified_interval(
            sampled["label"], sampled["cluster"], sampled["stratum"], seed=0
        )
    return {
        "judge": judge,
        "items": len(rows),
        "sampled": len(sampled),
        "mean": estimate.mean,
        "low": low,
        "high": high,
        "reliance": estimate.reliance,
    }
