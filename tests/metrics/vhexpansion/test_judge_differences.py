"""Differences of judges on the same yes/no cases: by hand, and against McNemar's test."""

import pandas as pd
import pytest
from scipy.stats import binomtest

from metrics.statistics.paired_intervals import paired_interval
from metrics.vhexpansion.judge_differences import compare_symmetry
from tests.metrics.vhexpansion.test_symmetry import answered

Y, N = "yes", "no"


def line(table, measure):
    return table[table["measure"].eq(measure)].iloc[0]


def test_repeats_are_averaged_and_only_common_cases_count():
    first = answered(
        ("yes", [Y, Y], [N, N]),  # symmetric 1, accuracy 1
        ("yes", [Y, N], [N, N]),  # symmetric 1/2, accuracy 1/2
        ("yes", [None, None], [N, N]),  # no answer
    )
    second = answered(
        ("yes", [Y, N], [Y, N]),  # symmetric 0, accuracy 1/2
        ("yes", [N, N], [N, N]),  # symmetric 0, accuracy 0
        ("yes", [Y, Y], [N, N]),
    )
    table = compare_symmetry({"one": first, "other": second})
    assert [*table["measure"]] == ["symmetric", "accuracy"]
    symmetric, accuracy = line(table, "symmetric"), line(table, "accuracy")
    assert symmetric["difference"] == (1 + 0.5) / 2
    assert accuracy["difference"] == (0.5 + 0.5) / 2
    assert tuple(accuracy[["first", "second", "questions", "scenes"]]) == ("one", "other", 2, 2)
    low, high = paired_interval([1, 0.5], ["a", "b"], [0, 0], seed=0)
    assert tuple(symmetric[["low", "high"]]) == (low, high)


def test_with_one_case_a_picture_it_is_mcnemars_test_and_holm_goes_over_the_pairs():
    gains, losses = 14, 2
    cases = [("yes", [Y], [N])] * 4
    one = answered(*cases, *[("no", [N], [Y])] * gains, *[("yes", [N], [N])] * losses)
    other = answered(*cases, *[("no", [Y], [Y])] * gains, *[("yes", [Y], [N])] * losses)
    table = compare_symmetry({"one": one, "other": other, "same": one})
    pairs = table[table["measure"].eq("accuracy")].set_index(["first", "second"])
    exact = binomtest(losses, gains + losses).pvalue
    assert pairs.loc["one", "other"]["p"] == pytest.approx(exact, abs=0.002)
    assert pairs.loc["one", "other"]["difference"] == (gains - losses) / 20
    assert pairs.loc["one", "same"]["p"] == 1
    # Two of three tests are as small: each is multiplied by three.
    assert pairs.loc["one", "other"]["p_holm"] == pytest.approx(
        3 * min(pairs.loc["one", "other"]["p"], pairs.loc["other", "same"]["p"])
    )


def test_cases_of_one_picture_are_one_scene():
    images = ["a", "a", "b", "b"]
    right, wrong = [("yes", [Y], [N])] * 4, [("yes", [N], [N])] * 4
    table = compare_symmetry(
        {"one": answered(*right, images=images), "other": answered(*wrong, images=images)}
    )
    row = line(table, "symmetric")
    assert (row["scenes"], row["questions"]) == (2, 4)


def test_judges_without_a_case_in_common_have_no_number():
    one, other = (
        answered(("yes", [Y], [N]), ("yes", [None], [N])),
        answered(("yes", [None], [N]), ("yes", [Y], [N])),
    )
    row = line(compare_symmetry({"one": one, "other": other}), "symmetric")
    assert row["questions"] == 0
    assert pd.isna(row["difference"])
