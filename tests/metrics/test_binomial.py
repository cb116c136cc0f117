"""Clopper and Pearson's interval, held against published values and its own definition."""

import pytest
from scipy.stats import binom

from metrics import exact_interval


def test_published_values():
    """Clopper and Pearson's chart, as the exact interval of 10 in 100 and of none in 10."""
    assert exact_interval(10, 100) == pytest.approx((0.0490, 0.1762), abs=5e-5)
    assert exact_interval(0, 10) == pytest.approx((0.0, 0.3085), abs=5e-5)
    assert exact_interval(40, 40) == pytest.approx((0.9119, 1.0), abs=5e-5)


@pytest.mark.parametrize(("number", "of"), [(1, 40), (17, 40), (39, 40)])
def test_at_each_end_the_number_is_just_too_unlikely(number, of):
    low, high = exact_interval(number, of)
    assert binom.sf(number - 1, of, low) == pytest.approx(0.025)
    assert binom.cdf(number, of, high) == pytest.approx(0.025)
