"""Chances by uncertainty: by hand, and what an estimate that weighs by them covers."""

import numpy as np
import pandas as pd
import pytest
from scipy.special import ndtr
from scipy.stats import rankdata, t

from metrics import powered_mean
from metrics.statistics.uncertainty_sampling import (
    build_chances,
    measure_disagreement,
    measure_doubt,
)


def test_doubt_is_the_rank_of_the_distance_from_undecided():
    margins = pd.Series([0.5, -0.1, 0.5, -2.0, np.nan], list("abcde"))
    expected = pd.Series([0.625, 1.0, 0.625, 0.25, 1.0], list("abcde"))
    pd.testing.assert_series_equal(measure_doubt(margins), expected)


def test_disagreement_is_the_deviation_of_judges():
    answers = pd.DataFrame(
        {
            "eye": [1.0, 0.0, 1.0, np.nan],
            "ear": [0.0, 0.0, 1.0, 1.0],
            "nose": [0.0, 0.0, 1.0, np.nan],
        }
    )
    expected = [np.sqrt(2 / 9), 0.0, 0.0, np.sqrt(2 / 9)]
    assert measure_disagreement(answers).tolist() == pytest.approx(expected)
    # Nobody differs from anybody: all are alike.
    assert measure_disagreement(answers[["eye"]]).tolist() == [1.0] * 4


def test_half_is_drawn_with_equal_chances():
    assert build_chances([1, 2, 3, 4], 2).tolist() == pytest.approx([0.35, 0.45, 0.55, 0.65])
    assert build_chances([0, 0, 0, 1], 1).tolist() == pytest.approx([0.125] * 3 + [0.625])
    assert build_chances([0, 0, 0, 0], 1).tolist() == pytest.approx([0.25] * 4)
    assert build_chances([1, 2], 2).tolist() == build_chances([1, 2], 5).tolist() == [1, 1]
    assert build_chances([], 5).tolist() == []


def test_chances_stop_at_1_and_the_others_share_what_is_left():
    """Mixed: 1/8 each, and a half more for the last, whose chance at 2 would be 1.25."""
    assert build_chances([0, 0, 0, 1], 2).tolist() == pytest.approx([1 / 3] * 3 + [1])
    uncertainties = np.random.default_rng(1).random(50) ** 8
    smaller = np.zeros(50)
    for expected in range(1, 50):
        chances = build_chances(uncertainties, expected)
        assert chances.sum() == pytest.approx(expected)
        assert (chances >= smaller - 1e-12).all()
        smaller = chances
    assert smaller.max() == 1


def draw(rng, chances):
    """Items whose lot is below their chance, with a lot for each place of a random order."""
    return (rng.permutation(len(chances)) + 0.5) / len(chances) < chances


def test_weights_by_chances_are_unbiased():
    """Horvitz and Thompson's sums, by hand: over draws they come to the sum of all labels."""
    rng = np.random.default_rng(1)
    uncertainties = rng.random(40)
    labels = rng.binomial(1, uncertainties).astype(float)
    chances = build_chances(uncertainties, 10)
    is_drawn = np.array([draw(rng, chances) for _ in range(4000)])
    sums = (is_drawn * labels / chances).sum(axis=1)
    error = sums.std() / np.sqrt(4000)
    assert sums.mean() == pytest.approx(labels.sum(), abs=3 * error)
    assert 3 * error < 0.03 * labels.sum()
    # Drawn labels alone are too many ones: those are the uncertain items.
    plain = (is_drawn @ labels / is_drawn.sum(axis=1)).mean()
    assert plain > 1.1 * labels.mean()


