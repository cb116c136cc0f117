"""The interval of a paired difference: what it covers, and against a slow one of its own."""

import numpy as np
import pytest
from scipy.stats import beta, binomtest

from metrics import Interval, paired_interval

ROWS = 6


def paired_data(rng, base_images, before, after, correlation, alike):
    """Differences of 0/1 scores, base images × rows, of two ways of asking.

    A base image has its own chance to be answered rightly each time, and by the share `alike` the
    same rank among the base images both times.
    """
    spread = 1 / correlation - 1
    rank = rng.random(base_images)
    again = np.where(rng.random(base_images) < alike, rank, rng.random(base_images))
    ranks = ((before, rank), (after, again))
    first, second = (beta.ppf(at, p * spread, (1 - p) * spread) for p, at in ranks)
    shape = (base_images, ROWS)
    return rng.binomial(1, second[:, None], shape) - rng.binomial(1, first[:, None], shape)


def ids(*base_images):
    return np.repeat(np.arange(sum(base_images)), ROWS)


def interval(differences, **options):
    base_images = len(differences)
    strata = np.zeros(base_images * ROWS)
    return paired_interval(differences.ravel(), ids(base_images), strata, seed=0, **options)


@pytest.mark.parametrize("base_images", [20, 40, 90])
@pytest.mark.parametrize(
    ("before", "after", "correlation", "alike"),
    [(0.02, 0.1, 0.8, 0.9), (0.1, 0.12, 0.5, 0.8), (0.2, 0.25, 0.7, 0.9), (0.5, 0.5, 0.6, 0.5)],
)
def test_it_covers_the_true_change(base_images, before, after, correlation, alike):
    rng = np.random.default_rng(7)
    found = [
        interval(paired_data(rng, base_images, before, after, correlation, alike))
        for _ in range(250)
    ]
    assert np.mean([low <= after - before <= high for low, high in found]) >= 0.925


def test_it_covers_the_mean_change_over_topics():
    sizes, changes = (40, 48, 28, 132), (0.05, 0.0, 0.2, -0.05)
    topics = np.repeat(np.arange(4), np.array(sizes) * ROWS)
    rng = np.random.default_rng(7)
    inside = 0
    for _ in range(200):
        parts = [
            paired_data(rng, n, 0.15, 0.15 + change, 0.6, 0.8)
            for n, change in zip(sizes, changes, strict=True)
        ]
        differences = np.concatenate([part.ravel() for part in parts])
        low, high = paired_interval(differences, ids(*sizes), topics, seed=0)
        inside += low <= np.mean(changes) <= high
    assert inside / 200 >= 0.93


def test_pairing_is_narrower_than_two_intervals_apart():
    """Where the same base images are easy both times, most of the spread cancels."""
    rng = np.random.default_rng(7)
    differences = paired_data(rng, 90, 0.4, 0.45, 0.9, 1.0)
    low, high = interval(differences)
    unpaired = 2 * 1.96 * np.sqrt(2 * 0.24 * 0.9 / 90)
    assert high - low < 0.6 * unpaired


def test_it_is_what_resampling_by_hand_gives():
    """The same with a list of base images drawn one by one, the added one among them."""
    rng = np.random.default_rng(3)
    differences = paired_data(rng, 25, 0.3, 0.5, 0.5, 0.7)
    by_base_image = list(differences.mean(axis=1))
    means = []
    for _ in range(20_000):
        plain = np.mean(rng.choice(by_base_image, 25))
        drawn = rng.integers(0, 26, 26)
        added = int((drawn == 25).sum())
        tossed = rng.choice([-1, 1], added).sum()
        means.append((tossed + (26 - added) * plain) / 26)
    assert interval(differences) == pytest.approx(np.quantile(means, [0.025, 0.975]), abs=0.012)


def test_no_change_anywhere_is_bounded_as_none_in_n():
    exact = binomtest(0, 30).proportion_ci(method="exact").high
    assert interval(np.zeros((30, ROWS))) == pytest.approx((-exact, exact))


def test_its_ends_stay_between_a_loss_and_a_gain_of_everything():
    assert interval(-np.ones((2, ROWS))).low == -1
    assert interval(np.ones((2, ROWS))).high == 1


def test_everything_gained_may_have_lost_elsewhere():
    exact = binomtest(0, 30).proportion_ci(method="exact").high
    assert interval(np.ones((30, ROWS))) == pytest.approx((1 - 2 * exact, 1))


def test_what_was_not_scored_both_times_does_not_count():
    differences = paired_data(np.random.default_rng(3), 40, 0.3, 0.5, 0.5, 0.7).astype(float)
    differences[20:, 1:] = np.nan
    low, high = interval(differences)
    assert low <= np.nanmean(differences) <= high
    fewer, more = interval(differences[:20]), interval(differences)
    assert more.high - more.low < fewer.high - fewer.low


def test_swapping_the_two_ways_mirrors_it_and_the_level_widens():
    differences = paired_data(np.random.default_rng(5), 60, 0.2, 0.4, 0.5, 0.7)
    usual, swapped = interval(differences), interval(-differences)
    assert isinstance(usual, Interval)
    assert usual == pytest.approx((-swapped.high, -swapped.low), abs=0.01)
    wide = interval(differences, level=0.99)
    assert wide.low < usual.low < usual.high < wide.high
