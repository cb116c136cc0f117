import time
from itertools import count

import numpy as np
import pandas as pd
import pytest
from scipy.stats import binomtest

from metrics import (
    EVERY_SIZE,
    TASK_MEAN,
    WHOLE_TOPIC,
    accuracy_table,
    paired_interval,
    topic_accuracy_table,
)
from tests.metrics.clustered import clustered_interval

RATES = ["unparsed_rate", "refused_rate", "failed_rate"]
WORDINGS = count()


def row(base_id, answer, outcome="answered", *, truth="5", bias="4", **more):
    given = outcome in ("answered", "unparsed")
    return {
        "image_id": f"{base_id}/384",
        "base_id": base_id,
        "domain": "flags",
        "subtopic": "stars",
        "image_set": "benchmark",
        "variant": "counterfactual",
        "size": 384,
        "question_id": "Q1",
        "question": f"wording {next(WORDINGS)}",
        "ground_truth": truth,
        "expected_bias": bias,
        "model": "judge",
        "prompting": "baseline",
        "answer": answer,
        "outcome": outcome,
        "score": float(answer == truth) if given else None,
        **more,
    }


def only(table, **where):
    for column, value in where.items():
        table = table[table[column] == value]
    assert len(table) == 1
    return table.iloc[0]


def table_of(rows):
    """The rows of the table's own image sets."""
    table = accuracy_table(pd.DataFrame(rows))
    return table[table["image_set"].isin(["benchmark", "originals"])]


def whole(rows, **where):
    return only(table_of(rows), topic="flags", subtopic=WHOLE_TOPIC, **where)


def test_a_case_worked_by_hand():
    rows = [
        row("a", "5"),
        row("a", "4"),
        row("b", "4"),
        row("b", "6"),
        row("c", None, "unparsed"),
        row("c", None, "refused"),
        row("d", None, "failed"),
        row("d", None, "refused"),
    ]
    found = whole(rows)
    assert found["base_images"] == 3
    assert found["answers"] == 5
    assert found["accuracy"] == pytest.approx(1 / 5)
    assert found["bias_rate"] == pytest.approx(2 / 5)
    assert found["bias_share_of_wrong"] == pytest.approx(2 / 4)
    assert list(found[RATES]) == pytest.approx([1 / 8, 2 / 8, 1 / 8])
    assert found["biased_errors"] == pytest.approx(2 / 5)
    none = float("nan")
    for name, scores in {
        "accuracy": [1, 0, 0, 0, 0, none, none, none],
        "bias_rate": [0, 1, 1, 0, 0, none, none, none],
        "bias_share_of_wrong": [none, 1, 1, 0, 0, none, none, none],
    }.items():
        interval = clustered_interval(scores, list("aabbccdd"), seed=0)
        assert (found[f"{name}_low"], found[f"{name}_high"]) == interval
    assert np.isnan(found["change"])


def test_subtopics_come_before_their_topic_and_topics_before_their_mean():
    rows = [
        row("flags/a", "5"),
        row("flags/b", "4", subtopic="stripes"),
        row("flags/c", "4", subtopic="stripes"),
        row("grids/a", "5", domain="grids", subtopic="dice"),
    ]
    table = table_of(rows)
    assert list(zip(table["topic"], table["subtopic"], table["accuracy"], strict=True)) == [
        ("flags", "stars", 1.0),
        ("flags", "stripes", 0.0),
        ("flags", WHOLE_TOPIC, pytest.approx(1 / 3)),
        ("grids", "dice", 1.0),
        ("grids", WHOLE_TOPIC, 1.0),
        (TASK_MEAN, WHOLE_TOPIC, pytest.approx((1 / 3 + 1) / 2)),
    ]


def test_q1_and_q2_are_taken_together_and_settings_apart():
    rows = [
        row("a", "5"),
        row("a", "4", question_id="Q2"),
        row("a", "No", truth="No", bias="Yes", question_id="Q3"),
        row("a", "4", prompting="debiased"),
        row("a", "4", model="other"),
        row("o", "4", truth="4", image_set="originals"),
    ]
    base = {"model": "judge", "prompting": "baseline", "image_set": "benchmark"}
    assert whole(rows, **base, questions="Q1 & Q2")["accuracy"] == 0.5
    assert whole(rows, **base, questions="Q3")["accuracy"] == 1
    assert whole(rows, prompting="debiased")["accuracy"] == 0
    assert whole(rows, model="other")["accuracy"] == 0
    assert whole(rows, image_set="originals")["accuracy"] == 1


