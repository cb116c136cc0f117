"""Two readings of the same replies, by hand."""

import pandas as pd
import pytest

from metrics import reading_table

REPLIES = [
    # scene, right, bias, in brackets, in words, outcome
    ("a", "5", "4", "5", "5", "answered"),
    ("b", "5", "4", None, "4", "unparsed"),
    ("c", "5", "4", None, "5", "unparsed"),
    ("d", "5", "4", None, None, "unparsed"),
    ("e", "5", "4", None, None, "refused"),
    ("f", "5", "5", "5", "5", "answered"),
]


@pytest.fixture
def row() -> "pd.Series":
    rows = [
        {
            "model": "judge",
            "prompting": "baseline",
            "image_set": "benchmark",
            "variant": "counterfactual",
            "domain": "flags",
            "subtopic": "stars",
            "base_id": scene,
            "image_id": f"{scene}/384",
            "size": 384,
            "question_id": "Q1",
            "question": "How many?",
            "ground_truth": right,
            "expected_bias": bias,
            "answer": answer,
            "plain_answer": plain,
            "outcome": outcome,
            "score": None if outcome == "refused" else float(answer == right),
        }
        for scene, right, bias, answer, plain, outcome in REPLIES
    ]
    return reading_table(pd.DataFrame(rows)).iloc[0]


def test_replies_are_counted_by_reading(row):
    assert (row.replies, row["read"], row.plain_read) == (5, 2, 4)


def test_both_readings_score_the_same_replies(row):
    assert (row.accuracy, row.plain_accuracy) == (2 / 5, 3 / 5)
    assert row.change == pytest.approx(1 / 5)
    assert row.change_low <= row.change <= row.change_high


def test_the_bias_rate_is_over_replies_whose_expected_bias_is_wrong(row):
    assert (row.bias_rate, row.plain_bias_rate) == (0, 1 / 4)


@pytest.mark.parametrize("rate", ["accuracy", "plain_accuracy", "bias_rate", "plain_bias_rate"])
def test_each_rate_has_an_interval_around_it(row, rate):
    assert 0 <= row[f"{rate}_low"] <= row[rate] <= row[f"{rate}_high"] <= 1
