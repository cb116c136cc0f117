"""Agreement and order flips of planted judges over two sets, counted by hand."""

import pandas as pd
import pytest

from metrics.judge_sets.agreement import build_agreement_table

PLANTED = {
    ("small", "p1"): (1, 1),
    ("small", "p2"): (1, 0),
    ("large", "q1"): (1, 1),
    ("large", "q2"): (0, 0),
    ("large", "q3"): (0.5, 0.5),
    ("large", "q4"): (1, None),
}
"""Agreement of each pair with the response that people prefer shown first, and second."""


@pytest.fixture
def rates():
    rows = [
        {
            "model": "eye",
            "set": name,
            "domain": "even" if pair in ("q2", "q4") else "odd",
            "pair_id": pair,
            "sha256": pair,
            "order": order,
            "agrees": value,
        }
        for (name, pair), values in PLANTED.items()
        for order, value in zip(("first", "second"), values, strict=True)
    ]
    return build_agreement_table(pd.DataFrame(rows)).set_index(["set", "domain"])


def test_a_set_counts_pairs_with_both_answers(rates):
    large = rates.loc[("large", "all")]
    assert (large["pairs"], large["answered_pairs"]) == (4, 3)
    assert (large["agreement"], large["flips"], large["ties"]) == (0.5, 0, pytest.approx(1 / 3))
    assert large["first_shown"] == 0.5
    assert (rates.loc[("small", "all"), "agreement"], rates.loc[("small", "all"), "flips"]) == (
        0.75,
        0.5,
    )
    assert rates.loc[("small", "all"), "first_shown"] == 0.75


def test_bounds_fill_only_what_is_missing(rates):
    large = rates.loc[("large", "all")]
    assert (large["agreement_least"], large["agreement_most"]) == (2 / 4, 2.5 / 4)
    assert (large["flips_least"], large["flips_most"]) == (0, 1 / 4)


def test_every_set_weighs_the_same(rates):
    total = rates.loc[("all", "all")]
    assert (total["pairs"], total["answered_pairs"]) == (6, 5)
    assert total["agreement"] == (0.5 + 0.75) / 2
    assert total["flips"] == (0 + 0.5) / 2


def test_domains_are_of_a_set(rates):
    assert set(rates.loc["large"].index) == {"all", "even", "odd"}
    even = rates.loc[("large", "even")]
    assert (even["pairs"], even["answered_pairs"], even["agreement"]) == (2, 1, 0)
