"""Answers beside blind ones, by hand."""

import pandas as pd
import pytest

from metrics import blind_answer_table, paired_interval, stratified_interval

ANSWERS = [
    # topic, scene, truth, expected, blind answer, answers at each size
    ("flags", "a", "5", "4", "4", ["4", "4", "5"]),
    ("flags", "b", "5", "4", "6", ["6", "6", None]),
    ("flags", "c", "5", "4", "5", ["5", "5", "5"]),
    ("flags", "d", "5", "4", None, ["4", "4", "4"]),
    ("boards", "e", "9", "8", "8", ["8", "9", "refused"]),
    ("boards", "f", "8", "8", "7", ["7", "7", "7"]),
    ("boards", "g", "8", None, "7", ["7", "8", "8"]),
]


def build_answers(model: str) -> pd.DataFrame:
    rows = [
        {
            "model": model,
            "domain": topic,
            "base_id": scene,
            "question": "How many?",
            "ground_truth": truth,
            "expected_bias": expected,
            "blind_answer": blind,
            "answer": None if answer == "refused" else answer,
            "score": None if answer == "refused" else float(answer == truth),
        }
        for topic, scene, truth, expected, blind, answers in ANSWERS
        for answer in answers
    ]
    return pd.DataFrame(rows)


@pytest.fixture
def row() -> "pd.Series":
    return blind_answer_table(build_answers("judge")).iloc[0]


def test_questions_are_counted_by_their_blind_answers(row):
    counts = row.questions, row.blind_answers, row.blind_right, row.blind_expected
    assert counts == (7, 6, 1, 2)


def test_answers_are_compared_where_neither_the_blind_nor_the_expected_one_is_true(row):
    # Scenes a and b with three answers each, e with two, g with three.
    assert (row.compared_scenes, row.compared) == (4, 11)


def test_shares_are_means_over_topics_with_intervals_over_scenes(row):
    strata, clusters = ["flags"] * 6 + ["boards"] * 5, [*"aaabbbeeggg"]
    blind = [1, 1, 0, 1, 1, 0, 1, 0, 1, 0, 0]
    interval = stratified_interval(blind, clusters, strata, seed=0)
    assert row.blind_share == pytest.approx((4 / 6 + 2 / 5) / 2)
    assert (row.blind_share_low, row.blind_share_high) == pytest.approx(interval)


def test_the_expected_share_leaves_out_scenes_of_which_nothing_is_expected(row):
    nan = float("nan")
    strata, clusters = ["flags"] * 6 + ["boards"] * 5, [*"aaabbbeeggg"]
    expected = [1, 1, 0, 0, 0, 0, 1, 0, nan, nan, nan]
    interval = stratified_interval(expected, clusters, strata, seed=0)
    assert row.expected_share == pytest.approx((2 / 6 + 1 / 2) / 2)
    assert (row.expected_share_low, row.expected_share_high) == pytest.approx(interval)


def test_the_difference_is_paired_by_answer(row):
    nan = float("nan")
    strata, clusters = ["flags"] * 6 + ["boards"] * 5, [*"aaabbbeeggg"]
    differences = [0, 0, 0, 1, 1, 0, 0, 0, nan, nan, nan]
    interval = paired_interval(differences, clusters, strata, seed=0)
    assert row.difference == pytest.approx((2 / 6 + 0) / 2)
    assert (row.difference_low, row.difference_high) == pytest.approx(interval)


def test_intervals_are_those_of_the_seed():
    ends = ["blind_share_high", "expected_share_high"]
    answers = build_answers("judge")
    more = pd.concat([answers.assign(base_id=answers["base_id"] + copy) for copy in "12345"])
    default, first, other = (
        blind_answer_table(more, **seed)[ends] for seed in ({}, {"seed": 0}, {"seed": 1})
    )
    assert default.equals(first)
    assert first.ne(other).all(axis=None)


def test_models_have_a_row_each_in_their_order():
    table = blind_answer_table(pd.concat([build_answers("z"), build_answers("a")]))
    assert table["model"].tolist() == ["z", "a"]
    assert table.drop(columns="model").nunique().eq(1).all()


def test_a_judge_that_was_asked_one_topic_has_its_share():
    answers = build_answers("judge").query("domain == 'flags'")
    assert blind_answer_table(answers)["blind_share"].item() == pytest.approx(4 / 6)


def test_without_a_blind_answer_there_is_no_share():
    answers = build_answers("judge").assign(blind_answer=None)
    row = blind_answer_table(answers).iloc[0]
    assert (row.questions, row.blind_answers, row.compared) == (7, 0, 0)
    shares = ["blind_share", "blind_share_low", "expected_share", "difference_high"]
    assert row[shares].isna().all()


def test_two_questions_about_a_scene_are_counted_both_and_resampled_together():
    answers = build_answers("judge")
    both = pd.concat([answers, answers.assign(question="How many more?")])
    row, single = (blind_answer_table(table).iloc[0] for table in (both, answers))
    assert (row.questions, row.compared, row.compared_scenes) == (14, 22, 4)
    assert row.blind_share_low == single.blind_share_low
