"""What intervals, Φ̃ and tests claim, held against simulated scores whose truth is known."""

import numpy as np
import pandas as pd
import pytest
from scipy.stats import binom, spearmanr

from metrics.philautia.matching_test import SELF, matching_tests
from metrics.philautia.preference_estimates import estimate_preference
from metrics.philautia.preference_tables import build_preference_tables
from metrics.philautia.score_matrices import standardized_matrix
from tests.metrics.philautia.simulated_captions import letters, parts, simulated, true_means

ROUNDS = 200


def covered(random, truth, sets, **simulation):
    """How often intervals of the diagonal, and of its mean, held the true preference."""
    cells = means = 0
    for seed in range(sets):
        scores = simulated(random, preference=truth, **simulation)
        found = estimate_preference(scores, seed=seed, rounds=ROUNDS).preference
        low, high = (np.diagonal(end) for end in found.limits)
        cells += ((low <= truth) & (truth <= high)).sum()
        mean = found.mean(scores.own_cells)
        means += mean["preference_low"] <= truth <= mean["preference_high"]
    return cells / (sets * len(low)), means / sets


@pytest.mark.parametrize(
    ("truth", "images", "models", "gap", "family"),
    [(0, 20, 6, 5, 0), (0, 200, 5, 5, 0), (0, 60, 7, 0, 0), (4, 40, 6, 15, 0), (8, 100, 6, 5, 5)],
)
def test_intervals_cover_the_truth_at_their_rate(truth, images, models, gap, family):
    """95 %, within 3 deviations of the binomial of so many sets (a set's cells count as two)."""
    sets, kind = 50, {"images": images, "models": models, "gap": gap, "family_preference": family}
    families = dict.fromkeys("AB", "one") | dict.fromkeys("CD", "two") if family else None
    cells, means = covered(np.random.default_rng(images), truth, sets, families=families, **kind)
    assert abs(cells - 0.95) < 3 * np.sqrt(0.95 * 0.05 / (2 * sets))
    assert means >= binom.ppf(0.001, sets, 0.95) / sets


class TestWhatIsMissing:
    def models(self, sets, **simulation):
        random = np.random.default_rng(8)
        each = (simulated(random, images=150, models=5, **simulation) for _ in range(sets))
        return [build_preference_tables(scores, rounds=ROUNDS).models.iloc[-1] for scores in each]

    def test_poor_captions_that_are_declined_make_no_preference_on_complete_images(self):
        """All images have some: declined captions are others in each row."""
        rows = pd.DataFrame(self.models(30, declines=0.2))
        assert rows["preference"].mean() > 2
        assert rows["complete_preference"].mean() == pytest.approx(0, abs=0.6)
        truth = rows["complete_preference_low"].le(0) & rows["complete_preference_high"].ge(0)
        assert truth.mean() >= 0.85
        assert rows["missing_matters"].mean() > 0.9
        assert rows["complete_images"].between(50, 100).all()

    def test_what_is_missing_by_chance_is_not_said_to_matter(self):
        random, said = np.random.default_rng(9), []
        for _ in range(30):
            scores = simulated(random, images=150, models=5, preference=4)
            scores.values[random.random(scores.values.shape) < 0.03] = np.nan
            said.append(
                build_preference_tables(scores, rounds=ROUNDS).models["missing_matters"].any()
            )
        assert np.mean(said) <= binom.ppf(0.999, 30, 0.05) / 30


def test_intervals_of_standardized_hold_the_estimate_and_no_preference():
    random = np.random.default_rng(0)
    held = []
    for seed in range(25):
        scores = simulated(random, images=40)
        models = build_preference_tables(scores, seed=seed, rounds=ROUNDS).models
        low, value, high = (models[f"standardized{end}"] for end in ("_low", "", "_high"))
        assert ((low <= value) & (value <= high)).all()
        assert (models.filter(like="standardized").abs() <= np.sqrt(5) + 1e-9).all(axis=None)
        held.append(((low <= 0) & (high >= 0)).mean())
    assert np.mean(held) >= 0.88


@pytest.mark.parametrize("gap", [0.5, 5, 50])
def test_standardized_orders_preferences_below_saturation_whatever_the_gap(gap):
    """Of preferences in each evaluator's measure: a wide one says 2 points where it means 1."""
    random, models = np.random.default_rng(1), 8
    leniency, scale, quality = parts(random, models, gap, count=300)
    wanted = np.linspace(0, 2, models)
    means = true_means(leniency, scale, quality, (scale * wanted)[:, None, :] * np.eye(models))
    means += scale[:, None, :] * random.normal(0, 0.5, means.shape)
    found = np.diagonal(standardized_matrix(means), axis1=1, axis2=2)
    assert found.max() < np.sqrt(models - 1)
    assert (np.diff(found.mean(axis=0)) > 0).all()
    orders = [spearmanr(each, wanted).statistic for each in found]
    assert np.mean(orders) > 0.6


@pytest.mark.slow
def test_p_values_are_uniform_without_a_preference_and_holm_holds_the_family_wise_error():
    """Five models of two families and one of none; 120 matchings, all of them tried."""
    random, sets = np.random.default_rng(2), 100
    families = {"A": "one", "B": "one", "C": "two", "D": "two"}
    tests = [
        matching_tests(simulated(random, images=12, models=5, families=families))
        for _ in range(sets)
    ]
    p = np.array([of["p"] for of in tests])
    for level in (0.05, 0.1, 0.25, 0.5, 0.75):
        most = binom.ppf(0.9995, sets, level) / sets
        assert (p <= level).mean(axis=0) == pytest.approx(level, abs=most - level)
    wrong = sum((of["p_holm"] <= 0.05).any() for of in tests)
    assert wrong <= binom.ppf(0.999, sets, 0.05)


def test_a_preference_is_found_and_told_from_that_of_a_family():
    random = np.random.default_rng(3)
    families = dict.fromkeys(letters(3), "one") | {"D": "two", "E": "two"}
    scores = simulated(random, images=200, models=7, preference=4.0, families=families)
    found = matching_tests(scores).set_index("tested")
    assert found.loc[SELF, "p_holm"] < 0.01
    assert found.loc[SELF, "preference"] == pytest.approx(4, abs=1.5)
    assert (found.loc[["one", "two"], "p"] > 0.05).all()
    scores.values[:, :3, :3] += 5
    found = matching_tests(scores).set_index("tested")
    assert found.loc["one", "p_holm"] < 0.1
    assert found.loc["one", "preference"] == pytest.approx(5, abs=2)
    assert found.loc["two", "p"] > 0.05
