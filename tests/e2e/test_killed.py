"""What the story says of runs that were killed, and of a judge that is gone on with."""

import re
from collections import Counter

import pandas as pd
import pytest
from dagster import DagsterEventType, DagsterRunStatus, EventRecordsFilter

from sensors.interrupted_runs import INTERVAL_S
from tests.e2e.story import BEFORE_A_KILL, CONCURRENCY, LIMIT, TOPIC

pytestmark = pytest.mark.slow


def test_what_was_killed_ends_at_the_first_look_and_what_was_queued_goes_on(story):
    """The first look is when Dagster has started, and documents promise an end within a minute."""
    assert story.status["killed"] == "FAILURE"
    for name, run in (("asked", story.asked), ("by hand", story.by_hand)):
        assert story.status[name] == "FAILURE"
        assert "its process is gone" in story.said[name]
        assert f"The process of the run {run} " in story.looked
    assert INTERVAL_S < 60
    assert story.status["queued"] == "SUCCESS"


def test_a_judge_that_was_cut_off_is_gone_on_with(story):
    assert story.status["last"] == "SUCCESS"
    sent = Counter(story.judged)
    asked = len(story.answers.drop_duplicates(["shown_sha256", "prompt"]))
    assert len(sent) == asked
    assert set(story.answers["outcome"]) == {"answered", "unparsed"}, "8 answers no Yes or No"
    assert sum(sent.values()) - len(sent) <= 3 * CONCURRENCY, "what was in flight at a kill"
    assert len(story.judged) - story.after_the_plug == asked - 2 * BEFORE_A_KILL
    told = [int(done) for done in re.findall(r"gpt: (\d+) of", story.said["last"])]
    assert len(told) >= 2, "it tells how far it is while it asks, and at the end"
    assert told == sorted(told)
    assert told[0] < told[-1] == asked


def test_judge_everything_goes_on_within_limit_and_budget_as_runs_and_makes_the_report(story):
    assert story.status["judge_everything"] == "SUCCESS", story.said["judge_everything"]
    assert "The quote:" in story.said["judge_everything"]
    assert {run.status for run in story.parts} == {DagsterRunStatus.SUCCESS}
    assert [{key.path[1] for key in run.asset_selection} for run in story.parts] == [
        {"answers_gpt"},
        {"accuracy", "report"},
        {"front_page"},
    ]
    assert story.parts[0].tags["dagster/partition"] == TOPIC
    assert "per_run_usd" in story.parts[0].run_config["resources"]["budget"]["config"]
    questions = pd.read_parquet(story.home / "vlmbias" / "questions" / f"{TOPIC}.parquet")
    assert len(story.answers) == LIMIT < len(questions)


def test_dagster_keeps_no_events_of_how_fresh_assets_are(story):
    wanted = EventRecordsFilter(DagsterEventType.FRESHNESS_STATE_CHANGE)
    with story.instance() as instance:
        assert instance.event_log_storage.get_event_records(wanted) == []


def test_runs_that_start_while_models_yaml_is_edited_are_done(story):
    assert story.status["with a mistake"] == "SUCCESS"
    assert "uses the last readable content of" in story.said["with a mistake"]
    assert story.status["emptied"] == "FAILURE"
    assert story.status["whole again"] == "SUCCESS"
    assert "ended before it began: it is launched again" in story.said["whole again"]
