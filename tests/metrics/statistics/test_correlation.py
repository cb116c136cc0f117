"""Correlations of scores, against SciPy's and a simulated truth."""

import numpy as np
import pytest
from scipy.stats import pearsonr, rankdata, spearmanr

from metrics import correlate
from metrics.statistics.cluster_bootstrap import draw_counts


def scored(random, images=100, shared=0.7):
    both = random.normal(size=images)
    one, other = (both * shared + random.normal(size=images) * np.sqrt(1 - shared**2) for _ in "12")
    return one, other


def test_it_is_scipys():
    random = np.random.default_rng(0)
    one, other = random.integers(0, 6, (2, 60)).astype(float)
    other[:30] = one[:30]
    found = correlate(one, other, range(len(one)), seed=0)
    assert found.images == 60
    assert found.pearson == pytest.approx(pearsonr(one, other).statistic)
    assert found.spearman == pytest.approx(spearmanr(one, other).statistic)
    for value, interval in (found[1:3], found[3:5]):
        assert interval.low < value < interval.high


def test_its_ends_are_quantiles_of_all_resamples():
    one, other = scored(np.random.default_rng(4), 20)
    counts = draw_counts("correlation/0/20", 20, np.full(20, 0.05)).astype(int)
    drawn = [(np.repeat(one, count), np.repeat(other, count)) for count in counts]
    found = correlate(one, other, range(20), seed=0)
    pearson = [np.corrcoef(*pair)[0, 1] for pair in drawn]
    assert found.pearson_interval == pytest.approx(np.quantile(pearson, [0.025, 0.975]))
    spearman = [np.corrcoef(*rankdata(pair, axis=1))[0, 1] for pair in drawn]
    assert found.spearman_interval == pytest.approx(np.quantile(spearman, [0.025, 0.975]))


def test_its_intervals_cover_the_truth():
    random, true = np.random.default_rng(1), 0.49
    ranked = 6 / np.pi * np.arcsin(true / 2)
    inside = np.zeros(2)
    for _ in range(30):
        found = correlate(*scored(random, 40), range(40), seed=0)
        ends = found.pearson_interval, found.spearman_interval
        inside += [
            low <= value <= high for value, (low, high) in zip((true, ranked), ends, strict=True)
        ]
    assert (inside / 30 >= 0.85).all()


def test_what_lacks_a_score_is_left_out():
    one, other = scored(np.random.default_rng(2), 50)
    whole = correlate(one[:40], other[:40], range(40), seed=0)
    one[40:45], other[45:] = np.nan, np.nan
    assert correlate(one, other, range(len(one)), seed=0) == whole


@pytest.mark.parametrize(
    ("one", "other", "why"),
    [
        ([1, 2], [2, 1], "2 pictures have both scores"),
        ([1, 2, np.nan, 3], [1, np.nan, 3, np.nan], "1 pictures"),
        ([3, 3, 3, 3], [1, 2, 3, 4], "the same score"),
    ],
)
def test_where_it_is_undefined_it_says_why(one, other, why):
    found = correlate(one, other, range(len(one)), seed=0)
    assert (found.pearson, found.spearman_interval) == (None, None)
    assert why in found.reason
    assert found.images == np.isfinite(np.add(one, other)).sum()


@pytest.mark.parametrize("scale", [1.0, 0.01])
def test_three_pictures_are_enough_and_a_scale_changes_nothing(scale):
    one, other = [1.0, 2.0, 4.0], [1.0, 3.0, 2.5]
    found = correlate(np.multiply(one, scale), np.multiply(other, scale), range(3), seed=0)
    assert found.pearson == pytest.approx(pearsonr(one, other).statistic)
    assert found.spearman == pytest.approx(spearmanr(one, other).statistic)


def test_items_of_one_picture_are_resampled_together():
    """Five texts that say the same of a picture are one: as five, intervals cover 0 in 68 %."""
    one, other = scored(np.random.default_rng(4), 30)
    pictures = np.repeat(np.arange(30), 5)
    repeated = correlate(one[pictures], other[pictures], pictures, seed=0)
    single = correlate(one, other, range(30), seed=0)
    assert repeated.images == single.images == 30
    for values, expected in zip(repeated[1:5], single[1:5], strict=True):
        assert values == pytest.approx(expected, abs=0.01)
    apart = correlate(one[pictures], other[pictures], range(150), seed=0)
    assert np.ptp(apart.pearson_interval) < 0.6 * np.ptp(single.pearson_interval)
