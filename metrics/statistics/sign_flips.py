"""A test of paired differences that come in clusters, and Holm's correction of many such tests.

If two were equally good, each cluster's difference could equally have the other sign. Whole
clusters are flipped, as their rows (the pairs of a prompt, the questions about a scene) are not
independent; with one row per cluster this is McNemar's test. In simulations of equal metrics (8 to
100 prompts of 1 to 5 pairs, failing 10 to 70 % of them) it rejected at a level of 5 % in 0 to 6 %
of data sets, less for fewer prompts; the interval held 0 in 93 to 100 %.
"""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from metrics.statistics.cluster_bootstrap import build_generator

FLIPS = 9999
_NORMAL_95 = 1.959964
"""Standard deviations that hold 95 % of a normal distribution, on each side."""

Values = NDArray[np.float64]
Codes = NDArray[np.integer[Any]]


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


def p_of_interval(mean: float, end: float) -> float:
    """The two-sided p-value of a mean whose 95 % interval ends, towards 0, at `end`.

    As of a normal distribution: the mean's distance from 0, in distances from that end. It is below
    0.05 where 0 lies beyond the end.

    >>> round(p_of_interval(2.0, 0.0), 3)
    0.05
    """
    from scipy.special import ndtr  # noqa: PLC0415 - slow, and seldom needed

    if mean == end:
        return 0.0 if mean else 1.0
    return 2 * float(ndtr(-_NORMAL_95 * abs(mean / (mean - end))))


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
