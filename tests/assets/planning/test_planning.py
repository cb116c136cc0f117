"""What is planned is what a run sends: nothing more, nothing less, nothing else."""

import pytest

from assets.kit.benchmarks import build_planners as planners
from assets.vlmbias.answers import CountingAnswers
from assets.vlmbias.common import answers_key
from assets.vlmbias.prompting import DOUBLE_CHECK, VARIANTS
from metrics import BASELINE
from resources.models.catalog import Catalog
from tests.assets.asked import ask, counting, judge_at, requests
from tests.assets.plans import plan_context, planned, quoted, stored
from tests.providers import faults
from tests.runs import STAND_INS, TOPIC, table


@pytest.mark.parametrize("prompting", [BASELINE, "double-check", tuple(VARIANTS)], ids=str)
def test_what_is_planned_is_sent_before_half_way_and_after(root, judge, server, prompting):
    names = [prompting] if isinstance(prompting, str) else prompting
    before = planned(root, judge, *names)
    (line,) = quoted(root, judge, *names).lines
    assert (line.requests, line.stored, line.follow_ups) == (
        len(before.certain),
        0,
        before.later,
    )
    server.when(lambda received: "columns" in received.texts[0], faults.INVALID_REQUEST)
    assert ask(root, judge, *names).success
    half = stored(root)
    first_turns = before.certain & half
    assert 0 < len(first_turns) < len(before.certain)
    assert 0 <= len(half - before.certain) <= before.later

    then = planned(root, judge, *names)
    (line,) = quoted(root, judge, *names).lines
    assert (line.to_send, line.follow_ups) == (len(then.missing), then.later)
    server.clear()
    count = server.count
    assert ask(root, judge, *names).success
    sent = stored(root) - half
    assert then.missing <= sent
    assert len(sent - then.missing) == then.later
    assert server.count - count == len(sent) == line.to_send + line.follow_ups

    after = planned(root, judge, *names)
    assert (after.certain, after.missing, after.later) == (stored(root), set(), 0)
    count = server.count
    assert ask(root, judge, *names).success
    assert server.count == count


def test_second_turns_are_certain_once_their_first_is_answered(root, judge, server):
    assert planned(root, judge, "double-check").later == counting(root)
    assert ask(root, judge).success
    plan, before = planned(root, judge, "double-check"), stored(root)
    assert plan.later == 0
    assert len(plan.missing) == counting(root)
    count = server.count
    assert ask(root, judge, "double-check").success
    assert stored(root) - before == plan.missing
    assert all(DOUBLE_CHECK in received.texts for received in server.received[count:])


def test_a_refused_first_turn_has_no_second(root, judge, server):
    server.when(lambda received: "rows" in received.texts[0], faults.FILTERED)
    assert ask(root, judge).success
    plan, before = planned(root, judge, "double-check"), stored(root)
    assert 0 < len(plan.missing) < counting(root)
    assert plan.later == 0
    assert ask(root, judge, "double-check").success
    assert stored(root) - before == plan.missing


def test_a_later_turn_is_bound_to_cost_no_less_than_it_does(root, server):
    judge = judge_at(
        server,
        longest_output=50,
        price={"input_per_million": 1.0, "output_per_million": 1.0},
    )
    server.answer = lambda received: "word " * 45 + "{8}"
    (before,) = quoted(root, judge, "double-check").lines
    assert ask(root, judge, "double-check").success
    with plan_context(root) as sources:
        calls = sources.calls.find_calls(stored(root)).values()
    tokens = sum(call.input_tokens + call.output_tokens for call in calls)
    assert tokens * 1000 <= before.prices["online"].bound.nano


def test_without_the_questions_it_says_what_to_materialize(root, judge):
    table(root, "questions").unlink()
    (line,) = quoted(root, judge).lines
    assert line.missing_asset == "vlmbias/questions"
    assert line.requests == 0


def test_the_default_is_the_baseline_and_reference_judges_ask_nobody(root, judge):
    (line,) = quoted(root, judge).lines
    assert line.requests == requests(root)
    asking = planners(Catalog((*STAND_INS, judge)))
    answering = {key.path[1] for key in asking if key.path[1].startswith("answers_")}
    assert answering == {"answers_somebody"}


def test_planning_is_lazy(root, judge, monkeypatch):
    """No more requests are made at once than are asked for."""
    made, query = [], CountingAnswers.query
    monkeypatch.setattr(
        CountingAnswers, "query", lambda self, work, row: made.append(row) or query(self, work, row)
    )
    monkeypatch.setattr("resources.storage.chunks.CHUNK_SIZE", 10)
    with plan_context(root) as sources:
        (plan,) = planners(Catalog((judge,)))[answers_key("somebody")](sources, TOPIC, {})
        assert made == []
        next(iter(plan.requests))
        assert len(made) == 10


def test_an_unknown_prompting_is_refused(root, judge):
    with pytest.raises(ValueError, match="There is no prompting 'doublecheck'"):
        quoted(root, judge, "doublecheck")
