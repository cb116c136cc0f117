"""Kendall's correlations, against SciPy's, a count of all pairs, and a simulated truth."""

from itertools import combinations

import numpy as np
import pytest
from scipy.stats import kendalltau

from metrics import correlate_ranks
from metrics.philautia.image_bootstrap import draw_image_weights, percentile_intervals
from metrics.philautia.kendall import _taus


def rated(random, images=40, captions=5, levels=5, continuous=False):
    """Scores, human ratings and image names of captions that share what their image is worth."""
    worth = random.normal(size=(images, 1)) * 0.5 + random.normal(size=(images, captions))
    human = np.clip(np.round(worth + 2 + random.normal(size=worth.shape) * 0.7), 0, levels - 1)
    score = 60 + 15 * (worth + random.normal(size=worth.shape) * 0.7)
    score = score if continuous else np.round(score)
    return score.ravel(), human.ravel(), np.repeat([f"{at}.jpg" for at in range(images)], captions)


@pytest.mark.parametrize("continuous", [False, True])
def test_it_is_scipys(continuous):
    scores, human, images = rated(np.random.default_rng(0), continuous=continuous)
    found = correlate_ranks(scores, human, images)
    assert (found.items, found.missing, found.images, found.reason) == (200, 0, 40, "")
    for variant, value, interval in (
        ("b", found.tau_b, found.tau_b_interval),
        ("c", found.tau_c, found.tau_c_interval),
    ):
        assert value == pytest.approx(kendalltau(scores, human, variant=variant).statistic)
        assert interval.low < value < interval.high


def test_it_is_what_counting_every_pair_gives():
    scores, human, images = rated(np.random.default_rng(1), images=6)
    pairs = list(combinations(zip(scores, human, strict=True), 2))
    signs = [(np.sign(a - c), np.sign(b - d)) for (a, b), (c, d) in pairs]
    excess = sum(one * other for one, other in signs)
    untied = [sum(abs(sign[side]) for sign in signs) for side in (0, 1)]
    levels = min(len(set(scores)), len(set(human)))
    found = correlate_ranks(scores, human, images)
    assert found.tau_b == pytest.approx(excess / np.sqrt(untied[0] * untied[1]))
    assert found.tau_c == pytest.approx(2 * excess / (len(scores) ** 2 * (levels - 1) / levels))


@pytest.mark.parametrize("levels", [3, 40])
def test_a_resample_is_its_items_repeated(levels):
    """By counting as by sorting, which is for scores without ties."""
    random = np.random.default_rng(2)
    codes = random.integers(0, levels, (2, 12 if levels > 10 else 60))
    weights = random.poisson(1, (8, codes.shape[1])).astype(float)
    weights[0, 1:] = 0
    weights[1, codes[0] == codes[0, 0]] = 0
    found = _taus(codes, weights)
    assert np.isnan(found[0]).all()
    for row, of in zip(found[1:], weights[1:], strict=True):
        pair = np.repeat(codes, of.astype(int), axis=1)
        expected = [kendalltau(*pair, variant=variant).statistic for variant in ("b", "c")]
        np.testing.assert_allclose(row, expected)


def test_its_intervals_cover_the_truth_though_captions_share_images():
    random = np.random.default_rng(3)
    truth = correlate_ranks(*rated(random, images=1200), rounds=2).tau_b
    inside = []
    for _ in range(60):
        low, high = correlate_ranks(*rated(random), rounds=300).tau_b_interval
        inside.append(low <= truth <= high)
    assert np.mean(inside) >= 0.86


def test_what_lacks_a_score_is_left_out_and_counted():
    scores, human, images = rated(np.random.default_rng(4))
    whole = correlate_ranks(scores[:150], human[:150], images[:150])
    scores[150:170], human[170:] = np.nan, np.nan
    found = correlate_ranks(scores, human, images)
    assert found._replace(missing=0) == whole
    assert found.missing == 50


@pytest.mark.parametrize(
    ("scores", "human", "why"),
    [
        ([1, np.nan], [2, 1], "1 items have both scores"),
        ([], [], "0 items"),
        ([3, 3, 3], [1, 2, 3], "one side gives them all the same score"),
        ([1, 2, np.nan], [5, 5, 4], "one side"),
    ],
)
def test_where_it_is_undefined_it_says_why(scores, human, why):
    found = correlate_ranks(scores, human, ["one.jpg", "two.jpg", "three.jpg"][: len(scores)])
    assert (found.tau_b, found.tau_c, found.tau_b_interval) == (None, None, None)
    assert why in found.reason
    scored = int(np.isfinite(np.add(scores, human)).sum())
    assert (found.items, found.missing, found.images) == (scored, len(scores) - scored, scored)


def test_its_ends_are_those_of_scipys_over_all_resamples_of_images():
    scores, human, images = rated(np.random.default_rng(5), images=30, captions=2)
    (weights,) = draw_image_weights(30, seed=0, rounds=300)
    image = np.unique(images, return_inverse=True)[1]
    drawn = [np.repeat(np.arange(60), each) for each in weights[:, image].astype(int)]
    found = correlate_ranks(scores, human, images, rounds=300)
    for variant, interval in (("b", found.tau_b_interval), ("c", found.tau_c_interval)):
        taus = [kendalltau(scores[at], human[at], variant=variant).statistic for at in drawn]
        assert interval == pytest.approx(
            tuple(map(float, percentile_intervals(np.array(taus), 30)))
        )


def test_one_image_has_no_interval():
    found = correlate_ranks([1, 2, 3], [1, 3, 2], ["one.jpg"] * 3)
    assert found.tau_b == pytest.approx(1 / 3)
    assert found.tau_b_interval is None
