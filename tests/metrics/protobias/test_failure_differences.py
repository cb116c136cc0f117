"""Differences of failure rates, and Holm's correction."""

from itertools import product

import numpy as np
import pandas as pd
import pytest
from scipy.stats import binomtest

from metrics.protobias.failure_differences import (
    compare_metrics,
    compare_painters,
    correct_by_holm,
    sign_flip_test,
)
from tests.metrics.protobias.ranked import row_of, scored

RIGHT, WRONG = (1.0, 0.0), (0.0, 1.0)


def failing(rates, metric, domain="animals", prompts=60, seed=0, **more):
    """A metric that fails on a share of pairs, one a prompt; a higher one fails on more of them."""
    lots = np.random.default_rng(seed).random(prompts)
    return scored(
        *((f"c{at}", *(WRONG if lot < rates else RIGHT)) for at, lot in enumerate(lots)),
        metric=metric,
        domain=domain,
        **more,
    )


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


@pytest.fixture
def table():
    """Three metrics on two domains, and one that has scored animals alone."""
    rates = {"good": 0.1, "fair": 0.15, "bad": 0.6}
    tables = [
        failing(rate, metric, domain)
        for domain in ("animals", "objects")
        for metric, rate in rates.items()
    ]
    return compare_metrics(pd.concat([*tables, failing(0.1, "late")], ignore_index=True))


class TestBetweenMetrics:
    def test_a_difference_is_first_less_second_on_the_same_pairs(self, table):
        row = row_of(table, domain="animals", first="good", second="bad")
        lots = np.random.default_rng(0).random(60)
        assert row["difference"] == pytest.approx(np.mean(lots < 0.1) - np.mean(lots < 0.6))
        assert row["low"] < row["difference"] < row["high"] < 0
        assert row["prompts"] == 60
        assert row["p"] <= 0.001
        assert (row["painter"], row["sample"]) == ("flux", "evaluated")

    def test_each_two_are_compared_once_and_corrected_inside_their_domain(self, table):
        assert list(table["domain"].unique()) == ["animals", "objects", "all"]
        for domain, rows in table.groupby("domain"):
            assert len(rows) == 6, domain
            np.testing.assert_allclose(rows["p_holm"], correct_by_holm(rows["p"]))

    def test_what_lacks_a_domain_is_not_compared_over_all(self, table):
        assert np.isnan(row_of(table, domain="all", first="good", second="late")["difference"])
        assert row_of(table, domain="objects", first="good", second="late")["prompts"] == 0
        everywhere = row_of(table, domain="all", first="good", second="bad")
        assert everywhere["prompts"] == 120

    def test_a_pair_that_one_of_them_lacks_is_left_out(self):
        one = scored(("a", *RIGHT), ("b", *WRONG), ("c", *RIGHT), metric="one")
        other = scored(("a", *WRONG), ("b", None, 1.0), ("c", *RIGHT), metric="other")
        row = row_of(compare_metrics(pd.concat([one, other])), domain="animals")
        assert (row["difference"], row["prompts"]) == (-0.5, 2)


class TestBetweenPainters:
    def test_every_prompt_of_both_weighs_the_same(self):
        before = scored(("a", *WRONG), ("a", *WRONG), ("b", *RIGHT), ("gone", *WRONG))
        after = scored(("a", *RIGHT), ("b", *RIGHT), ("b", *WRONG), ("new", *WRONG), painter="new")
        row = row_of(compare_painters(pd.concat([before, after])), domain="animals")
        assert (row["earlier"], row["later"]) == ("flux", "new")
        assert row["difference"] == pytest.approx((-1 + 0.5) / 2)
        assert row["prompts"] == 2
        assert row["low"] <= row["difference"] <= row["high"]
        assert (row["sample"], row["metric"]) == ("evaluated", "clip")

    def test_a_rehearsal_is_no_rival_and_the_order_is_that_of_the_table(self):
        tables = [
            failing(0.3, "clip", painter=painter, is_stand_in=is_stand_in)
            for painter, is_stand_in in {"z": False, "sketch": True, "a": False}.items()
        ]
        table = compare_painters(pd.concat(tables, ignore_index=True))
        compared = set(zip(table["earlier"], table["later"], strict=True))
        assert compared == {("z", "a")}
