"""Judges at several steps of thinking: what is sent and paid for, and what the page tells."""

import html
import json
import re
from hashlib import sha256

import pandas as pd
import pytest

from assets.kit.token_counts import OUTPUT_TOKENS, THINKING_TOKENS
from assets.report.thinking import ThinkingAxis
from assets.vlmbias import pages
from metrics import accuracy_table
from tests.assets.asked import judge_at, questions
from tests.assets.vlmbias.site_data import Report
from tests.providers.http import json_response
from tests.runs import STAND_INS, TOPIC, failure, materialize, metadata, table

EFFORTS = {"reasoning_effort": ["low", "medium", "high"]}
PLANTED = {"low": (300, 0.1), "medium": (1200, 0.6), "high": (6000, 0.1)}
"""Tokens and the share of scenes counted right, by effort: more thinking helps, then harms."""


def lot(*names):
    """A number from 0 to 1 that these names decide."""
    return int(sha256("/".join(names).encode()).hexdigest()[:8], 16) / 0x1_0000_0000


def thinker(root):
    """What a judge answers that thinks as much as it is told to, and bills it."""
    facts = {(row.sha256, row.question): row for row in questions(root).itertuples()}

    def answer(received):
        effort = received.parameters["reasoning_effort"]
        tokens, share = PLANTED[effort]
        row = facts[sha256(received.images[0]).hexdigest(), received.texts[-1]]
        is_right = row.variant == "original" or lot(effort, row.base_id) < share
        reply = f"{{{row.ground_truth if is_right else row.expected_bias}}}"
        usage = {
            "prompt_tokens": 400,
            "completion_tokens": tokens + len(row.base_id),
            "completion_tokens_details": {"reasoning_tokens": tokens},
        }
        return json_response(
            {"choices": [{"message": {"content": reply}}], "model": "some-vlm-1", "usage": usage}
        )

    return answer


@pytest.fixture
def thinking_judge(server):
    """A judge with three steps, of which its entry is the middle one."""
    return judge_at(server, parameters={"reasoning_effort": "medium"}, thinking=EFFORTS)


def ask(root, judge):
    """Materialize the answers of all steps."""
    steps = [model for _, model in judge.thinking_steps]
    result = materialize(
        root,
        *(f"answers_{model.name}" for model in steps),
        topic=TOPIC,
        models=[*STAND_INS, *steps],
    )
    assert result.success, failure(result)
    return result


def test_each_step_is_asked_over_http_and_its_tokens_are_in_the_table(root, thinking_judge, server):
    server.answer = thinker(root)
    # The entry was asked before it had an axis.
    plain = thinking_judge.model_copy(update={"thinking": None})
    materialize(root, "answers_somebody", topic=TOPIC, models=[*STAND_INS, plain])
    before = server.count
    result = ask(root, thinking_judge)
    sent = [json.loads(received.body)["reasoning_effort"] for received in server.received]
    assert sent.count("medium") == before
    assert sent.count("low") == sent.count("high") == before
    assert metadata(result, "answers_somebody")["requests_sent"] == 0
    for name, (tokens, _) in zip(("_low", "", "_high"), PLANTED.values(), strict=True):
        rows = pd.read_parquet(table(root, f"answers_somebody{name}"))
        assert set(rows[THINKING_TOKENS]) == {tokens}
        assert (rows[OUTPUT_TOKENS] == tokens + rows["base_id"].str.len()).all()
    stand_in = pd.read_parquet(table(root, "answers_prior"))
    assert stand_in[[OUTPUT_TOKENS, THINKING_TOKENS]].isna().all(axis=None)


PLAN = {"vlm_low": (300, 0), "vlm": (1200, 1), "vlm_high": (6000, 0.2), "other": (500, 1)}
AXES = [
    ThinkingAxis("vlm", "reasoning_effort", {"low": "vlm_low", "": "vlm", "high": "vlm_high"}),
    # Of this one nobody has asked a second step.
    ThinkingAxis("other", "thinking", {"default": "other", "true": "other_true"}),
]


def answer_by_plan(model, prompting, question):
    """Answers with planted tokens and shares of scenes counted right."""
    tokens, share = PLAN[model]
    name = "ground_truth" if lot(model, question["base_id"]) < share else "expected_bias"
    return {"answer": question[name], OUTPUT_TOKENS: tokens + 10 * int(question["size"] == 384)}


@pytest.fixture(scope="module")
def tables():
    found = Report(6, ["flags"], models=[*PLAN], answering=answer_by_plan).tables()
    del found["png_of"]
    return found


def read_section(tables, axes):
    """The words of the section about thinking; empty where there is none."""
    pages_by_path = dict(pages.build(**tables, axes=axes).pages)
    _, mark, section = pages_by_path["index.html"].partition('<h2 id="thinking">')
    text = mark and section.partition("<h2 id=")[0]
    return " ".join(html.unescape(re.sub(r"<[^>]+>", " ", text)).split())


def test_the_page_tells_of_a_rise_and_a_fall_by_topic(tables):
    answers = tables["answers"]
    is_counted = answers["question_id"].isin(["Q1", "Q2"]) & answers["image_set"].eq("benchmark")
    share = 100 * answers[is_counted & answers["model"].eq("vlm_high")]["score"].mean()
    text = read_section(tables, AXES)
    finding = f"0 % at 303 tokens, 100 % at 1,203, {share:.0f} % at 6,003: thinking helps up to a"
    assert f"vlm counts right in {finding} point, and more does worse." in text
    assert "Flags: Accuracy on Q1 and Q2" in text
    assert f"vlm, high: {share:.1f} % [" in text
    assert "other" not in text


def test_the_front_page_has_the_gain_from_fewest_to_most_tokens(tables):
    results = pages.build(**tables, axes=AXES).judged
    (gain,) = (each for each in results.standings if each.measure == "Gain by thinking")
    answers = tables["answers"]
    is_counted = answers["question_id"].isin(["Q1", "Q2"]) & answers["image_set"].eq("benchmark")
    right = answers[is_counted].pivot_table(
        index=["base_id", "image_id", "question_id"], columns="model", values="score"
    )
    gains = right["vlm_high"] - right["vlm_low"]
    assert gain.value == pytest.approx(gains.mean())
    assert (gain.model, gain.firmness, gain.items) == ("vlm", "result", len(gains))
    assert gain.unit == f"questions about {gains.index.unique('base_id').size} scenes"
    assert gain.low < gain.value < gain.high
    assert gain.note == "low to high: thinking helps up to a point, and more does worse"
    assert gain.link == "index.html#thinking"
    assert {each.model for each in results.standings if each.measure != gain.measure} == {*PLAN}


def test_steps_that_were_asked_about_one_topic_are_a_trial_of_it():
    tables = Report(3, ["flags", "chess_pieces"], models=[*PLAN], answering=answer_by_plan).tables()
    del tables["png_of"]
    answers = tables["answers"]
    is_asked = answers["model"].eq("other") | answers["domain"].eq("flags")
    tables["answers"] = answers[is_asked]
    tables["accuracy"] = accuracy_table(tables["answers"])
    text = read_section(tables, AXES)
    assert "vlm, flags alone" in text
    assert "100.0 % [" in text
    assert "thinking helps" not in text
    standings = pages.build(**tables, axes=AXES).judged.standings
    assert "Gain by thinking" not in {each.measure for each in standings}


def test_without_two_steps_the_page_has_no_such_section(tables):
    assert read_section(tables, AXES[1:]) == ""
