"""The sign-flip test, against exact ones, and Holm's correction."""

from itertools import product

import numpy as np
import pytest
from scipy.stats import binomtest

from metrics.statistics.sign_flips import correct_by_holm, sign_flip_test


class TestHolm:
    def test_what_r_says(self):
        """p.adjust(c(0.01, 0.02, 0.03, 0.04, 0.05), "holm") and one out of order with a tie."""
        assert correct_by_holm([0.01, 0.02, 0.03, 0.04, 0.05]) == pytest.approx(
            [0.05, 0.08, 0.09, 0.09, 0.09]
        )
        assert correct_by_holm([0.04, 0.001, 0.9, 0.001]) == pytest.approx(
            [0.08, 0.004, 0.9, 0.004]
        )

    def test_what_was_not_tested_does_not_count(self):
        np.testing.assert_allclose(correct_by_holm([np.nan, 0.02, 0.04]), [np.nan, 0.04, 0.04])
        assert correct_by_holm([]).size == 0


class TestFlipTest:
    @pytest.mark.parametrize(("gained", "lost"), [(9, 2), (14, 3), (5, 5)])
    def test_of_one_pair_a_prompt_it_is_mcnemars_exact_test(self, gained, lost):
        differences = np.repeat([1.0, -1.0, 0.0], [gained, lost, 20])
        clusters, strata = np.arange(len(differences)), np.zeros(len(differences), int)
        exact = binomtest(lost, gained + lost).pvalue
        assert sign_flip_test(differences, clusters, strata, seed=0) == pytest.approx(
            exact, abs=0.012
        )

    def test_it_counts_every_assignment_of_signs_of_prompts_that_differ_in_size(self):
        """Against all 2^9 assignments, with strata of 8 and 4 rows that weigh the same."""
        differences = np.array([1, 1, 0, 1, -1, 1, 1, 0, 1, 1, -1, 1], float)
        clusters = np.array([0, 0, 1, 2, 3, 4, 4, 5, 6, 6, 7, 8])
        strata = np.repeat([0, 1], [8, 4])
        shares = np.bincount(clusters, differences / np.where(strata, 4, 8) / 2)
        signs = np.array(list(product([1, -1], repeat=9)))
        exact = np.mean(np.abs(signs @ shares) >= abs(shares.sum()) - 1e-12)
        p = sign_flip_test(differences, clusters, strata, seed=0)
        assert p == pytest.approx(exact, abs=0.012)
        assert p == sign_flip_test(differences, clusters, strata, seed=0)

    def test_prompts_without_a_difference_decide_nothing(self):
        differences = np.array([1.0, 1.0, 1.0, -1.0])
        p = sign_flip_test(differences, np.arange(4), np.zeros(4, int), seed=0)
        with_others = sign_flip_test(
            np.append(differences, [0.0, 0.0]), np.arange(6), np.zeros(6, int), seed=0
        )
        assert with_others == p

    def test_one_prompt_proves_nothing(self):
        assert sign_flip_test(np.ones(3), np.zeros(3, int), np.zeros(3, int), seed=0) == 1.0

    def test_pairs_of_one_prompt_are_one_fact(self):
        differences, strata = np.ones(12), np.zeros(12, int)
        apart = sign_flip_test(differences, np.arange(12), strata, seed=0)
        together = sign_flip_test(differences, np.repeat([0, 1, 2], 4), strata, seed=0)
        assert apart < 0.01
        assert together == pytest.approx(2 / 8, abs=0.02)

    def test_it_seldom_finds_what_is_not_there(self):
        random = np.random.default_rng(7)
        clusters, strata = np.repeat(np.arange(25), 3), np.zeros(75, int)
        found = 0
        for _ in range(150):
            shared = random.random(25)[clusters]
            one, other = ((shared + random.random(75)) / 2 < 0.4 for _ in range(2))
            found += sign_flip_test(one * 1.0 - other, clusters, strata, seed=0) <= 0.05
        assert found / 150 <= 0.1
