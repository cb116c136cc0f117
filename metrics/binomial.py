"""The interval of a share of things that were tried once each and do not come in clusters."""

from metrics.resampling import Interval


def exact_interval(number: int, of: int, *, level: float = 0.95) -> Interval:
    """Clopper and Pearson's interval of `number` out of `of`, which is at least 1.

    Its ends are quantiles of beta distributions.
    """
    from scipy.special import betaincinv  # noqa: PLC0415 - slow, and seldom needed

    low = betaincinv(number, of - number + 1, (1 - level) / 2) if number else 0.0
    high = betaincinv(number + 1, of - number, (1 + level) / 2) if number < of else 1.0
    return Interval(float(low), float(high))
