"""A judge that is asked a part of the questions first: cheap, counted later, ranked nowhere."""

import re
from collections import Counter

import pandas as pd
import pytest

from assets.vlmbias.answers import ANSWERS, CountingAnswers
from assets.vlmbias.prompting import VARIANTS, select_questions
from resources.models.catalog import Catalog
from tests.assets.asked import JUDGE, answers, ask, questions, requests
from tests.assets.plans import planned, stored
from tests.assets.works import problems
from tests.runs import STAND_INS, TOPIC, checks, failure, materialize, metadata

LIMIT = 10
PROMPTING = ["baseline", "double-check"]
CONFIG = {JUDGE: {"prompting": PROMPTING, "limit": LIMIT}}


def evaluations(result):
    return {check.check_name: check for check in result.get_asset_check_evaluations()}


def test_a_part_is_planned_sent_marked_and_counts_later(root, judge, server):
    plan = planned(root, judge, *PROMPTING, limit=LIMIT)
    result = ask(root, judge, config=CONFIG)
    assert result.success, failure(result)
    assert plan.certain <= stored(root)
    assert len(stored(root)) == server.count <= len(plan.certain) + plan.later
    assert plan.later == LIMIT
    rows, whole = answers(root), len(questions(root))
    assert dict(Counter(rows["prompting"])) == dict.fromkeys(PROMPTING, LIMIT)
    of = whole + questions(root)["question_id"].isin(["Q1", "Q2"]).sum()
    assert metadata(result, JUDGE)["partial"] == f"{2 * LIMIT} of {of} questions"
    complete = evaluations(result)["every_row_ended"]
    assert not complete.passed
    assert complete.severity.value == "WARN"
    assert f"{2 * LIMIT} of {of} questions" in complete.description

    over = materialize(root, models=[*STAND_INS, judge])
    assert over.success, failure(over)
    scores = pd.read_parquet(root / "vlmbias" / "accuracy.parquet")
    assert set(scores.loc[scores["model"] == "somebody", "image_set"]) == {"partial"}
    assert set(scores.loc[scores["model"] == "prior", "image_set"]) >= {"benchmark", "originals"}
    page = (root / "report" / "vlmbias" / "index.html").read_text()
    top, part = page.split('id="partial"')
    top, leaderboard = top.split('id="leaderboard"')
    assert f"{TOPIC}, baseline: {LIMIT} of {whole} questions" in part
    assert "somebody" in part
    counting = rows[rows["prompting"].eq("baseline") & rows["question_id"].isin(["Q1", "Q2"])]
    heading = re.search(r'<h1 class="finding">(.*?)</h1>', top).group(1)
    assert re.match(r"A trial \(asked in part.*\): somebody gives the familiar answer in", heading)
    assert f", {len(counting)} answers): somebody" in heading
    assert "that it was asked about" in heading
    assert "somebody · trial" in top, "the chart has it"
    assert "somebody" not in leaderboard
    assert "asked in part" not in leaderboard, "a judge asked nowhere in full has no line"

    count = server.count
    result = ask(root, judge)
    assert result.success, failure(result)
    assert server.count - count == requests(root) - len(plan.certain)
    assert metadata(result, JUDGE)["partial"] == f"{whole + LIMIT} of {of} questions"
    counts = Counter(answers(root)["prompting"])
    assert counts == {"baseline": whole, "double-check": LIMIT}, "the part of the other stays"


def test_without_a_limit_nothing_is_partial(root, judge):
    result = ask(root, judge)
    unmet = {name for name, passed in checks(result).items() if not passed}
    assert unmet == {"unparsed_rate"}, "it says a number where Yes or No is asked for"
    assert "partial" not in metadata(result, JUDGE)


@pytest.mark.parametrize("prompting", VARIANTS)
def test_questions_are_even_over_subtopics_and_shared_with_the_baseline(root, judge, prompting):
    asked = questions(root)
    some = select_questions(judge, asked, prompting, LIMIT)
    assert len(some) == LIMIT
    if prompting == "baseline":
        counts = some["subtopic"].value_counts()
        assert counts.max() - counts.min() <= 1
    plain = select_questions(judge, asked, "baseline", LIMIT)
    names = ["image_id", "question_id"]
    counting = plain[plain["question_id"].isin(["Q1", "Q2"])]
    if prompting == "isolated":
        counting = counting[counting["image_set"] == "benchmark"]
    assert set(counting[names].itertuples(index=False)) <= set(some[names].itertuples(index=False))


def test_a_table_that_lost_rows_is_no_part(root):
    prior, asked = STAND_INS[0], questions(root)
    rows = pd.read_parquet(root / "vlmbias" / "answers_prior" / f"{TOPIC}.parquet")
    part = select_questions(prior, asked, "baseline", LIMIT)["image_id"]
    step, every = CountingAnswers(Catalog(()), prior), ANSWERS.build_table(rows).to_pylist()
    assert problems(step, every, questions=asked) == []
    lost = problems(step, every[1:], questions=asked)
    assert [problem for _, problem in lost] == ["0 rows"]
    assert len(part) == LIMIT
