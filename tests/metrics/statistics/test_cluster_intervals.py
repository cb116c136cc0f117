import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binom, binomtest, norm, t

from metrics import Interval, exact_interval, graded_interval, stratified_interval
from tests.metrics.clustered import clustered_interval

ROWS = 6


def beta_binomial(rng, base_images, accuracy, correlation):
    """0/1 scores, base images × rows, with that correlation between two rows of one."""
    spread = 1 / correlation - 1
    chances = rng.beta(accuracy * spread, (1 - accuracy) * spread, base_images)
    return rng.binomial(1, np.repeat(chances[:, None], ROWS, axis=1))


def coverage(intervals, truth):
    return np.mean([low <= truth <= high for low, high in intervals])


def ids(*base_images):
    return np.repeat(np.arange(sum(base_images)), ROWS)


@pytest.mark.parametrize("base_images", [20, 40, 90])
@pytest.mark.parametrize(
    ("accuracy", "correlation"), [(0.03, 0.5), (0.1, 0.3), (0.1, 0.9), (0.2, 0.6), (0.5, 0.8)]
)
def test_the_clustered_interval_covers_the_truth(base_images, accuracy, correlation):
    rng = np.random.default_rng(7)
    data = (beta_binomial(rng, base_images, accuracy, correlation) for _ in range(400))
    intervals = [clustered_interval(s.ravel(), ids(base_images), seed=0) for s in data]
    assert 0.93 <= coverage(intervals, accuracy) <= 0.995


@pytest.mark.parametrize(
    "accuracies",
    [(0.1, 0.02, 0.02, 0.5, 0.2), (0.0, 0.0, 0.1, 0.0, 0.0), (0.95, 0.99, 0.9, 0.5, 1)],
)
def test_the_stratified_interval_covers_the_mean_of_topics(accuracies):
    sizes = (40, 48, 28, 132, 56)
    topics = np.repeat(np.arange(5), np.array(sizes) * ROWS)
    rng = np.random.default_rng(7)
    intervals = []
    for _ in range(250):
        parts = [
            beta_binomial(rng, n, p, 0.7) if 0 < p < 1 else np.full((n, ROWS), p)
            for n, p in zip(sizes, accuracies, strict=True)
        ]
        scores = np.concatenate([part.ravel() for part in parts])
        intervals.append(stratified_interval(scores, ids(*sizes), topics, seed=0))
    assert 0.93 <= coverage(intervals, np.mean(accuracies)) <= 0.995


def test_where_all_agree_the_interval_never_misses_more_than_it_says():
    """Rare base images that are right on every row: the whole data may show none of them."""
    rng = np.random.default_rng(7)
    for accuracy in (0.01, 0.03, 0.05):
        right = rng.random((400, 20)) < accuracy
        intervals = [clustered_interval(np.repeat(r, ROWS), ids(20), seed=0) for r in right]
        assert coverage(intervals, accuracy) >= 0.95


def test_ignoring_the_clusters_would_be_far_too_narrow():
    rng = np.random.default_rng(7)
    data = [beta_binomial(rng, 40, 0.3, 0.8).ravel() for _ in range(300)]
    by_rows = [clustered_interval(scores, np.arange(len(scores)), seed=0) for scores in data]
    assert coverage(by_rows, 0.3) < 0.75


def test_none_of_ten_is_the_published_clopper_pearson_interval():
    low, high = clustered_interval(np.zeros(60), ids(10), seed=0)
    assert low == 0
    assert high == pytest.approx(0.3085, abs=5e-5)


@pytest.mark.parametrize("base_images", [1, 4, 40, 132])
@pytest.mark.parametrize("score", [0, 1])
def test_all_wrong_or_all_right_is_clopper_pearson_over_base_images(base_images, score):
    interval = clustered_interval(np.full(base_images * ROWS, score), ids(base_images), seed=0)
    exact = binomtest(score * base_images, base_images).proportion_ci(method="exact")
    assert interval == pytest.approx((exact.low, exact.high))


def test_agreement_on_half_is_as_uncertain_as_on_none():
    half = clustered_interval([0, 1] * 20, np.repeat(np.arange(20), 2), seed=0)
    none = clustered_interval([0, 0] * 20, np.repeat(np.arange(20), 2), seed=0)
    assert half == pytest.approx((0.5 - none.high, 0.5 + none.high))


def test_topics_that_agree_are_bounded_by_the_smallest_of_them():
    scores, clusters = np.zeros(40), np.arange(40)
    topics = [0] * 10 + [1] * 30
    exact = binomtest(0, 20).proportion_ci(method="exact")
    assert stratified_interval(scores, clusters, topics, seed=0) == pytest.approx((0, exact.high))


def test_the_level_widens_and_the_seed_repeats():
    scores, clusters = beta_binomial(np.random.default_rng(7), 40, 0.3, 0.5).ravel(), ids(40)
    usual = clustered_interval(scores, clusters, seed=3)
    assert usual == clustered_interval(scores, clusters, seed=3)
    assert usual != clustered_interval(scores, clusters, seed=4)
    wide = clustered_interval(scores, clusters, seed=3, level=0.99)
    assert wide.low <= usual.low <= usual.high <= wide.high


