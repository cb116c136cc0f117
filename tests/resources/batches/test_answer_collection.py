"""What batches answer is stored as if it had been asked for one by one, and nothing else is."""

from dataclasses import replace
from math import inf

import pytest

from resources.batches import answer_collection as collection
from resources.faults import RequestsStopped
from resources.models.outcomes import AnsweredOutcome, RefusedOutcome
from resources.models.pricing import compute_cost
from resources.models.replies import Usage
from resources.models.requests import (
    EditRequest,
    PaintRequest,
    Turn,
    WriteRequest,
    compute_call_key,
)
from tests.providers import Course, faults
from tests.providers.http import json_response
from tests.resources.batches.office import ACCOUNT, CANARY, Office
from tests.resources.models.conftest import looks, png


@pytest.fixture(autouse=True)
def _few_at_once(monkeypatch):
    monkeypatch.setattr(collection, "KEPT_AT_ONCE", 4)


@pytest.fixture
def of_each(office, provider, backend):
    """An office of each backend that takes batches."""
    with Office(office.calls, office.images, provider, backend) as each:
        yield each


def test_answers_are_stored_with_their_cost_and_nothing_waits_any_more(each_office):
    office = each_office
    requests = looks(10)
    tag = office.submit_one(requests)
    batch = office.collect(tag)
    assert (batch.state, batch.endings) == ("collected", {"answered": 10})
    calls = office.stored(requests)
    assert {call.mode for call in calls} == {"batch"}
    assert [compute_call_key(call.request) for call in calls] == [call.key for call in calls]
    assert all(call.seconds > 0 for call in calls)
    cost = sum(
        compute_cost(office.model, request, Usage(call.input_tokens, call.output_tokens), "batch")
        for request, call in zip(requests, calls, strict=True)
    )
    assert office.money() == (cost, 0, 10)
    assert cost > 0
    assert office.waiting(requests) == 0
    assert office.collect(tag) == batch


def test_an_answer_is_the_one_that_would_have_come_online(of_each):
    digest = of_each.images.put(png())
    schema = '{"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}'
    requests = [*looks(2, digest), WriteRequest((Turn("user", "Write."),), schema=schema)]
    requests += [
        PaintRequest("A hen", seed=3),
        PaintRequest("A hen", sample=1),
        EditRequest("Add a leg", (digest,)),
    ]
    # A picture takes 1,000 tokens there.
    of = (of_each.calls, of_each.images, of_each.provider, of_each.model.backend)
    with Office(*of, longest_output=1000) as office:
        asked = office.ask(requests)
        alone = office.stored(requests)
        assert office.calls.forget(office.keys(requests)) == len(requests)
        for batch in office.submit(requests).batches:
            office.collect(batch.tag)
    for one, other in zip(alone, of_each.stored(requests), strict=True):
        same = {name: getattr(one, name) for name in ("mode", "seconds", "finished_at")}
        assert replace(other, **same) == one
    sent = of_each.asked()
    assert of_each.ask(requests).outcomes == asked.outcomes
    assert of_each.asked() == sent


def test_what_has_expired_is_free_again_and_costs_nothing(of_each):
    of_each.provider.batches.course = lambda _: Course(ends="expired", answered=0.5)
    requests = looks(10)
    batch = of_each.collect(of_each.submit_one(requests))
    answered = {"openai": 5, "gemini": 0}[of_each.model.backend]
    assert sum(batch.endings.values()) == 10
    assert batch.endings.get("answered", 0) == answered
    assert any("expired" in reason for reason in batch.endings)
    assert sum(call is not None for call in of_each.stored(requests)) == answered
    assert of_each.waiting(requests) == 0
    assert of_each.money()[1:] == (0, answered)
    of_each.provider.batches.course = lambda _: Course()
    again = of_each.submit(requests)
    assert (again.answered, again.batches[0].requests) == (answered, 10 - answered)


