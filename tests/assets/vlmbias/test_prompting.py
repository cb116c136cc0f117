"""The four ways of prompting: what is sent, what is paid for, and what a table keeps."""

import io
import json

import numpy as np
import pandas as pd
import pyarrow.parquet as pq
import pytest
from PIL import Image

from assets.vlmbias.prompting import DEBIASED, DOUBLE_CHECK, VARIANTS
from metrics.reply_parsing.plain_answers import VERSION
from tests.assets.asked import JUDGE, answers, ask, counting, judge_at, questions, requests
from tests.providers import faults
from tests.runs import TOPIC, checks, failure, materialize, rewrite, table, warned


def test_a_run_adds_its_variant_and_asks_nothing_else(root, judge, server):
    assert ask(root, judge).success
    plain, count = answers(root), server.count
    assert ask(root, judge, "debiased").success
    rows = answers(root)
    assert list(rows["prompting"].unique()) == ["baseline", "debiased"]
    pd.testing.assert_frame_equal(rows[rows["prompting"] == "baseline"], plain)
    assert server.count - count == counting(root)
    debiased = rows[rows["prompting"] == "debiased"]
    assert (debiased["prompt"] == f"{DEBIASED} " + debiased["question"]).all()
    assert {each.texts[0] for each in server.received[count:]} == set(debiased["prompt"])
    assert set(debiased["question_id"]) == {"Q1", "Q2"}
    assert ask(root, judge).success
    pd.testing.assert_frame_equal(answers(root), rows)


def test_beyond_the_baseline_the_counting_questions_alone_are_put_of_every_image(root, judge):
    assert ask(root, judge, *VARIANTS).success
    result = materialize(root, "answers_random", topic=TOPIC, prompting=list(VARIANTS))
    assert result.success, failure(result)
    stored = questions(root)
    counts, sanity = (stored["question_id"].isin(ids) for ids in (["Q1", "Q2"], ["N1", "N2"]))
    assert set(stored[counts]["image_id"]) == set(stored["image_id"])
    assert set(stored["variant"]) == {"original", "counterfactual"}
    given = answers(root), pd.read_parquet(table(root, "answers_random"))
    for rows, plainly in zip(given, (stored, stored[~sanity]), strict=True):
        for name in VARIANTS:
            expected = plainly if name == "baseline" else stored[counts]
            if name == "isolated":
                of_benchmark = stored["image_set"].eq("benchmark")
                expected = stored[of_benchmark & stored["question_id"].isin(["Q1", "Q2", "Q3"])]
            put = rows[rows["prompting"] == name]
            columns = ["image_id", "question_id", "question"]
            pd.testing.assert_frame_equal(
                put[columns].reset_index(drop=True), expected[columns].reset_index(drop=True)
            )


def test_the_wording_is_the_papers():
    assert DEBIASED == (
        "Do not assume from prior knowledge and answer only based on what is visible in the image."
    )
    assert DOUBLE_CHECK == (
        "Please double-check your answer and give your final answer in curly brackets, "
        "following the format above."
    )


def test_double_check_is_a_second_turn_after_the_baseline(root, judge, server):
    server.answer = lambda received: "{9}" if DOUBLE_CHECK in received.texts else "{8}"
    assert ask(root, judge).success
    count = server.count
    assert ask(root, judge, "double-check").success
    rows = answers(root).query("prompting == 'double-check'")
    assert server.count - count == len(rows) == counting(root)
    assert set(rows["first_response"]) == {"{8}"}
    assert set(rows["response"]) == {"{9}"}
    assert (rows["prompt"] == rows["question"] + "\n\n" + DOUBLE_CHECK).all()
    first = {(each.texts[0], each.images): each for each in server.received[:count]}
    for second in server.received[count:]:
        messages = json.loads(second.body)["messages"]
        assert [message["role"] for message in messages] == ["user", "assistant", "user"]
        question, reply, follow_up = messages
        before = first.pop((second.texts[0], second.images))
        assert [question] == json.loads(before.body)["messages"]
        assert _text(reply) == "{8}"
        assert _text(follow_up) == DOUBLE_CHECK


def test_double_check_alone_pays_for_the_baseline_once(root, judge, server):
    assert ask(root, judge, "double-check").success
    assert list(answers(root)["prompting"].unique()) == ["double-check"]
    count = server.count
    assert count == 2 * counting(root)
    assert ask(root, judge).success
    assert server.count - count == requests(root) - counting(root)


def test_without_a_first_answer_there_is_no_second_turn(root, judge, server):
    server.when(lambda received: "rows" in received.texts[0], faults.FILTERED)
    server.when(lambda received: "columns" in received.texts[0], faults.INVALID_REQUEST)
    result = ask(root, judge, "double-check")
    assert checks(result) == {
        "every_row_ended": True,
        "unparsed_rate": False,
        "nothing_failed": False,
    }
    rows = answers(root)
    refused, failed = (rows[rows["question"].str.contains(of)] for of in ("rows", "columns"))
    assert set(refused["outcome"]) == {"refused"}
    assert set(failed["outcome"]) == {"failed"}
    assert refused["first_response"].isna().all()
    for each in server.received:
        assert len(each.texts) == 1 or not {"rows", "columns"} & set(each.texts[0].split())


