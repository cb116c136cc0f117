"""CDH-Bench's rates against those counted by hand, and its intervals against other ways to them."""

import numpy as np
import pandas as pd
import pytest

from metrics.cdh_bench.conflict_rates import build_conflict_table
from metrics.statistics.cluster_intervals import exact_interval

SIDES = ("counterfactual", "commonsense")
NAN = float("nan")


def build_answers(cells, model="seer"):
    """Rows from (pair, form, category): scores of both sides, and whether an error is usual."""
    return pd.DataFrame(
        {
            "model": model,
            "pair_id": pair,
            "form": form,
            "side": side,
            "category": category,
            "answer": None if np.isnan(score) else "x",
            "score": score,
            "usual": score if side == "commonsense" else usual,
        }
        for (pair, form, category), (*scores, usual) in cells.items()
        for side, score in zip(SIDES, scores, strict=True)
    )


BY_HAND = {
    ("1", "binary", "Counting"): (0, 1, 1),
    ("2", "binary", "Counting"): (1, 1, 0),
    ("3", "binary", "Relations"): (1, 0, 0),
    ("4", "binary", "Relations"): (NAN, 1, NAN),
    ("1", "choice", "Counting"): (0, 1, 0),
    ("2", "choice", "Counting"): (0, 1, 1),
    ("3", "choice", "Relations"): (1, 1, 0),
    ("4", "choice", "Relations"): (0, 0, 0),
}


def test_rates_are_those_counted_by_hand():
    answers = build_answers(BY_HAND)
    table = build_conflict_table(answers, answers).set_index("part")
    assert [*table.index] == [
        *("all", "binary", "binary, Counting", "binary, Relations"),
        *("choice", "choice, Counting", "choice, Relations"),
    ]
    binary = table.loc["binary"]
    assert binary[["total_pairs", "pairs", "answered_pairs", "errors"]].to_list() == [4, 4, 3, 1]
    assert binary[["requests", "readable"]].to_list() == [8, 7]
    assert binary["cf_accuracy"] == pytest.approx(2 / 3)
    assert binary["cs_accuracy"] == pytest.approx(3 / 4)
    assert binary["drop"] == pytest.approx((1 + 0 - 1) / 3)
    assert binary["dependency"] == pytest.approx(1 - 2 / 2)
    assert binary["collapse"] == 1
    choice = table.loc["choice"]
    assert choice["cf_accuracy"] == pytest.approx(1 / 4)
    assert choice["dependency"] == pytest.approx(1 - 1 / 3)
    assert choice["collapse"] == pytest.approx(1 / 3)
    # Over both forms a pair counts by the mean of what was answered.
    total = table.loc["all"]
    assert total["cf_accuracy"] == pytest.approx((0 + 0.5 + 1 + 0) / 4)
    assert total["cs_accuracy"] == pytest.approx((1 + 1 + 0.5 + 0.5) / 4)
    assert total["drop"] == pytest.approx((1 + 0.5 - 0.5 + 0.5) / 4)
    assert total["dependency"] == pytest.approx(1 - 1.5 / 3)
    assert total["collapse"] == pytest.approx(2 / 4)
    assert total[["pairs", "answered_pairs", "errors"]].to_list() == [4, 4, 4]
    assert table.loc["binary, Relations", "collapse_low":"collapse_high"].isna().all()


def test_a_judge_without_answers_or_without_a_right_one_has_no_dependency():
    nothing = build_answers({("1", "binary", "Counting"): (NAN, NAN, NAN)})
    wrong = build_answers({(str(n), "binary", "Counting"): (0, 0, 1) for n in range(5)}, "wrong")
    answers = pd.concat([nothing, wrong])
    table = build_conflict_table(answers, answers).set_index(["model", "part"])
    numbers = ["cf_accuracy", "cs_accuracy", "drop", "collapse", "dependency"]
    assert table.loc[("seer", "all"), numbers].isna().all()
    assert table.loc[("wrong", "all"), numbers[:4]].to_list() == [0, 0, 0, 1]
    assert np.isnan(table.loc[("wrong", "all"), "dependency_low"])
    low, high = table.loc[("wrong", "all"), ["collapse_low", "collapse_high"]]
    assert (low, high) == pytest.approx(exact_interval(5, 5))


def test_intervals_resample_pairs():
    random = np.random.default_rng(3)
    scores = random.random((60, 2)) < (0.4, 0.9)
    answers = build_answers(
        {(f"{n:02}", "choice", "Counting"): (*map(float, row), 0.0) for n, row in enumerate(scores)}
    )
    (row,) = build_conflict_table(answers, answers).query("part == 'all'").to_dict("records")
    ratios = [
        1 - sample[:, 0].mean() / sample[:, 1].mean()
        for sample in (scores[random.integers(0, 60, 60)] for _ in range(4000))
    ]
    low, high = np.quantile(ratios, [0.025, 0.975])
    assert (row["dependency_low"], row["dependency_high"]) == pytest.approx((low, high), abs=0.02)
    assert row["dependency_low"] < row["dependency"] < row["dependency_high"]
    doubled = pd.concat([answers, answers.assign(form="binary")])  # no more pairs, no more certain
    (twice,) = build_conflict_table(doubled, doubled).query("part == 'all'").to_dict("records")
    for name in ("cf_accuracy", "drop", "dependency"):
        assert twice[f"{name}_low"] == pytest.approx(row[f"{name}_low"])
    everything = build_answers({(str(n), "binary", "C"): (1, 1, 0) for n in range(9)})
    (same,) = build_conflict_table(everything, everything).query("part == 'all'").to_dict("records")
    assert same["dependency"] == 0
    assert same["dependency_low"] == same["drop_low"] < 0
