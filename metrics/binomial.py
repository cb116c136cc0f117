"""The interval of a share of things that were tried once each and do not come in clusters."""

from scipy.stats import binomtest

from metrics.resampling import Interval


def exact_interval(number: int, of: int, *, level: float = 0.95) -> Interval:
    """Clopper and Pearson's interval of `number` out of `of`, which is at least 1."""
    low, high = binomtest(number, of).proportion_ci(level, method="exact")
    return Interval(float(low), float(high))