def test_a_bias_that_is_the_truth_is_no_bias():
    original = row("o", "Yes", truth="Yes", bias="Yes", question_id="Q3")
    missed = row("p", "No", truth="Yes", bias="Yes", question_id="Q3")
    modified = row("m", "No", truth="No", bias="Yes", question_id="Q3")
    found = whole([original, missed, modified])
    assert found["accuracy"] == pytest.approx(2 / 3)
    assert found["bias_rate"] == 0
    assert pd.isna(found["bias_share_of_wrong"])
    only_originals = whole([original, missed])
    assert only_originals["accuracy"] == 0.5
    bias_columns = ["bias_rate", "bias_rate_low", "bias_rate_high", "bias_share_of_wrong"]
    assert only_originals[bias_columns].isna().all()


def test_a_topic_without_answers_leaves_no_task_mean():
    rows = [row("a", "5"), row("b", None, "refused", domain="grids")]
    found = only(table_of(rows), topic=TASK_MEAN)
    assert pd.isna(found["accuracy"])
    assert pd.isna(found["accuracy_low"])
    assert found["refused_rate"] == 0.5
    assert found["base_images"] == 1


TOPICS = {"flags": 20, "chess_pieces": 24, "patterned_grids": 28}


def benchmark(answer, topics=TOPICS, model="judge", **more):
    """Each topic's base images at three sizes with two wordings, `answer(truth, bias)` to all."""
    return [
        row(
            f"{topic}/{i}",
            answer("5", "4"),
            domain=topic,
            subtopic=f"part {i % 2}",
            question_id=question,
            question=question,
            image_id=f"{topic}/{i}/{size}",
            size=size,
            model=model,
            **more,
        )
        for topic, base_images in topics.items()
        for i in range(base_images)
        for size in (384, 768, 1152)
        for question in ("Q1", "Q2")
    ]


@pytest.mark.parametrize(
    ("answer", "accuracy", "bias_rate"),
    [(lambda truth, _: truth, 1.0, 0.0), (lambda _, bias: bias, 0.0, 1.0)],
    ids=["oracle", "prior"],
)
def test_the_reference_judges_bracket_every_other(answer, accuracy, bias_rate):
    every = accuracy_table(pd.DataFrame(benchmark(answer)))
    assert (every["accuracy"] == accuracy).all()
    assert (every["bias_rate"] == bias_rate).all()
    table = every[every["image_set"] == "benchmark"]
    for topic, base_images in TOPICS.items():
        found = only(table, topic=topic, subtopic=WHOLE_TOPIC)
        assert found["base_images"] == base_images
        assert found["answers"] == 6 * base_images
        for name, rate in (("accuracy", accuracy), ("bias_rate", bias_rate)):
            exact = binomtest(int(rate * base_images), base_images).proportion_ci(method="exact")
            assert list(found[[f"{name}_low", f"{name}_high"]]) == pytest.approx(list(exact))


@pytest.mark.slow
def test_the_table_is_the_same_whatever_the_order_of_the_answers():
    rng = np.random.default_rng(1)
    rows = pd.DataFrame(benchmark(lambda truth, bias: str(rng.choice([truth, bias, "6"]))))
    keys = ["image_set", "size", "topic", "subtopic"]
    tables = [
        accuracy_table(each).sort_values(keys, ignore_index=True)
        for each in (rows, rows.sample(frac=1, random_state=2))
    ]
    pd.testing.assert_frame_equal(*tables)


@pytest.mark.slow
def test_topics_alone_have_the_rows_that_they_have_in_the_whole_table():
    chances = np.random.default_rng(1)
    rows = pd.DataFrame(
        {**each, "domain": topic, "image_id": topic + each["image_id"], "prompting": prompting}
        for topic in ("flags", "logos")
        for prompting in ("baseline", "debiased")
        for each in benchmark(lambda truth, bias: str(chances.choice([truth, bias, "6"])))
    )
    table = accuracy_table(rows)
    of_topics = table["topic"].ne(TASK_MEAN) & table["subtopic"].eq(WHOLE_TOPIC)
    in_own_sets = table["size"].eq(EVERY_SIZE) & table["image_set"].isin(set(rows["image_set"]))
    expected = table[of_topics & in_own_sets].reset_index(drop=True)
    assert len(expected) == 2 * 2
    pd.testing.assert_frame_equal(topic_accuracy_table(rows), expected, check_exact=True)