SCORES = st.lists(st.tuples(st.integers(0, 8), st.integers(0, 1)), min_size=1, max_size=60)


@settings(max_examples=60, deadline=None)
@given(SCORES, st.randoms(use_true_random=False))
def test_an_interval_holds_the_mean_and_knows_no_order_or_names(pairs, random):
    clusters, scores = zip(*pairs, strict=True)
    interval = clustered_interval(scores, clusters, seed=0)
    assert isinstance(interval, Interval)
    assert 0 <= interval.low <= np.mean(scores) <= interval.high <= 1
    random.shuffle(pairs)
    clusters, scores = zip(*pairs, strict=True)
    names = [f"base-{cluster}" for cluster in clusters]
    assert clustered_interval(scores, names, seed=0) == interval


def test_the_exact_interval_has_published_values():
    """Clopper and Pearson's chart, as the exact interval of 10 in 100 and of none in 10."""
    assert exact_interval(10, 100) == pytest.approx((0.0490, 0.1762), abs=5e-5)
    assert exact_interval(0, 10) == pytest.approx((0.0, 0.3085), abs=5e-5)
    assert exact_interval(40, 40) == pytest.approx((0.9119, 1.0), abs=5e-5)


@pytest.mark.parametrize(("number", "of"), [(1, 40), (17, 40), (39, 40)])
def test_at_each_end_of_the_exact_interval_the_number_is_just_too_unlikely(number, of):
    low, high = exact_interval(number, of)
    assert binom.sf(number - 1, of, low) == pytest.approx(0.025)
    assert binom.cdf(number, of, high) == pytest.approx(0.025)


@pytest.mark.parametrize("number", [3, 5])
def test_a_graded_mean_of_few_has_students_interval(number):
    """Of values that differ, one a cluster: mean ± t · s / √n, within the error of resampling."""
    scores = 0.5 + 0.05 * np.random.default_rng(number).normal(size=number)
    found = graded_interval(scores, np.arange(number), np.zeros(number), seed=0)
    reach = t.ppf(0.975, number - 1) * scores.std(ddof=1) / np.sqrt(number)
    assert found == pytest.approx((scores.mean() - reach, scores.mean() + reach), rel=0.04)


def test_from_six_on_a_graded_mean_has_quantiles():
    """No resample reaches beyond the scores that there are."""
    scores = [0.5, 0.5, 0.5, 0.5, 0.5, 0.9]
    found = graded_interval(scores, np.arange(6), np.zeros(6), seed=0)
    assert found.low == 0.5
    means = np.random.default_rng(0).choice(scores, (20_000, 6)).mean(axis=1)
    outside = t.cdf(-np.sqrt(6 / 5) * t.ppf(0.975, 5), 1e9)
    assert found.high == pytest.approx(np.quantile(means, 1 - outside), abs=0.02)


def test_graded_scores_that_agree_may_be_off_towards_either_end_of_the_scale():
    unseen = binomtest(0, 8).proportion_ci(method="exact").high
    found = graded_interval([0.5] * 8, np.arange(8), np.zeros(8), seed=0, least=-1.0)
    assert found == pytest.approx((0.5 - unseen * 1.5, 0.5 + unseen * 0.5))


@pytest.mark.parametrize(
    ("strata", "number", "are_shared"),
    [(6, 2, False), (4, 3, False), (4, 6, False), (9, 10, True), (5, 4, True)],
)
def test_a_mean_of_strata_is_covered_whether_they_have_few_clusters_or_the_same_ones(
    strata, number, are_shared
):
    rng = np.random.default_rng(5)
    names = np.tile(np.arange(number), strata)
    parts = np.repeat(np.arange(strata), number)
    clusters = names if are_shared else parts * number + names
    intervals = []
    for _ in range(300):
        effects = rng.normal(size=clusters.max() + 1)[clusters]
        values = norm.cdf(0.7 * effects + 0.7 * rng.normal(size=len(effects)))
        intervals.append(graded_interval(values, clusters, parts, seed=0))
    assert 0.92 <= coverage(intervals, 0.5) <= 0.995


def test_clusters_in_several_strata_are_resampled_with_all_of_their_rows():
    rng = np.random.default_rng(5)
    names, parts = np.tile(np.arange(30), 4), np.repeat(np.arange(4), 30)
    scores = (rng.random(30) < 0.4).astype(float)[names]
    # The same answers in all strata say no more than those of one.
    once = stratified_interval(scores[:30], names[:30], parts[:30], seed=0)
    again = stratified_interval(scores, names, parts, seed=0)
    assert again == pytest.approx(once, abs=0.03)
    taken_apart = stratified_interval(scores, 30 * parts + names, parts, seed=0)
    assert taken_apart.high - taken_apart.low < 0.65 * (again.high - again.low)


def test_a_single_cluster_tells_nothing():
    assert graded_interval([0.6, 0.7], [1, 1], [0, 0], seed=0) == (0.0, 1.0)
