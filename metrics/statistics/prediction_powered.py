"""The interval of a mean of people's scores, of which a judge has scored all and people a sample.

The judge's mean over all rows is corrected by how far people's scores lie from the judge's on the
sample, as far as the judge's scores help (prediction-powered inference, Angelopoulos et al. 2023;
its weight as in PPI++, 2024). A judge that agrees narrows the interval; one that does not leaves
that of people alone. Rows come in clusters (the pictures of a prompt), so that the variance is that
of the clusters' sums, with Student's t. A sample of few clusters often lacks the rare one in which
people and judge differ, and Student's t alone covered 85 to 96 % for 30 clusters; one more
sampled cluster, which differs by the toss of a coin, is added to the variance. In 2,000 simulations
of 30, 100 and 300 sampled clusters of three rows that covered 94 to 98 %, and up to 99.7 % for 30
clusters and a judge that agrees in 95 %.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from metrics.statistics.cluster_bootstrap import Interval

MIN_CLUSTERS = 3
"""Sampled clusters that a stratum needs: one each for mean and reliance, one for the spread."""
_ADDED = 0.5
"""Squared difference of the added cluster, in squares of the scale's length."""


class PoweredMean(NamedTuple):
    """A mean of people's scores, by a judge's scores of all rows."""

    mean: float
    interval: Interval
    reliance: float
    """Weight of the judge's scores, 0 (people alone) to 1; the mean over strata."""


class _StratumMean(NamedTuple):
    mean: float
    variance: float
    reliance: float
    sampled_clusters: int


def powered_mean(
    predictions: ArrayLike,
    labels: ArrayLike,
    clusters: ArrayLike,
    strata: ArrayLike,
    *,
    probabilities: ArrayLike = 1.0,
    least: float = 0.0,
    level: float = 0.95,
) -> PoweredMean:
    """Estimate the mean over `strata` (domains) of the means of people's scores.

    `predictions` are the judge's scores, `least` to 1, one per row; `labels` people's, NaN for rows
    outside of the sample. `clusters` names the cluster of each row, `strata` its domain.
    `probabilities` are the chances with which rows came into the sample, where these differ, up to
    a factor. Raises `ValueError` where a stratum has fewer than `MIN_CLUSTERS` sampled clusters.
    """
    from scipy.special import stdtrit  # noqa: PLC0415 - slow, and seldom needed

    scores, truths = np.asarray(predictions, float), np.asarray(labels, float)
    names, groups = np.asarray(clusters), np.asarray(strata)
    chances = np.broadcast_to(np.asarray(probabilities, float), scores.shape)
    means = [
        _estimate_stratum(scores[rows], truths[rows], names[rows], chances[rows], scale=1.0 - least)
        for rows in (groups == stratum for stratum in np.unique(groups))
    ]
    mean = float(np.mean([stratum.mean for stratum in means]))
    spread = np.sqrt(sum(stratum.variance for stratum in means)) / len(means)
    freedom = sum(stratum.sampled_clusters - 2 for stratum in means)
    reach = float(stdtrit(freedom, (1 + level) / 2) * spread)
    return PoweredMean(
        mean=mean,
        interval=Interval(max(least, mean - reach), min(1.0, mean + reach)),
        reliance=float(np.mean([stratum.reliance for stratum in means])),
    )


def _estimate_stratum(
    scores: NDArray[np.float64],
    truths: NDArray[np.float64],
    names: NDArray[np.generic],
    chances: NDArray[np.float64],
    scale: float,
) -> _StratumMean:
    _, index = np.unique(names, return_inverse=True)
    is_sampled = ~np.isnan(truths)
    sampled_clusters = len(np.unique(index[is_sampled]))
    if sampled_clusters < MIN_CLUSTERS:
        raise ValueError(
            f"People have scored {sampled_clusters} of at least {MIN_CLUSTERS} clusters."
        )
    weights = np.where(is_sampled, 1 / chances, 0.0)
    weights /= weights.sum()
    human_mean = float(weights[is_sampled] @ truths[is_sampled])
    sampled_mean, judge_mean = float(weights @ scores), float(scores.mean())
    # Contribution of each cluster to people's mean, and to the judge's, in the sample less in all.
    human = np.bincount(index, weights * (np.nan_to_num(truths) - human_mean))
    judge = np.bincount(
        index, weights * (scores - sampled_mean) - (scores - judge_mean) / len(scores)
    )
    judge_variance = float(judge @ judge)
    slope = float(human @ judge) / judge_variance if judge_variance > 0 else 0.0
    reliance = min(1.0, max(0.0, slope))
    residuals = human - reliance * judge
    variance = float(residuals @ residuals) * sampled_clusters / (sampled_clusters - 2)
    return _StratumMean(
        mean=human_mean - reliance * (sampled_mean - judge_mean),
        variance=variance + _ADDED * (scale / sampled_clusters) ** 2,
        reliance=reliance,
        sampled_clusters=sampled_clusters,
    )