def test_columns_of_a_parquet_file_serve_as_well_as_those_made_here(tmp_path):
    rows = pd.DataFrame([row("a", "5"), row("b", None, "refused"), row("c", None, "unparsed")])
    expected = accuracy_table(rows)
    rows.to_parquet(tmp_path / "answers.parquet")
    for backend in ("numpy_nullable", "pyarrow"):
        read = pd.read_parquet(tmp_path / "answers.parquet", dtype_backend=backend)
        found = accuracy_table(read)
        pd.testing.assert_frame_equal(found, expected, check_dtype=False)


def test_no_answers_give_an_empty_table():
    table = accuracy_table(pd.DataFrame([row("a", "5")]).iloc[:0])
    assert table.empty
    assert table.columns[0] == "model"


@pytest.mark.slow
def test_six_judges_take_seconds():
    topics = {"flags": 40, "chess_pieces": 48, "boards": 28, "illusions": 132, "grids": 56}
    rng = np.random.default_rng(1)
    rows = [
        each
        for judge in range(3)
        for prompting in ("baseline", "debiased")
        for each in benchmark(
            lambda t, b: str(rng.choice([t, b])), topics, f"judge {judge}", prompting=prompting
        )
    ]
    answers = pd.DataFrame(rows)
    start = time.process_time()
    accuracy_table(answers)
    assert time.process_time() - start < 8  # 0.5 s alone; other work may share the cores


def test_the_judge_that_lacks_a_topic_has_no_task_mean():
    rows = benchmark(lambda _, bias: bias, {"flags": 5, "boards": 5}, "whole")
    rows += benchmark(lambda _, bias: bias, {"flags": 5}, "half")
    means = table_of(rows).query("topic == @TASK_MEAN").set_index("model")
    rates = ["accuracy", "bias_rate", "biased_errors", "bias_share_of_wrong"]
    assert list(means.loc["whole", rates]) == [0, 1, 1, 1]
    assert means.loc["half", rates].isna().all()


def test_the_bias_share_is_over_the_topics_with_wrong_answers():
    rows = benchmark(lambda _, bias: bias, {"flags": 5})
    rows += benchmark(lambda truth, _: truth, {"boards": 5})
    found = only(table_of(rows), topic=TASK_MEAN)
    assert found["bias_share_of_wrong"] == 1
    assert found["bias_rate"] == 0.5


def test_variants_are_apart_whatever_set_they_are_in():
    """The benchmark holds the illusions' originals: Table 4 counts them as originals."""
    rows = [
        row("m", "5", domain="illusions"),
        row("i", "4", domain="illusions", variant="original"),
        row("o", "5", image_set="originals", variant="original"),
        row("p", "4", image_set="originals", variant="original"),
        row("c", "4"),
    ]
    table = accuracy_table(pd.DataFrame(rows))
    every = table[table["size"] == EVERY_SIZE].set_index(["image_set", "topic", "subtopic"])
    found = every["accuracy"].to_dict()
    whole = ("illusions", WHOLE_TOPIC), ("flags", WHOLE_TOPIC), (TASK_MEAN, WHOLE_TOPIC)
    assert [found["all_originals", *key] for key in whole] == [0, 0.5, 0.25]
    assert [found["all_counterfactuals", *key] for key in whole] == [1, 0, 0.5]
    assert found["benchmark", "illusions", WHOLE_TOPIC] == 0.5
    assert found["originals", TASK_MEAN, WHOLE_TOPIC] == 0.5
    assert ("all_originals", "flags", "stars") not in found


def test_images_that_nobody_has_accepted_stand_in_rows_of_their_own():
    plain = [row("a", "5"), row("b", "4"), row("o", "4", truth="4", image_set="originals")]
    apart = [row("u", "4", image_set="unreviewed"), row("r", "4", image_set="stand-in")]
    without, beside = (accuracy_table(pd.DataFrame(rows)) for rows in (plain, plain + apart))
    own = beside["image_set"].isin(["unreviewed", "stand-in"])
    pd.testing.assert_frame_equal(beside[~own].reset_index(drop=True), without)
    assert set(beside[own]["accuracy"]) == {0.0}
    assert set(beside[own]["answers"]) == {1}


