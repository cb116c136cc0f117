"""A real model as a judge: over real HTTP, through the client and the call store."""

import pandas as pd
import pytest

from assets.vlmbias.answers import ANSWERS, CountingAnswers
from resources.models.catalog import Catalog, Model
from tests.assets.asked import JUDGE, answers, ask, judge_at, questions, requests
from tests.assets.works import problems
from tests.providers import faults
from tests.runs import (
    STAND_INS,
    TOPIC,
    checks,
    failure,
    materialize,
    metadata,
    rewrite,
    table,
    warned,
)


class TestBaseline:
    def test_every_question_has_its_answer(self, root, judge, server):
        result = ask(root, judge)
        assert result.success, failure(result)
        assert checks(result) == {
            "every_row_ended": True,
            "unparsed_rate": False,
            "nothing_failed": True,
        }
        rows, asked = answers(root), questions(root)
        assert len(rows) == len(asked)
        assert server.count == requests(root)
        assert (rows["prompt"] == rows["question"]).all()
        assert (rows["shown_sha256"] == rows["sha256"]).all()
        assert set(rows["prompting"]) == {"baseline"}
        assert set(rows["response"]) == {"I see {8}."}
        assert rows[["first_response", "refusal", "reason"]].isna().all(axis=None)
        assert set(rows["served_model"]) == {"some-vlm-1"}
        right = rows["ground_truth"] == "8"
        counted = rows["ground_truth"].str.isdigit()
        assert (rows.loc[right, "score"] == 1).all()
        assert (rows.loc[counted & ~right, "score"] == 0).all()
        known = metadata(result, JUDGE)
        assert known["answers"] == len(rows)
        assert known["requests_sent"] == server.count
        assert known["requests_known_before"] == 0
        assert known["spent_usd"] == "unknown"
        assert known["served_models"] == ["some-vlm-1"]

    def test_the_sanity_check_is_for_real_judges(self, root, judge):
        assert ask(root, judge).success
        assert set(answers(root)["question_id"]) == {"Q1", "Q2", "Q3", "N1", "N2"}
        reference = pd.read_parquet(table(root, "answers_prior"))
        assert set(reference["question_id"]) == {"Q1", "Q2", "Q3"}

    def test_a_second_run_asks_nothing_and_gives_the_same_bytes(self, root, judge, server):
        assert ask(root, judge).success
        before, count = table(root, JUDGE).read_bytes(), server.count
        again = ask(root, judge)
        assert server.count == count
        assert table(root, JUDGE).read_bytes() == before
        assert metadata(again, JUDGE)["requests_known_before"] == count

    def test_accuracy_and_report_take_it_in(self, root, judge):
        assert ask(root, judge, "baseline", "double-check").success
        result = materialize(root, models=[*STAND_INS, judge])
        assert result.success, failure(result)
        scores = pd.read_parquet(root / "vlmbias" / "accuracy.parquet")
        assert set(scores["model"]) == {"prior", "pixels", "random", "somebody"}
        varied = scores[scores["model"] == "somebody"]
        assert set(varied["prompting"]) == {"baseline", "double-check"}

    def test_accuracy_does_without_a_judge_that_was_never_asked(
        self, root, judge, server, instance
    ):
        result = materialize(root, "accuracy", models=[*STAND_INS, judge], instance=instance)
        assert result.success, failure(result)
        assert "somebody has not answered" in warned(instance)
        assert server.count == 0