def test_a_batch_that_failed_says_why_and_frees_all(of_each):
    of_each.provider.batches.course = lambda _: Course(ends="failed")
    requests = looks(3)
    batch = of_each.collect(of_each.submit_one(requests))
    (reason,) = batch.endings
    assert reason.startswith("failed: ")
    assert batch.endings[reason] == 3
    assert of_each.waiting(requests) == 0
    assert of_each.money() == (0, 0, 0)


def test_some_of_a_batch_may_fail_or_be_refused(of_each):
    def answer(received):
        number = int("".join(filter(str.isdigit, received.texts[-1])))
        if number < 3:
            return faults.INVALID_REQUEST
        return faults.REFUSED if number == 3 and of_each.model.backend == "openai" else "{4}"

    of_each.provider.answer = answer
    requests = looks(10)
    batch = of_each.collect(of_each.submit_one(requests))
    (failed,) = (reason for reason in batch.endings if reason.startswith("failed: "))
    assert batch.endings[failed] == 3
    assert sum(batch.endings.values()) == 10
    assert [call is None for call in of_each.stored(requests)] == [True] * 3 + [False] * 7
    if of_each.model.backend == "openai":
        assert batch.endings["refused"] == 1
        sent = of_each.asked()
        (refused,) = of_each.ask(requests[3:4]).outcomes
        assert isinstance(refused, RefusedOutcome)
        assert of_each.asked() == sent
    assert of_each.waiting(requests) == 0


def test_of_many_reasons_only_some_are_told_apart(office):
    def lines(data):
        return [line.replace(b"in_word", b"%d" % n) for n, line in enumerate(data)]

    office.provider.answer = lambda received: json_response(
        {"error": {"message": "Invalid in_word.", "type": "invalid_request_error"}}, 400
    )
    office.provider.batches.course = lambda _: Course(lines=lines)
    batch = office.collect(office.submit_one(looks(8)))
    assert len(batch.endings) == collection.REASONS + 1
    assert batch.endings["failed otherwise"] == 3
    assert batch.endings["failed: HTTP 400: Invalid 0."] == 1


def test_results_come_in_any_order_twice_or_not_at_all(of_each):
    of_each.provider.batches.course = lambda _: Course(
        lines=lambda lines: [*lines[:1:-1], lines[5], lines[5]]
    )
    requests = of_each.lined_up(looks(8))
    batch = of_each.collect(of_each.submit_one(requests))
    assert batch.endings == {"answered": 6, "no answer": 2}
    assert [call is None for call in of_each.stored(requests)] == [True] * 2 + [False] * 6
    of_each.ask(requests[2:])
    sent = of_each.asked()
    asked = of_each.ask(requests)
    assert (asked.already_stored, asked.sent) == (6, 2)
    assert of_each.asked() == sent + 2


def test_an_answer_under_another_name_is_not_stored(of_each):
    requests, others = of_each.lined_up(looks(4)), looks(2, start=50)
    stranger, other = (key.encode() for key in of_each.keys(others))
    waits_elsewhere = of_each.submit_one(others[1:])

    def lines(data):
        keys = of_each.keys(requests)
        return [
            data[0].replace(keys[0].encode(), stranger),
            data[1].replace(keys[1].encode(), other),
            *data[2:],
        ]

    of_each.provider.batches.course = lambda _: Course(lines=lines)
    batch = of_each.collect(of_each.submit_one(requests))
    assert batch.endings == {"answered": 2, "no answer": 2}
    assert of_each.stored(others) == [None, None]
    assert of_each.waiting(others) == 1
    of_each.provider.batches.course = lambda _: Course()
    assert of_each.calls.batches.find(waits_elsewhere).state == "ended"


def test_what_online_calls_have_answered_meanwhile_stays(each_office):
    office = each_office
    requests = looks(6)
    tag = office.submit_one(requests)
    others = CallsOf(office, requests[:2])
    office.collect(tag)
    assert office.stored(requests)[:2] == others.calls
    assert {call.mode for call in office.stored(requests)[2:]} == {"batch"}
    assert office.waiting(requests) == 0


