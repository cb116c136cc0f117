"""The permutation test, against one that rebuilds the scores for every matching."""

from itertools import permutations
from math import factorial

import numpy as np
import pytest

from metrics import CaptionScores, mean_matrix
from metrics.philautia import matching_test
from metrics.philautia.matching_test import MATCHINGS, SELF, _orders, matching_tests
from metrics.philautia.preference_fit import fit_preference
from metrics.protobias.failure_differences import correct_by_holm
from tests.metrics.philautia.simulated_captions import letters, simulated


def by_hand(scores, family=None):
    """p by naming the rows anew, one matching after the other, and fitting each by itself."""
    means = mean_matrix(scores).means
    found = []
    for names in permutations(scores.generators):
        own = np.array([[g == e for e in scores.evaluators] for g in names])
        of = scores.families.get
        kin = np.array([[of(g, g) == of(e, e) for e in scores.evaluators] for g in names]) | own
        inside = np.array([[of(g) == of(e) == family for e in scores.evaluators] for g in names])
        cells = own if family is None else inside & ~own
        residuals = fit_preference(means, ~kin).residuals
        found.append((np.nanmean(residuals[cells]), np.sqrt(np.nanmean(residuals[~kin] ** 2))))
    real, noise = found[0]
    return real, np.mean([mean / of >= real / noise - 1e-3 for mean, of in found])


def test_it_is_what_every_matching_by_itself_says():
    families = {"A": "one", "B": "one", "C": "two"}
    scores = simulated(np.random.default_rng(0), images=10, models=4, families=families, gap=9)
    scores = CaptionScores.from_arrays(
        np.concatenate(
            [scores.values, scores.values[:, :, :2] * 1.2 + np.arange(10)[:, None, None]], axis=2
        ),
        letters(4),
        [*letters(4), "metric", "other"],
        families | {"metric": "two"},
    )
    found = matching_tests(scores).set_index("tested")
    for name, family in ((SELF, None), ("one", "one"), ("two", "two")):
        real, p = by_hand(scores, family)
        assert found.loc[name, "preference"] == pytest.approx(real, abs=1e-3)
        assert found.loc[name, "p"] == pytest.approx(p)
    assert found["exact"].all()
    assert (found["matchings"] == factorial(4)).all()
    np.testing.assert_allclose(found["p_holm"], correct_by_holm(found["p"]))


def test_what_is_compared_is_the_mean_by_the_root_mean_square_outside():
    """Of scores in which any other power of it would place one matching otherwise."""
    scores = simulated(np.random.default_rng(8), images=10, models=5, preference=3.0, gap=3)
    _, p = by_hand(scores)
    assert matching_tests(scores)["p"][0] == pytest.approx(p) == pytest.approx(4 / 120)


def test_many_models_are_drawn_and_the_real_matching_counts():
    scores = simulated(np.random.default_rng(1), models=8, preference=20.0)
    (found,) = matching_tests(scores).to_dict("records")
    assert not found["exact"]
    assert found["matchings"] == MATCHINGS + 1
    assert found["p"] == pytest.approx(1 / (MATCHINGS + 1))


@pytest.mark.parametrize(("most", "exact"), [(22, False), (23, True)])
def test_all_matchings_are_tried_if_they_and_the_real_one_are_no_more(monkeypatch, most, exact):
    monkeypatch.setattr(matching_test, "MATCHINGS", most)
    (found,) = matching_tests(simulated(np.random.default_rng(8), models=4)).to_dict("records")
    assert (found["exact"], found["matchings"]) == (exact, most + 1)


def test_matchings_are_drawn_by_their_seed():
    drawn = [_orders(8, seed)[0] for seed in (0, 0, 1)]
    np.testing.assert_array_equal(drawn[0], drawn[1])
    assert (drawn[0] != drawn[2]).any()
    np.testing.assert_array_equal(drawn[2][0], np.arange(8))
    np.testing.assert_array_equal(np.sort(drawn[2], axis=1)[-1], np.arange(8))


def test_against_preference_it_says_nothing():
    scores = simulated(np.random.default_rng(2), models=5, preference=-20.0)
    assert matching_tests(scores)["p"].item() > 0.9


def test_three_models_cannot_show_anything_below_a_sixth():
    scores = simulated(np.random.default_rng(3), models=3, preference=50.0)
    found = matching_tests(scores)
    assert found["p"].item() == pytest.approx(1 / 6)


def test_what_cannot_be_tested_says_why():
    scores = simulated(np.random.default_rng(4), models=4, families={"A": "lonely"})
    scores.families["E"] = "absent"
    found = matching_tests(scores).set_index("tested")
    assert found.loc["lonely", "reason"] == "none of its models has scored another one's captions"
    assert np.isnan(found.loc["lonely", "p_holm"])
    assert found.loc[SELF, "p_holm"] == found.loc[SELF, "p"]
    assert "absent" not in found.index

    everyone = dict.fromkeys(letters(4), "all")
    found = matching_tests(simulated(np.random.default_rng(5), models=4, families=everyone))
    assert found.loc[1, "reason"].startswith("it holds all generators or all evaluators")

    apart = CaptionScores.from_arrays(
        np.random.default_rng(6).random((5, 4, 2)), letters(4), ["x", "y"]
    )
    (alone,) = matching_tests(apart).to_dict("records")
    assert alone["reason"] == "no cell of it has a preference"


def test_missing_cells_and_one_without_any_score():
    scores = simulated(np.random.default_rng(7), models=5, preference=10.0)
    scores.values[:, 1, 1] = np.nan
    scores.values[:40, 2, 3] = np.nan
    found = matching_tests(scores).iloc[0]
    assert found["preference"] == pytest.approx(10, abs=6)
    assert found["p"] < 0.05
