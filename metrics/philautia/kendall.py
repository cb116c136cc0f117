"""Kendall's τ_b and τ_c of a judge's scores with people's, with intervals."""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from metrics.philautia.caption_scores import Values
from metrics.philautia.image_bootstrap import ROUNDS, draw_image_weights, percentile_intervals
from metrics.statistics.cluster_bootstrap import Interval

_AT_ONCE = 1_000_000
"""Cells of tables that are counted at a time."""
_PER_ITEM = 50
"""Cells of a table, by item, above which sorting the items is faster than counting them."""


class KendallCorrelation(NamedTuple):
    """Rank correlations over items, which are captions of images; -1 to 1."""

    items: int
    """Items that have both scores."""
    missing: int
    """Items that lack one."""
    images: int
    """Images of the items that have both."""
    tau_b: float | None
    """Corrected for ties on either side; None if it is undefined; `reason` explains it."""
    tau_b_interval: Interval | None
    """Interval of τ_b; also None if all items belong to one image."""
    tau_c: float | None
    """Stuart's, for scales with different numbers of levels."""
    tau_c_interval: Interval | None
    reason: str = ""


def correlate_ranks(
    scores: ArrayLike,
    human: ArrayLike,
    images: ArrayLike,
    *,
    seed: int = 0,
    rounds: int = ROUNDS,
) -> KendallCorrelation:
    """The correlations of a judge's scores with people's, item by item, NaN where one is missing.

    `images` names the image of each item. Intervals are by a bootstrap over images with all of
    their items. Undefined for fewer than two items, or where one side gives all of them the same.
    """
    pair = np.stack([np.asarray(scores, np.float64), np.asarray(human, np.float64)])
    is_scored = ~np.isnan(pair).any(axis=0)
    names, image = np.unique(np.asarray(images)[is_scored], return_inverse=True)
    codes = np.stack([np.unique(side, return_inverse=True)[1] for side in pair[:, is_scored]])
    items, missing = codes.shape[1], int((~is_scored).sum())
    reason = _find_reason(codes)
    if reason:
        return KendallCorrelation(
            items=items,
            missing=missing,
            images=len(names),
            tau_b=None,
            tau_b_interval=None,
            tau_c=None,
            tau_c_interval=None,
            reason=reason,
        )
    ((tau_b, tau_c),) = _taus(codes, np.ones((1, items)))
    drawn = [
        _taus(codes, weights[:, image])
        for image_block in draw_image_weights(len(names), seed=seed, rounds=rounds)
        for weights in _split_weights(image_block, items)
    ]
    bounds = percentile_intervals(np.concatenate(drawn), len(names))
    intervals = [
        None if np.isnan(low) else Interval(float(low), float(high))
        for low, high in zip(*bounds, strict=True)
    ]
    return KendallCorrelation(
        items=items,
        missing=missing,
        images=len(names),
        tau_b=float(tau_b),
        tau_b_interval=intervals[0],
        tau_c=float(tau_c),
        tau_c_interval=intervals[1],
    )


def _find_reason(codes: NDArray[np.intp]) -> str:
    """The reason why levels, (2, items), have no correlation; empty where they have one."""
    items = codes.shape[1]
    if items < 2:
        return f"{items} items have both scores"
    if np.ptp(codes, axis=1).min() == 0:
        return "one side gives them all the same score"
    return ""


def _split_weights(weights: Values, items: int) -> Iterator[Values]:
    step = max(1, _AT_ONCE // items)
    for start in range(0, len(weights), step):
        yield weights[start : start + step]


def _taus(codes: NDArray[np.intp], weights: Values) -> Values:
    """τ_b and τ_c of levels, (2, items), with each row of weights of the items; (rows, 2)."""
    levels = codes.max(axis=1) + 1
    cells = int(levels[0] * levels[1])
    if cells > _PER_ITEM * codes.shape[1]:
        return np.array(
            [
                _taus_by_sorting(np.repeat(codes, row_weights.astype(int), axis=1))
                for row_weights in weights
            ]
        )
    cell_index = codes[0] * levels[1] + codes[1]
    step = max(1, _AT_ONCE // cells)
    taus = []
    for start in range(0, len(weights), step):
        tables = [
            np.bincount(cell_index, row_weights, cells)
            for row_weights in weights[start : start + step]
        ]
        taus.append(_taus_by_counting(np.reshape(tables, (-1, *levels))))
    return np.concatenate(taus)


def _taus_by_counting(tables: Values) -> Values:
    """τ_b and τ_c of tables with a row for each level of one side, a column for each of the other.

    A pair of items is concordant if one of them is above the other on both sides.
    """
    above = np.cumsum(tables, axis=1) - tables
    above_left = np.cumsum(above, axis=2)
    above_right = above_left[:, :, -1:] - above_left
    excess = (tables * (above_left - above - above_right)).sum(axis=(1, 2))
    margins = tables.sum(axis=2), tables.sum(axis=1)
    number = margins[0].sum(axis=1)
    pairs = number * (number - 1) / 2
    untied = [pairs - (margin * (margin - 1) / 2).sum(axis=1) for margin in margins]
    levels = np.minimum(*((margin > 0).sum(axis=1) for margin in margins))
    defined = levels > 1
    with np.errstate(invalid="ignore"):
        tau_b = excess / np.sqrt(untied[0] * untied[1])
        tau_c = 2 * excess / (number**2 * (levels - 1) / levels)
    return np.where(defined[:, None], np.stack([tau_b, tau_c], axis=1), np.nan)


def _taus_by_sorting(codes: NDArray[np.intp]) -> tuple[float, float]:
    """τ_b and τ_c of levels, (2, items), where nearly every item has a level of its own."""
    from scipy.stats import kendalltau  # noqa: PLC0415 - slow, and seldom needed

    if _find_reason(codes):
        return float("nan"), float("nan")
    tau_b, tau_c = (float(kendalltau(*codes, variant=variant).statistic) for variant in ("b", "c"))
    return tau_b, tau_c