class CallsOf:
    """Calls that another process has stored, as if it had begun before the batch."""

    def __init__(self, office, requests):
        with Office(office.calls, office.images, office.provider, name="other", model="t-2") as own:
            own.ask(requests)
            stored = own.stored(requests)
        keys = office.keys(requests)
        self.calls = [
            replace(call, key=key, model="test-1") for call, key in zip(stored, keys, strict=True)
        ]
        office.calls.keep(self.calls)


def test_a_picture_that_is_none_is_malformed_and_was_paid(of_each):
    of_each.provider.answer = lambda received: (
        b"\x89PNG no picture" if "hen" in received.texts[-1] else png()
    )
    requests = [PaintRequest("A hen"), PaintRequest("A fox")]
    batch = of_each.collect(of_each.submit_one(requests))
    assert batch.endings == {"answered": 1, "malformed": 1}
    assert of_each.stored(requests)[0].answer["outcome"] == "malformed"
    assert of_each.waiting(requests) == 0
    (digest,) = of_each.stored(requests)[1].answer["images"]
    assert of_each.images.holds(digest)
    paid, possibly, number = of_each.money()
    assert paid > 2 * 1000 * 10_000 / 2
    assert (possibly, number) == (0, 2)


def test_lines_that_cannot_be_read_are_tried_again_and_then_possibly_paid(of_each):
    of_each.provider.batches.course = lambda _: Course(lines=lambda lines: [b"<html>", *lines[1:]])
    requests = of_each.lined_up(looks(4))
    batch = of_each.collect(of_each.submit_one(requests))
    assert batch.endings == {"answered": 3, "unreadable": 1}
    assert of_each.stored(requests)[0] is None
    assert of_each.booked() == {"paid": 3, "possibly paid": 1}


@pytest.mark.parametrize("fault", [faults.HALF_BODY, faults.RATE_LIMITED, faults.DROPPED])
def test_a_download_that_breaks_off_is_tried_again(of_each, fault):
    tag = of_each.submit_one(looks(200))
    of_each.provider.when(lambda r: r.task == "download", fault, times=collection.ATTEMPTS - 1)
    assert of_each.collect(tag).endings == {"answered": 200}


def test_results_that_cannot_be_had_stay_where_they_are(of_each):
    requests = looks(3)
    tag = of_each.submit_one(requests)
    of_each.provider.when(lambda received: received.task == "download", faults.SERVER_ERROR)
    with pytest.raises(RequestsStopped, match=r"could not be collected: .*collect it again"):
        of_each.collect(tag)
    assert of_each.waiting(requests) == 3
    assert of_each.calls.batches.find(tag).state == "ended"
    of_each.provider.clear()
    assert of_each.collect(tag).endings == {"answered": 3}


def test_a_batch_that_runs_is_not_collected(of_each):
    of_each.provider.batches.course = lambda _: Course(polls=inf)
    tag = of_each.submit_one(looks(3))
    with pytest.raises(
        RequestsStopped, match=r"is not over: its provider says that it is .*Collect it"
    ):
        of_each.collect(tag)
    assert of_each.waiting(looks(3)) == 3


def test_there_is_no_batch_of_that_tag(office):
    tag = office.submit_one(looks(1))
    with pytest.raises(
        RequestsStopped, match=f"There is no batch with the tag none. In progress: {tag}"
    ):
        office.collect("none")


def test_the_key_is_in_nothing_that_is_stored(of_each):
    of_each.provider.answer = lambda received: f"Your key is {CANARY}, is it not?"
    of_each.provider.served = {of_each.model.model: f"gpt of {CANARY}"}
    requests = looks(2)
    of_each.collect(of_each.submit_one(requests))
    (first, second) = of_each.ask(requests).outcomes
    assert isinstance(first, AnsweredOutcome)
    assert first.text == second.text == "Your key is [key], is it not?"
    assert first.served_model == "gpt of [key]"


def test_money_is_booked_to_the_partition(office):
    tag = office.submit_one(looks(2))
    office.collect(tag)
    (spent,) = office.calls.list_spending()
    assert (spent.asset, spent.partition) == (ACCOUNT.asset, ACCOUNT.partition)
    assert (spent.model, spent.mode) == ("judge", "batch")
