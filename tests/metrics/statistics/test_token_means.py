"""Mean tokens of an answer: by hand, and against a cluster-robust standard error."""

import numpy as np
import pytest
from scipy import stats

from metrics.statistics.token_means import measure_tokens

NAN = float("nan")


def test_topics_weigh_the_same_and_unknown_tokens_are_left_out_and_counted():
    tokens = [100, 300, NAN, 1000, 3000]
    mean = measure_tokens(tokens, ["a", "a", "b", "c", "d"], ["x", "x", "x", "y", "y"])
    assert (mean.tokens, mean.counted) == ((200 + 2000) / 2, 4)


def test_a_topic_of_which_nothing_is_known_leaves_the_mean_unknown():
    mean = measure_tokens([100, 200, NAN], ["a", "b", "c"], ["x", "x", "y"])
    assert np.isnan([mean.tokens, mean.tokens_low, mean.tokens_high]).all()
    assert mean.counted == 2
    nothing = measure_tokens([], [], [])
    assert np.isnan(nothing.tokens)
    assert nothing.counted == 0


def test_scenes_of_the_same_length_have_no_interval():
    mean = measure_tokens([50, 70, 60, 60], ["a", "a", "b", "b"], ["x"] * 4)
    assert (mean.tokens, mean.counted) == (60, 4)
    assert np.isnan([mean.tokens_low, mean.tokens_high]).all()


def test_the_interval_is_that_of_scenes_not_of_answers():
    random = np.random.default_rng(3)
    scene_means = random.lognormal(7, 0.4, 60)
    tokens = np.repeat(scene_means, 6)
    mean = measure_tokens(tokens, np.repeat(np.arange(60), 6), np.zeros(360))
    error = scene_means.std(ddof=1) / np.sqrt(60)
    reach = stats.t.ppf(0.975, 59) * error
    assert mean.tokens == pytest.approx(scene_means.mean())
    assert mean.tokens_low == pytest.approx(mean.tokens - reach, rel=0.02)
    assert mean.tokens_high == pytest.approx(mean.tokens + reach, rel=0.02)


def test_few_scenes_have_students_interval_which_no_scale_bounds():
    scene_means = np.array([100.0, 900.0, 200.0])
    mean = measure_tokens(scene_means, [0, 1, 2], [0, 0, 0])
    # Student's t of three: far below 0 as well.
    reach = stats.t.ppf(0.975, 2) * scene_means.std(ddof=1) / np.sqrt(3)
    assert mean.tokens_low == pytest.approx(400 - reach, rel=0.03)
    assert mean.tokens_high == pytest.approx(400 + reach, rel=0.03)
    assert mean.tokens_low < 0
