"""Correlations of scores: a judge with people, or people among themselves (FRAME, Table 7)."""

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from metrics.statistics.cluster_bootstrap import Interval, draw_counts, percentile_interval

_FEWEST = 3
_AT_ONCE = 1_000_000
"""Counts, of resamples times items, that are worked with at a time."""
Values = NDArray[np.float64]


class Correlation(NamedTuple):
    """Correlations of two scores of the same pictures."""

    images: int
    """Pictures that have both scores."""
    pearson: float | None
    """-1 to 1; None if it is undefined; `reason` explains it."""
    pearson_interval: Interval | None
    spearman: float | None
    """Pearson's of the ranks, of which equal scores share one."""
    spearman_interval: Interval | None
    reason: str = ""


def correlate(
    first: ArrayLike,
    second: ArrayLike,
    pictures: ArrayLike,
    *,
    seed: int,
    level: float = 0.95,
) -> Correlation:
    """The correlations of two scores, item by item, NaN where one is missing.

    `pictures` names the picture of each item: one picture may have several texts. Intervals are by
    a percentile bootstrap over pictures; resamples in which all scores of one side are the same are
    left out. Correlations are undefined for fewer than three pictures, or where one side gives them
    all the same score.
    """
    pair = np.stack([np.asarray(first, float), np.asarray(second, float)])
    is_scored = ~np.isnan(pair).any(axis=0)
    pair = pair[:, is_scored]
    names, picture = np.unique(np.asarray(pictures)[is_scored], return_inverse=True)
    images, items = len(names), pair.shape[1]
    if images < _FEWEST:
        return _build_undefined(images, f"{images} pictures have both scores")
    if np.ptp(pair, axis=1).min() == 0:
        return _build_undefined(images, "one side gave them all the same score")
    counts = draw_counts(f"correlation/{seed}/{images}", images, np.full(images, 1 / images))
    estimates = _correlate_both(np.ones((1, items)), pair)[0]
    block_rows = max(1, _AT_ONCE // items)
    blocks = (
        counts[start : start + block_rows, picture] for start in range(0, len(counts), block_rows)
    )
    resampled = np.concatenate([_correlate_both(block, pair) for block in blocks])
    pearson, spearman = (
        (float(estimate), percentile_interval(column, level))
        for estimate, column in zip(estimates, resampled.T, strict=True)
    )
    return Correlation(
        images=images,
        pearson=pearson[0],
        pearson_interval=pearson[1],
        spearman=spearman[0],
        spearman_interval=spearman[1],
    )


def _build_undefined(images: int, reason: str) -> Correlation:
    return Correlation(
        images=images,
        pearson=None,
        pearson_interval=None,
        spearman=None,
        spearman_interval=None,
        reason=reason,
    )


def _correlate_both(counts: Values, score_pair: Values) -> Values:
    """Pearson's and Spearman's correlation of each row of counts, side by side."""
    ranks = (_ranks(counts, side) for side in score_pair)
    return np.stack([_pearson(counts, *score_pair), _pearson(counts, *ranks)], axis=1)


def _pearson(counts: Values, first: Values, second: Values) -> Values:
    """Pearson's correlation of each row of counts; NaN if one side is constant.

    The scores are the same for all rows, or have a row of their own for each.
    """
    number = counts.sum(axis=1, keepdims=True)
    first = first - (counts * first).sum(axis=1, keepdims=True) / number
    second = second - (counts * second).sum(axis=1, keepdims=True) / number
    squares = (counts * first**2).sum(axis=1) * (counts * second**2).sum(axis=1)
    spread = np.sqrt(np.where(squares > 1e-12, squares, np.nan))
    correlations: Values = (counts * first * second).sum(axis=1) / spread
    return correlations


def _ranks(counts: Values, values: Values) -> Values:
    """The ranks of values in each row of counts; equal ones share the middle of theirs."""
    order = np.argsort(values, kind="stable")
    _, first = np.unique(values[order], return_index=True)
    _, group = np.unique(values, return_inverse=True)
    drawn = np.add.reduceat(counts[:, order], first, axis=1)
    ranks: Values = (np.cumsum(drawn, axis=1) - (drawn - 1) / 2)[:, group]
    return ranks
