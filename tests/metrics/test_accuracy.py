import time

import numpy as np
import pandas as pd
import pytest
from scipy.stats import binomtest

from metrics import TASK_MEAN, WHOLE_TOPIC, accuracy_table
from tests.metrics.clustered import clustered_interval

RATES = ["unparsed_rate", "refused_rate", "failed_rate"]


def row(base_id, answer, outcome="answered", *, truth="5", bias="4", **more):
    given = outcome in ("answered", "unparsed")
    return {
        "image_id": f"{base_id}/384",
        "base_id": base_id,
        "domain": "flags",
        "subtopic": "stars",
        "image_set": "benchmark",
        "question_id": "Q1",
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


def whole(rows, **where):
    return only(accuracy_table(pd.DataFrame(rows)), topic="flags", subtopic=WHOLE_TOPIC, **where)


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
    assert (found["accuracy_low"], found["accuracy_high"]) == clustered_interval(
        [1, 0, 0, 0, 0], ["a", "a", "b", "b", "c"], seed=0
    )
    assert (found["bias_rate_low"], found["bias_rate_high"]) == clustered_interval(
        [0, 1, 1, 0, 0], ["a", "a", "b", "b", "c"], seed=0
    )


def test_subtopics_come_before_their_topic_and_topics_before_their_mean():
    rows = [
        row("flags/a", "5"),
        row("flags/b", "4", subtopic="stripes"),
        row("flags/c", "4", subtopic="stripes"),
        row("grids/a", "5", domain="grids", subtopic="dice"),
    ]
    table = accuracy_table(pd.DataFrame(rows))
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
    found = only(accuracy_table(pd.DataFrame(rows)), topic=TASK_MEAN)
    assert pd.isna(found["accuracy"])
    assert pd.isna(found["accuracy_low"])
    assert found["refused_rate"] == 0.5
    assert found["base_images"] == 1


TOPICS = {"flags": 20, "chess_pieces": 24, "patterned_grids": 28}


def benchmark(answer, topics=TOPICS, model="judge"):
    """Each topic's base images at three sizes with two wordings, `answer(truth, bias)` to all."""
    return [
        row(
            f"{topic}/{i}",
            answer("5", "4"),
            domain=topic,
            subtopic=f"part {i % 2}",
            question_id=question,
            size=size,
            model=model,
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
    table = accuracy_table(pd.DataFrame(benchmark(answer)))
    assert (table["accuracy"] == accuracy).all()
    assert (table["bias_rate"] == bias_rate).all()
    for topic, base_images in TOPICS.items():
        found = only(table, topic=topic, subtopic=WHOLE_TOPIC)
        assert found["base_images"] == base_images
        assert found["answers"] == 6 * base_images
        for name, rate in (("accuracy", accuracy), ("bias_rate", bias_rate)):
            exact = binomtest(int(rate * base_images), base_images).proportion_ci(method="exact")
            assert list(found[[f"{name}_low", f"{name}_high"]]) == pytest.approx(list(exact))


def test_the_table_is_the_same_whatever_the_order_of_the_answers():
    rng = np.random.default_rng(1)
    rows = pd.DataFrame(benchmark(lambda truth, bias: str(rng.choice([truth, bias, "6"]))))
    keys = ["topic", "subtopic"]
    tables = [
        accuracy_table(each).sort_values(keys, ignore_index=True)
        for each in (rows, rows.sample(frac=1, random_state=2))
    ]
    pd.testing.assert_frame_equal(*tables)


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


def test_three_judges_take_seconds():
    topics = {"flags": 40, "chess_pieces": 48, "boards": 28, "illusions": 132, "grids": 56}
    rng = np.random.default_rng(1)
    rows = [
        each
        for judge in range(3)
        for each in benchmark(lambda t, b: str(rng.choice([t, b])), topics, f"judge {judge}")
    ]
    answers = pd.DataFrame(rows)
    start = time.perf_counter()
    accuracy_table(answers)
    assert time.perf_counter() - start < 8  # 0.3 s alone; other work may share the cores


def test_a_judge_that_lacks_a_topic_has_no_task_mean():
    def answers(model, *topics):
        return [
            {
                "model": model,
                "prompting": "baseline",
                "image_set": "benchmark",
                "domain": topic,
                "subtopic": "one",
                "base_id": f"{topic}/{number}",
                "question_id": "Q1",
                "ground_truth": "1",
                "expected_bias": "2",
                "answer": "1",
                "outcome": "answered",
                "score": 1.0,
            }
            for topic in topics
            for number in range(5)
        ]

    rows = [*answers("whole", "flags", "boards"), *answers("half", "flags")]
    means = accuracy_table(pd.DataFrame(rows)).query("topic == @TASK_MEAN").set_index("model")
    assert means.loc["whole", "accuracy"] == 1.0
    assert np.isnan(means.loc["half", "accuracy"])