def test_the_estimate_is_the_weighted_one_by_hand():
    """Of a judge that helps nothing: the mean by inverse chances, and its linearized variance."""
    rng = np.random.default_rng(3)
    chances = build_chances(rng.random(200), 60)
    is_drawn = draw(rng, chances)
    labels = rng.binomial(1, 0.4, 200).astype(float)
    result = powered_mean(
        np.zeros(200),
        np.where(is_drawn, labels, np.nan),
        np.arange(200),
        np.zeros(200),
        probabilities=chances,
    )
    total = sum(1 / chance for chance, drawn in zip(chances, is_drawn, strict=True) if drawn)
    drawn_rows = [(labels[row], 1 / chances[row] / total) for row in np.flatnonzero(is_drawn)]
    mean = sum(label * weight for label, weight in drawn_rows)
    count = len(drawn_rows)
    variance = sum((weight * (label - mean)) ** 2 for label, weight in drawn_rows)
    variance = variance * count / (count - 2) + 0.5 / count**2
    assert result.mean == pytest.approx(mean)
    reach = t.ppf(0.975, count - 2) * np.sqrt(variance)
    assert result.interval == pytest.approx((mean - reach, mean + reach))


ROWS, CLUSTERS = 2, 400
UNDECIDED, SPREAD = -0.6, 1.3


def simulate(rng, sampled, *, is_informative, by_uncertainty=True):
    """Estimate from one draw of two rows a cluster; returns mean, and the interval's ends.

    A judge's probability of yes lies nearer to a half where it errs more often, or else it errs in
    20 % wherever it lies.
    """
    shared = np.repeat(rng.standard_normal(CLUSTERS), ROWS)
    signal = np.sqrt(0.3) * shared + np.sqrt(0.7) * rng.standard_normal(ROWS * CLUSTERS)
    yes = ndtr(SPREAD * signal + UNDECIDED)
    judge = (yes > 0.5).astype(float)
    people = (rng.random(len(yes)) < yes).astype(float)
    if not is_informative:
        judge, yes = np.abs(people - (rng.random(len(yes)) < 0.2)), rng.random(len(yes))
    doubt = rankdata(-np.abs(yes - 0.5)) / len(yes)
    chances = build_chances(doubt if by_uncertainty else np.ones(len(yes)), sampled)
    labels = np.where(draw(rng, chances), people, np.nan)
    names = np.repeat(np.arange(CLUSTERS), ROWS)
    result = powered_mean(judge, labels, names, np.zeros(len(yes)), probabilities=chances)
    return result.mean, *result.interval


TRUTH = float(ndtr(UNDECIDED / np.hypot(1, SPREAD)))
"""People's mean: that of the normal distribution, in closed form."""


@pytest.mark.slow
@pytest.mark.parametrize("sampled", [30, 100, 300])
@pytest.mark.parametrize("is_informative", [True, False])
def test_it_covers_the_true_mean_without_bias(sampled, is_informative):
    rng = np.random.default_rng(1)
    results = [simulate(rng, sampled, is_informative=is_informative) for _ in range(2000)]
    means, lows, highs = np.array(results).T
    assert 0.93 <= ((lows <= TRUTH) & (highs >= TRUTH)).mean() <= 0.97
    # Weights that sum to 1 are a ratio, whose bias is of the order of 1 in the sample.
    assert means.mean() == pytest.approx(TRUTH, abs=3 * means.std() / np.sqrt(2000) + 0.1 / sampled)


@pytest.mark.slow
@pytest.mark.parametrize(("is_informative", "expected"), [(True, 0.95), (False, 1.04)])
def test_it_is_narrower_where_uncertainty_tells_of_errors(is_informative, expected):
    """Width against equal chances; without information, by the root of the mean of 1 / chance."""
    widths = []
    for by_uncertainty in (True, False):
        rng = np.random.default_rng(2)
        results = [
            simulate(rng, 150, is_informative=is_informative, by_uncertainty=by_uncertainty)
            for _ in range(300)
        ]
        _, lows, highs = np.array(results).T
        widths.append((highs - lows).mean())
    assert widths[0] / widths[1] == pytest.approx(expected, abs=0.015)
