"""A request waits in one batch at most, and whoever loses hold of a batch cannot say what it is."""

import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import UTC, datetime
from threading import Barrier

import pytest

from resources.calls.batch_rows import Batch, WaitingRequest
from resources.models.requests import compute_call_key
from tests.resources.calls.calling import keys, request_of

LEASE_S = 30


def batch(tag="one", **more):
    known = {"model": "gpt", "entry": "{}", "asset": "answers_gpt", "partition": "flags"}
    moment = datetime(2026, 11, 21, 4, 5, 6, 789, tzinfo=UTC)
    every = {**known, "run": "r", "config": {"a": 1}, "requests": 0, "submitted_at": moment}
    return Batch(tag, **{**every, **more})


def waits(*numbers):
    return [
        WaitingRequest(compute_call_key(request_of(number)), request_of(number), f"b{number}")
        for number in numbers
    ]


@pytest.fixture
def batches(url, opened):
    return opened(url).batches


def test_what_is_put_down_is_found(batches):
    got = batches.create(batch(), waits(2, 0, 1), "me", LEASE_S)
    assert got == set(keys(3))
    assert batches.find("one") == replace(batch(), requests=3)
    assert batches.list_by_state("submitting") == [batches.find("one")]
    assert batches.list_by_state("running", "closed") == []
    assert batches.find("two") is None
    assert sorted(each.booking for each in batches.iterate_requests("one")) == ["b0", "b1", "b2"]
    assert {each.key: each.request for each in batches.iterate_requests("one")} == {
        compute_call_key(request_of(number)): request_of(number) for number in range(3)
    }
    assert batches.find_waiting_tags([*keys(5), "none"]) == dict.fromkeys(keys(3), "one")


def test_a_request_waits_in_one_batch(batches):
    batches.create(batch(), waits(0, 1, 2), "me", LEASE_S)
    assert batches.create(batch("two"), waits(2, 3), "you", LEASE_S) == {keys(4)[3]}
    assert batches.find("two").requests == 1
    assert batches.create(batch("three"), waits(0, 3), "you", LEASE_S) == set()
    assert batches.find("three") is None
    assert batches.find_waiting_tags(keys(4)) == dict.fromkeys(keys(3), "one") | {keys(4)[3]: "two"}


def test_of_two_that_put_the_same_down_at_once_each_request_goes_to_one(url, opened):
    many, start = 3000, Barrier(2)
    opened(url).batches.find("one")

    def put(tag):
        own = opened(url).batches
        start.wait()
        numbers = range(many) if tag == "one" else reversed(range(many))
        return own.create(batch(tag), waits(*numbers), tag, LEASE_S)

    with ThreadPoolExecutor(2) as threads:
        first, second = threads.map(put, ["one", "two"])
    assert not first & second
    assert first | second == set(keys(many))


def test_to_put_it_down_once_more_changes_nothing(batches):
    """As it happens where the connection is lost before the answer to a commit."""
    for _ in range(2):
        assert batches.create(batch(), waits(0, 1), "me", LEASE_S) == set(keys(2))
        assert batches.find("one").requests == 2
    for _ in range(2):
        assert batches.confirm_created("one", "me", "id-1")
    assert batches.find("one").provider_id == "id-1"


def test_a_batch_is_held_by_one_until_its_lease_is_over(batches):
    batches.create(batch(), waits(0), "me", 0.05)
    time.sleep(0.1)
    assert batches.acquire_leases(["one", "none"], "you", LEASE_S) == {"one"}
    assert batches.acquire_leases(["one"], "me", LEASE_S) == set()
    assert not batches.confirm_created("one", "me", "id-1")
    batches.discard("one", "me")
    assert batches.find("one").state == "submitting"
    assert batches.confirm_created("one", "you", "id-2")
    assert batches.find("one").state == "running"
    assert batches.acquire_leases(["one"], "you", LEASE_S) == set()
    assert not batches.confirm_created("one", "you", "id-3")
    batches.discard("one", "you")
    assert batches.find("one").provider_id == "id-2"


def test_what_was_never_made_is_forgotten(batches):
    batches.create(batch(), waits(0, 1), "me", LEASE_S)
    batches.discard("one", "me")
    assert batches.find("one") is None
    assert batches.find_waiting_tags(keys(2)) == {}
    assert batches.create(batch("two"), waits(0, 1), "you", LEASE_S) == set(keys(2))


def test_it_is_told_collected_looked_at_and_closed(batches):
    batches.create(batch(), waits(0, 1), "me", LEASE_S)
    batches.update_state("one", "ended", "early")
    assert batches.find("one").state == "submitting"
    batches.confirm_created("one", "me", "id-1")
    batches.update_state("one", "expired", "EXPIRED")
    assert (batches.find("one").state, batches.find("one").provider_status) == (
        "expired",
        "EXPIRED",
    )
    assert batches.mark_finished("one", {"answered": 1, "expired": 1})
    assert not batches.mark_finished("one", {"answered": 2})
    batches.update_state("one", "running", "late")
    found = batches.find("one")
    assert (found.state, found.provider_status) == ("collected", "EXPIRED")
    assert found.endings == {"answered": 1, "expired": 1}
    assert found.collected_at.tzinfo is not None
    assert batches.find_waiting_tags(keys(2)) == {}
    batches.record_lacking("one", "1 request")
    batches.mark_handled(["one"])
    assert (batches.find("one").state, batches.find("one").lacking) == ("closed", "1 request")
