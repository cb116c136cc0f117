"""Holm's correction of p-values for how many tests there are."""

import numpy as np
from numpy.typing import ArrayLike, NDArray


def holm(p: ArrayLike) -> NDArray[np.float64]:
    """Each p-value corrected for all of them, in their order; NaN, which is no test, stays.

    The smallest of m is multiplied by m, the next by m − 1 and so on; none is then smaller than
    one before it, or above 1 (Holm 1979).

    >>> holm([0.01, 0.04, 0.03]).tolist()
    [0.03, 0.06, 0.06]
    """
    values = np.asarray(p, np.float64)
    corrected = np.full(values.shape, np.nan)
    tests = np.flatnonzero(~np.isnan(values))
    order = tests[np.argsort(values[tests], kind="stable")]
    factors = np.arange(len(order), 0, -1)
    corrected[order] = np.minimum(1.0, np.maximum.accumulate(values[order] * factors))
    return corrected
