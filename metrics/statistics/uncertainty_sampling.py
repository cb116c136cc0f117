"""Chances with which items come to people: larger where judges are unsure.

Half of the sample is drawn with equal chances, half in proportion to the uncertainty, so that no
chance is 0 and no weight of an estimate exceeds twice that of equal chances (active statistical
inference, Zrnic and Candès 2024). Estimates weigh an item by the inverse of its chance.
"""

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

EQUAL_SHARE = 0.5
"""Share of the sample that is drawn with equal chances."""


def measure_doubt(margins: "pd.Series[float]") -> "pd.Series[float]":
    """Rank items by the distance of a judge's score from undecided: 1 for the nearest, above 0.

    `margins` are signed distances. Equal distances have equal ranks; an item without a margin is
    as uncertain as the nearest.
    """
    ranks = margins.abs().rank(ascending=False, pct=True)
    return ranks.fillna(1.0)


def measure_disagreement(answers: pd.DataFrame) -> "pd.Series[float]":
    """Compute the standard deviation of judges' answers to each item.

    `answers` has a row per item and a column per judge. An item that fewer than two judges have
    answered is as uncertain as the one on which they differ most.
    """
    deviations = answers.std(axis=1, ddof=0).where(answers.count(axis=1) > 1)
    return deviations.fillna(deviations.max()).fillna(1.0)


def build_chances(uncertainties: ArrayLike, expected: float) -> NDArray[np.float64]:
    """Compute the chance of each item to be among `expected` sampled ones on average.

    Chances that would exceed 1 are 1, and the others share what that leaves. They grow with
    `expected`, so that a larger sample by the same lots contains a smaller one.
    """
    weights = np.asarray(uncertainties, float)
    count = len(weights)
    if expected >= count:
        return np.ones(count)
    total = weights.sum()
    relative = weights / total if total > 0 else np.full(count, 1 / count)
    mixed = EQUAL_SHARE / count + (1 - EQUAL_SHARE) * relative
    # The largest chances reach 1 first: find how many of them.
    order = np.sort(mixed)[::-1]
    certain = np.arange(count)
    scales = (expected - certain) / np.cumsum(order[::-1])[::-1]
    scale = scales[np.argmax(scales * order <= 1)]
    chances: NDArray[np.float64] = np.minimum(1.0, scale * mixed)
    return chances
