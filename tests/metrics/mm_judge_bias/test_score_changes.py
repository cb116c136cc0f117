"""MM-JudgeBias's measures against those counted by hand, and their intervals."""

import numpy as np
import pandas as pd
import pytest

from metrics.mm_judge_bias.score_changes import (
    build_change_table,
    measure_conformity,
    measure_deviation,
)
from metrics.statistics.graded_intervals import graded_interval

NAN = float("nan")
KINDS = {"gone": "deviation", "other": "deviation", "noise": "conformity", "style": "conformity"}
BY_HAND = {
    "gone": [(9, 5), (5, 5), (1, 1), (NAN, 3)],
    "other": [(4, 7), (8, 1)],
    "noise": [(8, 8), (1, 10), (10, NAN)],
    "style": [(6, 4)],
}


def build_answers(scores, model="seer"):
    """A row for each side of each item, whose pictures are their own."""
    return pd.DataFrame(
        {
            "model": model,
            "item_id": f"{bias}{number}",
            "picture_id": f"picture of {bias}{number}",
            "bias": bias,
            "measure": KINDS[bias],
            "side": side,
            "score": score,
        }
        for bias, pairs in scores.items()
        for number, pair in enumerate(pairs)
        for side, score in zip(("unbiased", "biased"), pair, strict=True)
    )


def test_the_measures_of_two_scores_are_those_of_the_definitions():
    before, after = np.array([[1, 5], [2, 1], [2, 2], [10, 4], [4, 10], [NAN, 4], [7, NAN]]).T
    expected = [NAN, 1, 0, 6 / 9, 0, NAN, NAN]
    assert measure_deviation(before, after) == pytest.approx(expected, nan_ok=True)
    expected = [1 - 4 / 9, 1 - 1 / 8, 1, 1 - 6 / 9, 0, NAN, NAN]
    assert measure_conformity(before, after) == pytest.approx(expected, nan_ok=True)


def test_a_judge_by_chance_has_the_measures_that_the_page_names():
    before, after = np.array([(y, z) for y in range(1, 11) for z in range(1, 11)], float).T
    assert np.nanmean(measure_deviation(before, after)) == pytest.approx(0.3)
    assert np.mean(measure_conformity(before, after)) == pytest.approx(0.53, abs=0.005)


def test_each_bias_weighs_the_same_and_what_is_missing_is_counted():
    answers = build_answers(BY_HAND)
    table = build_change_table(answers, answers).set_index("part")
    assert [*table.index] == ["all", "gone", "other", "noise", "style"]
    gone, noise, total = (table.loc[name] for name in ("gone", "noise", "all"))
    assert gone["deviation"] == pytest.approx((4 / 8 + 0) / 2)
    assert noise["conformity"] == pytest.approx((1 + 0) / 2)
    assert table.loc["other", "deviation"] == pytest.approx((0 + 1) / 2)
    assert total["deviation"] == pytest.approx((0.25 + 0.5) / 2)
    assert total["conformity"] == pytest.approx((0.5 + 1 - 2 / 5) / 2)
    counts = ["total_items", "items", "answered_items", "requests", "readable"]
    measured = ["deviation_items", "conformity_items"]
    assert total[counts + measured].to_list() == [10, 10, 8, 20, 18, 4, 3]
    assert gone[counts + measured].to_list() == [4, 4, 3, 8, 7, 2, 0]
    assert gone["conformity":"conformity_high"].isna().all()
    assert noise["deviation":"deviation_high"].isna().all()


def test_a_judge_that_was_asked_about_fewer_items_has_its_own_rows():
    few = build_answers({"gone": [(NAN, NAN)]}, "few")
    answers = pd.concat([build_answers(BY_HAND), few])
    table = build_change_table(answers, build_answers(BY_HAND)).set_index(["model", "part"])
    assert [part for model, part in table.index if model == "few"] == ["all", "gone"]
    row = table.loc[("few", "all")]
    assert row[["total_items", "items", "answered_items", "deviation_items"]].to_list() == [
        *(10, 1, 0, 0)
    ]
    assert row[["deviation", "deviation_low", "conformity", "conformity_high"]].isna().all()
    assert table.loc[("few", "gone"), "total_items"] == 4


def test_intervals_resample_pictures_within_their_bias():
    random = np.random.default_rng(5)
    drops = {bias: random.integers(1, 11, (40, 2)).astype(float) for bias in ("gone", "other")}
    answers = build_answers(drops)
    row = build_change_table(answers, answers, seed=2).set_index("part").loc["all"]
    values = {bias: measure_deviation(*pairs.T) for bias, pairs in drops.items()}
    means = [
        np.mean([np.nanmean(random.choice(of, len(of))) for of in values.values()])
        for _ in range(4000)
    ]
    ends = row["deviation_low"], row["deviation_high"]
    assert ends == pytest.approx(np.quantile(means, [0.025, 0.975]), abs=0.01)
    assert row["deviation"] == pytest.approx(np.mean([np.nanmean(of) for of in values.values()]))
    # Items about one picture are not independent of each other.
    digits = answers["item_id"].str[-1].astype(int)
    is_changed = answers["side"].eq("biased")
    shared = answers.assign(picture_id=digits, score=np.where(is_changed, digits + 1.0, 10.0))
    wide = build_change_table(shared, shared, seed=2).set_index("part").loc["gone"]
    pictures = np.arange(40) % 10
    expected = graded_interval(1 - pictures / 9, pictures, np.zeros(40), seed=2)
    assert (wide["deviation_low"], wide["deviation_high"]) == pytest.approx(expected)
    assert wide["deviation_high"] - wide["deviation_low"] > 0.3