class TestEndings:
    def test_a_refusal_is_a_row_with_its_kind_and_reason(self, root, judge, server):
        server.when(lambda received: "rows" in received.texts[0], faults.REFUSED)
        result = ask(root, judge)
        assert result.success, failure(result)
        assert checks(result) == {
            "every_row_ended": True,
            "unparsed_rate": False,
            "nothing_failed": True,
        }
        rows = answers(root)
        refused = rows[rows["outcome"] == "refused"]
        assert len(refused) == rows["question"].str.contains("rows").sum()
        assert set(refused["refusal"]) == {"model"}
        assert refused["reason"].notna().all()
        assert refused[["response", "answer", "score"]].isna().all(axis=None)
        before = server.count
        assert ask(root, judge).success
        assert server.count == before

    def test_a_filter_is_told_from_the_models_own_refusal(self, root, judge, server):
        server.when(lambda received: "rows" in received.texts[0], faults.FILTERED)
        assert ask(root, judge).success
        rows = answers(root)
        assert set(rows[rows["outcome"] == "refused"]["refusal"]) == {"content filter"}

    def test_declining_in_words_is_a_refusal_of_the_model(self, root, judge, server):
        server.answer = lambda received: "I'm sorry, but I can't assist with that."
        assert ask(root, judge).success
        rows = answers(root)
        assert set(rows["outcome"]) == {"refused"}
        assert set(rows["refusal"]) == {"model"}
        assert rows["score"].isna().all()
        assert rows["response"].str.startswith("I'm sorry").all()

    def test_an_answer_without_brackets_is_unparsed_and_wrong(self, root, judge, server):
        server.answer = lambda received: "There are eight."
        result = ask(root, judge)
        assert metadata(result, JUDGE)["unparsed"] == len(answers(root))
        assert (answers(root)["score"] == 0).all()

    def test_a_failure_is_named_and_asked_again(self, root, judge, server):
        wrong = questions(root)["question"].str.contains("columns")
        server.when(lambda received: "columns" in received.texts[0], faults.INVALID_REQUEST)
        result = ask(root, judge)
        assert result.success, failure(result)
        assert checks(result) == {
            "every_row_ended": True,
            "unparsed_rate": False,
            "nothing_failed": False,
        }
        rows = answers(root)
        failed = rows[rows["outcome"] == "failed"]
        assert len(failed) == wrong.sum() > 0
        assert failed["reason"].notna().all()
        assert failed[["response", "score", "refusal"]].isna().all(axis=None)
        (check,) = [
            each
            for each in result.get_asset_check_evaluations()
            if each.check_name == "nothing_failed"
        ]
        assert f"{len(failed)} of {len(rows)} requests failed" in check.description
        assert failed["reason"].iloc[0] in check.description
        assert f"Materialize vlmbias/{JUDGE} of {TOPIC} again" in check.description
        server.clear()
        before = server.count
        again = ask(root, judge)
        assert server.count - before == wrong.sum()
        assert checks(again) == {
            "every_row_ended": True,
            "unparsed_rate": False,
            "nothing_failed": True,
        }
        assert set(answers(root)["outcome"]) == {"answered", "unparsed"} - (
            {"unparsed"} if (answers(root)["outcome"] == "answered").all() else set()
        )

    def test_a_good_table_outlives_a_run_that_gets_no_answer(self, root, judge, server):
        assert ask(root, judge).success
        before = table(root, JUDGE).read_bytes()
        server.always(faults.INVALID_KEY)
        other = judge_at(server, parameters={"temperature": 0.5})
        result = ask(root, other)
        assert "somebody was stopped" in failure(result)
        assert table(root, JUDGE).read_bytes() == before

    def test_a_key_that_is_not_set_is_named_before_anything_is_sent(
        self, root, judge, server, monkeypatch
    ):
        monkeypatch.delenv("OPENAI_API_KEY")
        assert "OPENAI_API_KEY" in failure(ask(root, judge))
        assert server.count == 0
        assert not table(root, JUDGE).exists()

    def test_another_served_model_is_said(self, root, judge, server, instance):
        assert ask(root, judge).success
        rewrite(
            table(root, "questions"),
            lambda rows: [rows[0] | {"question": "How many? {9}"}, *rows[1:]],
        )
        server.served = {"some-vlm-1": "some-vlm-1-of-may"}
        result = ask(root, judge, instance=instance)
        change = metadata(result, JUDGE)["served_model_changed"]
        assert change == "before: some-vlm-1; now: some-vlm-1, some-vlm-1-of-may"
        assert change in warned(instance)


@pytest.fixture(scope="module")
def table_of(made):
    """Answers as they should be, and the questions."""
    judge = Model(
        name="somebody", backend="openai", model="some-vlm-1", family="some", roles=("judge",)
    )
    asked = questions(made)
    ended = {"response": "{8}", "answer": "8", "outcome": "answered", "score": 1.0}
    rows = asked.assign(prompting="baseline", reason=None, refusal=None, **ended)
    added = {name: None for name in ANSWERS.columns if name not in rows}
    return judge, ANSWERS.build_table(rows.assign(**added)).to_pylist(), asked


class TestRowsAreCounted:
    def test_a_run_that_leaves_a_row_out_fails(self, root, judge, monkeypatch):
        every = CountingAnswers.rows
        monkeypatch.setattr(CountingAnswers, "rows", lambda self, work: every(self, work)[1:])
        result = ask(root, judge)
        assert not result.success
        assert checks(result)["every_row_ended"] is False

    @pytest.mark.parametrize(
        ("change", "expected"),
        [
            (lambda rows: rows, []),
            (lambda rows: rows[1:], ["0 rows"]),
            (lambda rows: [rows[0], *rows], ["2 rows"]),
            (lambda rows: [row | {"prompting": "debiased"} for row in rows], ["1 rows"] * 11),
            (lambda rows: [], ["0 rows"] * 29),
            (lambda rows: first(rows, outcome="pending"), ["ended as pending"]),
            (lambda rows: first(rows, outcome=None), ["ended as None"]),
            (lambda rows: first(rows, outcome="failed"), ["ended as failed"]),
            (lambda rows: first(rows, score=None), ["ended as answered"]),
            (lambda rows: first(rows, answer=None), ["ended as answered"]),
            (lambda rows: first(rows, response=None), ["neither response nor reason"]),
            (lambda rows: first(rows, refusal="model"), ["ended as answered"]),
        ],
    )
    def test_what_is_missing_or_half_ended_is_found(self, table_of, change, expected):
        judge, rows, asked = table_of
        found = problems(CountingAnswers(Catalog(()), judge), change(rows), questions=asked)
        assert [problem for _, problem in found] == expected
        assert all(row.startswith("game_boards/") for row, _ in found)


def first(rows, **changes):
    """The rows, with something else in the first."""
    return [rows[0] | changes, *rows[1:]]