def test_a_refused_second_turn_keeps_what_was_said_first(root, judge, server):
    server.when(lambda received: DOUBLE_CHECK in received.texts, faults.REFUSED)
    assert ask(root, judge, "double-check").success
    rows = answers(root)
    assert set(rows["outcome"]) == {"refused"}
    assert set(rows["first_response"]) == {"I see {8}."}
    assert rows["response"].isna().all()


def test_the_title_stands_above_the_very_picture(root, judge, server):
    assert ask(root, judge, "in-image title").success
    rows = answers(root)
    assert (rows["prompt"] == rows["question"]).all()
    assert (rows["shown_sha256"] != rows["sha256"]).all()
    assert rows["shown_sha256"].nunique() == rows["sha256"].nunique()
    seen = {picture for each in server.received for picture in each.images}
    assert len(seen) == rows["shown_sha256"].nunique()
    for row in rows.drop_duplicates("shown_sha256").itertuples():
        plain, titled = (_pixels(_png(root, digest)) for digest in (row.sha256, row.shown_sha256))
        assert (titled[-len(plain) :] == plain).all()
        assert titled.shape[0] > plain.shape[0]
    files = {path: path.stat().st_mtime_ns for path in (root / "images").rglob("*.png")}
    again = ask(root, judge, "in-image title")
    assert again.success
    assert {p: p.stat().st_mtime_ns for p in (root / "images").rglob("*.png")} == files


def test_a_titled_picture_that_is_damaged_is_made_again(root, judge):
    assert ask(root, judge, "in-image title").success
    shown = answers(root)["shown_sha256"].iloc[0]
    path = root / "images" / shown[:2] / f"{shown}.png"
    path.write_bytes(b"\x89PNG half of it")
    assert ask(root, judge, "in-image title").success
    assert _pixels(_png(root, shown)).ndim == 3


@pytest.mark.parametrize("changed", ["question", "model"])
def test_variants_of_another_time_are_dropped_and_not_asked_again(
    root, judge, server, changed, instance
):
    assert ask(root, judge, "baseline", "debiased").success
    if changed == "question":
        rewrite(
            table(root, "questions"),
            lambda rows: [rows[0] | {"question": "How many? {9}"}, *rows[1:]],
        )
    else:
        judge = judge_at(server, parameters={"temperature": 0.5})
    count = server.count
    result = ask(root, judge, instance=instance)
    assert result.success, failure(result)
    assert list(answers(root)["prompting"].unique()) == ["baseline"]
    assert server.count - count == (1 if changed == "question" else requests(root))
    assert f"{counting(root)} answers under debiased are dropped" in warned(instance)
    assert "prompting: [debiased]" in warned(instance)


def test_a_torn_table_does_not_stop_the_run_that_mends_it(root, judge, instance):
    assert ask(root, judge, "debiased").success
    torn = table(root, JUDGE)
    torn.write_bytes(torn.read_bytes()[:-100])
    result = ask(root, judge, instance=instance)
    assert result.success, failure(result)
    assert f"{torn} cannot be read" in warned(instance)
    assert list(answers(root)["prompting"].unique()) == ["baseline"]


def test_answers_stored_before_there_were_plain_readings_are_read_and_not_asked_again(
    root, judge, server
):
    assert ask(root, judge, "debiased").success
    stored, count = table(root, JUDGE), server.count
    columns = ["plain_answer", "reading_version"]
    pq.write_table(pq.read_table(stored).drop_columns(columns), stored)
    assert ask(root, judge).success
    rows = answers(root)
    assert server.count - count == requests(root)
    debiased = rows[rows["prompting"] == "debiased"]
    assert set(debiased["reading_version"]) == {VERSION}
    assert debiased["plain_answer"].equals(debiased["answer"])


@pytest.mark.parametrize("prompting", [["debiassed"], ["baseline", ""], ["Baseline"]])
def test_an_unknown_variant_is_refused_with_those_there_are(root, judge, server, prompting):
    message = failure(ask(root, judge, *prompting))
    assert "There is no prompting" in message
    assert "baseline, debiased, double-check, in-image title" in message
    assert server.count == 0


def _text(message):
    content = message["content"]
    return content if isinstance(content, str) else content[-1]["text"]


def _png(root, digest):
    return (root / "images" / digest[:2] / f"{digest}.png").read_bytes()


def _pixels(png):
    with Image.open(io.BytesIO(png)) as image:
        return np.asarray(image.convert("RGB"))