def test_each_size_has_rows_of_its_own():
    rows = benchmark(lambda *_: "4")
    for each in rows:
        if each["size"] == 768:
            each.update(answer="5", score=1.0)
    table = accuracy_table(pd.DataFrame(rows))
    for topic, base_images in (*TOPICS.items(), (TASK_MEAN, sum(TOPICS.values()))):
        for size, accuracy in (("384", 0), ("768", 1), ("1152", 0), ("all", 1 / 3)):
            found = only(table, image_set="all_counterfactuals", topic=topic, size=size)
            assert found["accuracy"] == pytest.approx(accuracy)
            assert found["base_images"] == base_images


def test_questions_of_appendix_n_are_counted_apart():
    rows = [
        row("o", "4", truth="4", variant="original", image_set="originals"),
        row("o", "a flag", truth="a flag", variant="original", question_id="N1"),
        row("o", "4", truth="5", variant="original", question_id="N2"),
    ]
    table = accuracy_table(pd.DataFrame(rows))
    found = table[(table["image_set"] == "all_originals") & (table["topic"] == TASK_MEAN)]
    found = found[found["size"] == EVERY_SIZE].set_index("questions")["accuracy"].to_dict()
    assert found == {"Q1 & Q2": 1, "Identification": 1, "Known count": 0}


def test_an_unknown_question_is_not_counted_under_another():
    with pytest.raises(KeyError, match="Q4"):
        accuracy_table(pd.DataFrame([row("a", "5", question_id="Q4")]))


class TestChange:
    """The difference to the baseline, question by question (the paper's Table 5)."""

    def asked(self, plain, debiased):
        """Rows of both promptings, an answer for each base image, None for a refusal."""
        return [
            row(
                str(at),
                answer,
                "refused" if answer is None else "answered",
                prompting=prompting,
                question="How many?",
            )
            for prompting, answers in (("debiased", debiased), ("baseline", plain))
            for at, answer in enumerate(answers)
        ]

    def test_is_over_the_questions_that_were_answered_both_times(self):
        rows = self.asked(["4", "4", "5", "5", None], ["5", "5", "4", None, "5"])
        found = whole(rows, prompting="debiased")
        assert found["accuracy"] == 3 / 4
        assert found["change"] == pytest.approx((1 + 1 - 1) / 3)
        assert np.isnan(whole(rows, prompting="baseline")["change"])

    def test_has_the_interval_of_the_paired_differences(self):
        rows = self.asked(["4"] * 20 + ["5"] * 10, ["5"] * 5 + ["4"] * 15 + ["5"] * 8 + ["4"] * 2)
        found = whole(rows, prompting="debiased")
        differences = [1] * 5 + [0] * 23 + [-1] * 2
        assert found["change"] == pytest.approx(0.1)
        interval = paired_interval(differences, [f"{at:02}" for at in range(30)], [0] * 30, seed=0)
        assert list(found[["change_low", "change_high"]]) == pytest.approx(interval, abs=0.02)

    def test_pairs_by_judge_image_and_wording(self):
        rows = [
            row("a", "4", question="How many?", image_id="a/384"),
            row("a", "4", question="How many?", image_id="a/768", size=768),
            row("a", "4", question="Count.", image_id="a/384"),
            row("a", "5", question="How many?", image_id="a/384", model="other"),
            row("a", "5", question="How many?", image_id="a/384", prompting="debiased"),
        ]
        assert whole(rows, prompting="debiased")["change"] == 1

    def test_without_a_baseline_there_is_none(self):
        found = whole([row("a", "5", prompting="debiased")])
        assert np.isnan(found["change"])
        assert found["accuracy"] == 1

    def test_of_the_task_mean_needs_every_topic(self):
        rows = benchmark(lambda *_: "4") + benchmark(lambda *_: "5", prompting="debiased")
        rows += benchmark(lambda *_: "4", {"flags": 5}, prompting="double-check")
        means = table_of(rows).query("topic == @TASK_MEAN").set_index("prompting")["change"]
        assert means["debiased"] == 1
        assert np.isnan(means["double-check"])
