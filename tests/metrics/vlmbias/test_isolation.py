"""Answers about isolated pictures beside those about whole ones, by hand."""

import pandas as pd
import pytest

from metrics import (
    accuracy_table,
    isolation_table,
    paired_interval,
    stratified_interval,
    topic_accuracy_table,
)

SCENES = [
    # topic, scene, isolated picture, scores whole, scores isolated; None for a refusal
    ("boards", "a", "lines", (0, 0), (1, 1)),
    ("boards", "b", "lines", (1, 0), (1, 1)),
    ("boards", "c", "grid", (0, None), (0, 1)),
    ("flags", "d", "stars", (1, 1), (0, 1)),
    ("flags", "e", "stripes", (0, 0), (1, None)),
    ("flags", "f", None, (0, 0), (1, 1)),  # nothing to leave out
]
STRATA = ["boards"] * 5 + ["flags"] * 3
CLUSTERS = [*"aaaac", *"dde"]
WHOLE, ISOLATED = [0, 0, 1, 0, 0, 1, 1, 0], [1, 1, 1, 1, 0, 0, 1, 1]


@pytest.fixture
def answers() -> pd.DataFrame:
    rows = [
        {
            **{"model": "judge", "prompting": prompting, "image_set": "benchmark"},
            **{"variant": "counterfactual", "domain": topic, "subtopic": "all"},
            **{"base_id": scene, "image_id": f"{scene}/384", "size": 384},
            **{"question_id": f"Q{number + 1}", "question": f"Question {number}?"},
            **{"ground_truth": "5", "expected_bias": "4", "sha256": scene},
            "shown_sha256": (picture or scene) if prompting == "isolated" else scene,
            "answer": None if score is None else "45"[score],
            "outcome": "refused" if score is None else "answered",
            "score": score,
        }
        for topic, scene, picture, whole, isolated in SCENES
        for prompting, scores in (("baseline", whole), ("isolated", isolated))
        for number, score in enumerate(scores)
    ]
    return pd.DataFrame(rows).astype({"score": float})


def test_a_pair_is_one_question_scored_both_times_about_another_picture(answers):
    (row,) = isolation_table(answers).itertuples()
    assert (row.model, row.questions) == ("judge", "Q1 & Q2")
    counts = row.topics, row.scenes, row.independent_scenes, row.requests, row.pairs
    assert counts == (2, 5, 4, 10, 8)


def test_rates_are_means_over_topics_and_scenes_of_one_picture_are_one(answers):
    (row,) = isolation_table(answers).itertuples()
    assert row.whole_accuracy == pytest.approx((1 / 5 + 2 / 3) / 2)
    assert row.isolated_accuracy == pytest.approx((4 / 5 + 2 / 3) / 2)
    assert row.difference == pytest.approx((3 / 5 + 0) / 2)
    gains = [after - before for after, before in zip(ISOLATED, WHOLE, strict=True)]
    for name, interval, values in (
        ("whole_accuracy", stratified_interval, WHOLE),
        ("isolated_accuracy", stratified_interval, ISOLATED),
        ("difference", paired_interval, gains),
    ):
        ends = getattr(row, f"{name}_low"), getattr(row, f"{name}_high")
        assert ends == pytest.approx(interval(values, CLUSTERS, STRATA, seed=0)), name
        assert ends != pytest.approx(interval(values, [*"aabbcdde"], STRATA, seed=0)), name


def test_intervals_are_those_of_the_seed(answers):
    (row,), (other,) = (isolation_table(answers, seed=seed).itertuples() for seed in (0, 1))
    assert row.difference == other.difference
    assert row.isolated_accuracy_high != other.isolated_accuracy_high


def test_without_a_pair_there_is_no_number(answers):
    alone = answers[answers["prompting"] == "isolated"]
    (row,) = isolation_table(alone).itertuples()
    assert (row.requests, row.pairs, row.scenes) == (10, 0, 0)
    assert pd.isna([row.whole_accuracy, row.isolated_accuracy, row.difference]).all()
    assert isolation_table(answers[answers["prompting"] == "baseline"]).empty


def test_the_accuracy_table_counts_scenes_of_one_picture_once_where_it_was_shown(answers):
    for table in (accuracy_table, topic_accuracy_table):
        rows = table(answers)
        boards = rows[(rows["topic"] == "boards") & (rows["subtopic"] == "all")]
        counts = boards.groupby("prompting")["base_images"].max()
        assert counts.to_dict() == {"baseline": 3, "isolated": 2}


def test_scenes_are_linked_by_any_picture_in_common(answers):
    linked = answers.copy()
    is_third = linked["base_id"].eq("c") & linked["prompting"].eq("isolated")
    is_larger = is_third & linked["question_id"].eq("Q2")
    linked.loc[is_larger, "shown_sha256"] = "lines"
    rows = topic_accuracy_table(linked)
    boards = rows[(rows["topic"] == "boards") & (rows["prompting"] == "isolated")]
    assert list(boards["base_images"]) == [1]
