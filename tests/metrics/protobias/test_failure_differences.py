"""Differences of failure rates."""

import numpy as np
import pandas as pd
import pytest

from metrics.protobias.failure_differences import compare_metrics, compare_painters
from metrics.statistics.sign_flips import correct_by_holm
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
