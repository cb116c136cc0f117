"""Pairwise preference with both orders averaged."""

import numpy as np
import pandas as pd
import pytest

from metrics import graded_interval, paired_interval, stratified_interval
from metrics.frame.pairwise_preference import win_rates


def compared(first, second, domain="people", before=None):
    table = {"picture": [f"{domain}/{at}" for at in range(len(first))], "domain": domain}
    table |= {"first": first, "second": second}
    if before is not None:
        table |= {"first_before": before, "second_before": before}
    return pd.DataFrame(table)


def row(table, domain="people"):
    return table.set_index("domain").loc[domain]


def test_both_orders_are_averaged():
    found = row(win_rates(compared([1, 1, 0, 0, 0.5], [1, 0, 1, 0, 1])))
    assert found[["win", "tie", "loss"]].tolist() == [0.4, 0.4, 0.2]
    assert found["preference"] == pytest.approx(np.mean([1, 0.5, 0.5, 0, 0.75]))
    assert found["swayed"] == pytest.approx(3 / 5)
    assert found["first_shown"] == pytest.approx(np.mean([0.5, 1, 0, 0.5, 0.25]))


@pytest.mark.parametrize("taken", [(1, 0), (0, 1)])
def test_a_judge_that_goes_by_the_order_ends_in_a_tie(taken):
    found = row(win_rates(compared(*([side] * 40 for side in taken))))
    assert (found["preference"], found["tie"], found["swayed"]) == (0.5, 1, 1)


@pytest.mark.parametrize("other", [0, 1])
def test_a_tie_in_one_order_alone_is_swayed_whichever_way_the_other_goes(other):
    found = row(win_rates(compared([0.5] * 20, [other] * 20)))
    assert (found["swayed"], found["win"], found["loss"]) == (1, other, 1 - other)
    both_ways = row(win_rates(compared([other] * 20, [0.5] * 20)))
    assert both_ways["swayed"] == 1
    assert row(win_rates(compared([0.5, other], [0.5, other])))["swayed"] == 0


def test_an_order_preference_has_an_interval():
    random = np.random.default_rng(3)
    by_order = random.random(100) < 0.6
    found = row(win_rates(compared(np.ones(100), np.where(by_order, 0.0, 1.0))))
    assert found["swayed"] == by_order.mean()
    assert found["swayed_low"] == pytest.approx(by_order.mean() - 0.1, abs=0.03)
    assert found["swayed_high"] == pytest.approx(by_order.mean() + 0.1, abs=0.03)


def test_naming_the_pictures_the_other_way_mirrors_it():
    random = np.random.default_rng(0)
    first, second = random.choice([0, 0.5, 1], (2, 80))
    one, other = (
        row(win_rates(compared(*each))) for each in ((first, second), (1 - second, 1 - first))
    )
    assert one["win"] == other["loss"]
    assert one["preference"] == pytest.approx(1 - other["preference"])
    assert one["preference_low"] == pytest.approx(1 - other["preference_high"], abs=0.02)


def test_a_pair_needs_both_orders():
    found = row(win_rates(compared([1, 1, np.nan], [1, np.nan, 0])))
    assert (found["pairs"], found["unscored"], found["win"]) == (1, 2, 1)


def test_what_was_gained_is_paired_and_over_all_domains_weigh_the_same():
    people = compared([1] * 30, [1] * 30, before=[0.5] * 30)
    indoor = compared([1, 0] * 5, [1, 0] * 5, "indoor", before=[0, 1] * 5)
    table = win_rates(pd.concat([people, indoor]))
    assert table["domain"].tolist() == ["indoor", "people", "all"]
    assert table["gain"].tolist() == [0, 0.5, 0.25]
    assert row(table)["gain_low"] > 0
    assert row(table, "indoor")["gain_low"] < 0 < row(table, "indoor")["gain_high"]
    assert row(table, "all")["preference"] == 0.75


def test_without_comparisons_before_there_is_no_gain():
    found = row(win_rates(compared([1, 0], [1, 0])))
    assert np.isnan(found[["gain", "gain_low", "gain_high"]].astype(float)).all()
    table = win_rates(pd.concat([compared([1, 0], [1, 0]), compared([np.nan], [1], "indoor")]))
    assert np.isnan(row(table, "all")["preference"])


def test_intervals_are_those_of_shares_of_scores_and_of_changes_over_all_domains():
    random = np.random.default_rng(1)
    first, second, before = random.choice([0.0, 0.5, 1.0], (3, 50))
    before[7] = second[3] = np.nan
    table = compared(first, second, before=before)
    table["domain"] = domains = np.where(np.arange(50) < 20, "people", "indoor")
    table["picture"] = pictures = np.arange(50) // 2
    found = row(win_rates(table, seed=4), "all")
    preference = np.where(np.isnan(second), np.nan, (first + second) / 2)
    lacks = np.isnan(second)
    for name, interval, values in (
        ("win", stratified_interval, np.where(lacks, np.nan, preference > 0.5)),
        ("tie", stratified_interval, np.where(lacks, np.nan, preference == 0.5)),
        ("loss", stratified_interval, np.where(lacks, np.nan, preference < 0.5)),
        ("swayed", stratified_interval, np.where(lacks, np.nan, first != second)),
        ("first_shown", graded_interval, 0.5 + (first - second) / 2),
        ("preference", graded_interval, preference),
        ("gain", paired_interval, preference - before),
    ):
        ends = interval(values, pictures, domains, seed=4)
        assert (found[f"{name}_low"], found[f"{name}_high"]) == ends, name
        means = [np.nanmean(values[domains == domain]) for domain in ("people", "indoor")]
        assert found[name] == pytest.approx(np.mean(means)), name
    assert found["unscored"] == 1
