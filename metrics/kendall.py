"""Kendall's τ_b and τ_c of a judge's scores with people's, with intervals."""

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from metrics.caption_scores import Values
from metrics.image_bootstrap import ROUNDS, ends, image_weights
from metrics.resampling import Interval


class Kendall(NamedTuple):
    """Rank correlations over items, which are captions of images; -1 to 1."""

    items: int
    """Items that have both scores."""
    missing: int
    """Items that lack one."""
    images: int
    """Images of the items that have both."""
    tau_b: float | None
    """Corrected for ties on either side; None where it is undefined, and `why` says why."""
    tau_b_interval: Interval | None
    tau_c: float | None
    """Stuart's, for scales with different numbers of levels."""
    tau_c_interval: Interval | None
    why: str = ""


def kendall(
    scores: ArrayLike,
    human: ArrayLike,
    images: ArrayLike,
    *,
    seed: int = 0,
    rounds: int = ROUNDS,
) -> Kendall:
    """The correlations of a judge's scores with people's, item by item, NaN where one is missing.

    `images` names the image of each item. Intervals are by a bootstrap over images with all of
    their items. Undefined for fewer than two items, or where one side gives all of them the same.
    """
    pair = np.stack([np.asarray(scores, np.float64), np.asarray(human, np.float64)])
    both = ~np.isnan(pair).any(axis=0)
    pair = pair[:, both]
    names, image = np.unique(np.asarray(images)[both], return_inverse=True)
    items, missing = pair.shape[1], int((~both).sum())
    why = _undefined(pair)
    if why:
        return Kendall(items, missing, len(names), None, None, None, None, why)
    drawn = [
        _taus(np.repeat(pair, weights[image].astype(int), axis=1))
        for some in image_weights(len(names), seed=seed, rounds=rounds)
        for weights in some
    ]
    low, high = ends(np.array(drawn), len(names))
    tau_b, tau_c = _taus(pair)
    intervals = [
        None if np.isnan(below) else Interval(float(below), float(above))
        for below, above in zip(low, high, strict=True)
    ]
    return Kendall(items, missing, len(names), tau_b, intervals[0], tau_c, intervals[1])


def _undefined(pair: Values) -> str:
    """Why pairs of scores, (2, items), have no correlation; empty where they have one."""
    items = pair.shape[1]
    if items < 2:
        return f"{items} items have both scores"
    if np.ptp(pair, axis=1).min() == 0:
        return "one side gave them all the same score"
    return ""


def _taus(pair: Values) -> tuple[float, float]:
    """Both correlations of pairs of scores, (2, items); NaN where they have none."""
    from scipy.stats import kendalltau  # noqa: PLC0415 - slow, and seldom needed

    if _undefined(pair):
        return float("nan"), float("nan")
    tau_b, tau_c = (float(kendalltau(*pair, variant=of).statistic) for of in ("b", "c"))
    return tau_b, tau_c
