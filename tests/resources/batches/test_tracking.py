"""Batches that got lost between provider and store are found again; others are cancelled."""

from math import inf

import pytest

from resources.batches import answer_collection as collection
from resources.batches import cancel, forget, submission, tracking
from resources.faults import RequestsStopped
from tests.providers import Course, faults
from tests.providers.http import json_response
from tests.resources.batches.office import Office
from tests.resources.models.conftest import looks


def on(task):
    return lambda received: received.task == task


@pytest.fixture
def lost(office, provider, backend, monkeypatch):
    """An office of each backend; what is lost there may be looked for soon afterwards."""
    monkeypatch.setattr(submission, "LEASE_S", -1.0)
    monkeypatch.setattr(tracking, "LEASE_S", -1.0)
    with Office(office.calls, office.images, provider, backend) as each:
        yield each


def break_off(office, monkeypatch, *, created):
    """Submit, and lose everything at once when the batch is created, or just before."""
    backend = office.providers.get_batch_backend(office.model)
    whole = type(backend).submit

    class Killed(BaseException):
        pass

    async def submit(self, requests, tag):
        if created:
            await whole(self, requests, tag)
        raise Killed

    with monkeypatch.context() as patch:
        patch.setattr(type(backend), "submit", submit)
        with pytest.raises(Killed):
            office.submit(looks(5))


def test_a_batch_that_was_created_and_not_recorded_is_found(lost, monkeypatch):
    break_off(lost, monkeypatch, created=True)
    (batch,) = lost.calls.batches.list_by_state("submitting")
    assert batch.provider_id is None
    assert lost.recover_lost() == {}
    found = lost.calls.batches.find(batch.tag)
    assert (found.state, found.provider_id) == ("running", *lost.provider.batches.all)
    assert lost.submit(looks(5)).batches == []
    assert lost.created() == 1
    assert lost.collect(batch.tag).endings == {"answered": 5}


def test_one_that_was_never_created_frees_its_requests(lost, monkeypatch):
    break_off(lost, monkeypatch, created=False)
    assert (lost.waiting(looks(5)), lost.money()[2]) == (5, 5)
    assert lost.recover_lost() == {}
    assert (lost.waiting(looks(5)), lost.money()[2]) == (0, 0)
    assert len(lost.submit(looks(5)).batches) == 1


def untold(_exchange):
    return json_response({"operations": [{"name": "batches/b", "metadata": None}]})


UNTOLD = faults.Fault("batches without a word of them", {"openai": untold, "gemini": untold})


def busy(_exchange):
    return json_response({"error": {"code": 503, "message": "Busy"}})


BUSY = faults.Fault("an error as if it was a list", {"openai": busy, "gemini": busy})


@pytest.mark.parametrize("fault", [faults.SERVER_ERROR, UNTOLD, BUSY])
def test_as_long_as_nobody_can_tell_it_stays_as_it_is(lost, monkeypatch, fault):
    break_off(lost, monkeypatch, created=True)
    lost.provider.when(on("list batches"), fault, times=1)
    (problem,) = lost.recover_lost().values()
    assert problem.startswith("whether it was created is not known (")
    assert "Its 5 requests wait" in problem
    assert lost.waiting(looks(5)) == 5
    assert lost.recover_lost() == {}
    assert lost.created() == 1
    assert lost.calls.batches.list_by_state("submitting") == []


def test_it_is_not_looked_for_while_it_may_be_alive(lost, monkeypatch):
    monkeypatch.setattr(submission, "LEASE_S", 60.0)
    break_off(lost, monkeypatch, created=False)
    assert lost.recover_lost() == {}
    assert lost.waiting(looks(5)) == 5
    assert lost.provider.received == []


def test_running_batches_are_asked_after_and_no_others(lost):
    lost.provider.batches.course = lambda _: Course(polls=1)
    tag = lost.submit_one(looks(2))
    assert lost.track() == {}
    assert lost.calls.batches.find(tag).state == "running"
    assert lost.calls.batches.find(tag).provider_status
    assert lost.track() == {}
    assert lost.calls.batches.find(tag).state == "ended"
    before = lost.provider.count
    assert lost.track() == {}
    assert lost.provider.count == before


def test_one_that_does_not_say_keeps_no_other_from_being_heard(lost, provider):
    first = lost.submit_one(looks(2))
    second = lost.submit_one(looks(2, start=5))
    provider_id = lost.calls.batches.find(first).provider_id
    provider.when(lambda r: r.path.endswith(provider_id), faults.SERVER_ERROR)
    (problem,) = lost.track().items()
    assert problem[0] == first
    assert "HTTP 500" in problem[1]
    assert lost.calls.batches.find(second).state == "ended"


def resting(exchange):
    name = exchange.received.batch or exchange.received.path.rpartition("/")[2]
    return json_response(
        {"id": name, "status": "resting", "endpoint": "/v1/chat/completions"}
        | {"name": name, "metadata": {"state": "BATCH_STATE_resting"}}
    )


RESTING = faults.Fault("a state that is not known", {"openai": resting, "gemini": resting})


@pytest.mark.parametrize("tracked", [False, True])
def test_a_state_that_is_not_known_is_told_and_frees_nothing(lost, monkeypatch, tracked):
    monkeypatch.setattr(collection, "WAIT_S", 0.0)
    tag = lost.submit_one(looks(3))
    if tracked:
        assert lost.track() == {}
        assert lost.calls.batches.find(tag).state == "ended"
    lost.provider.when(on("get batch"), RESTING)
    assert tracked or "'resting', which is not known here" in lost.track()[tag]
    with pytest.raises(RequestsStopped, match="'resting', which is not known here"):
        lost.collect(tag)
    assert (lost.waiting(looks(3)), lost.submit(looks(3)).batches) == (3, [])
    assert lost.created() == 1


def test_a_key_that_is_gone_is_told(lost, monkeypatch):
    tag = lost.submit_one(looks(2))
    monkeypatch.delenv(lost.model.key_variable)
    with Office(lost.calls, lost.images, lost.provider) as other:
        assert "is not set" in other.track()[tag]


def test_a_cancelled_batch_keeps_what_it_has_answered(lost):
    lost.provider.batches.course = lambda _: Course(polls=inf, answered=0.4)
    tag = lost.submit_one(looks(5))
    batch = cancel(lost.calls, lost.providers, tag)
    assert batch.state == "cancelled"
    batch = lost.collect(tag)
    assert batch.endings.get("answered", 0) == (2 if lost.model.backend == "openai" else 0)
    assert lost.waiting(looks(5)) == 0
    with pytest.raises(RequestsStopped, match="Nothing waits any more in"):
        cancel(lost.calls, lost.providers, tag)


def test_one_of_which_nothing_is_known_yet_is_not_cancelled(lost, monkeypatch):
    break_off(lost, monkeypatch, created=False)
    (batch,) = lost.calls.batches.list_by_state("submitting")
    with pytest.raises(RequestsStopped, match="was created is not known yet"):
        cancel(lost.calls, lost.providers, batch.tag)


def test_one_that_the_provider_has_lost_is_forgotten(lost):
    tag = lost.submit_one(looks(3))
    lost.provider.batches.all.clear()
    assert "HTTP 404" in lost.track()[tag]
    with pytest.raises(RequestsStopped, match="cancel it with `forget`"):
        cancel(lost.calls, lost.providers, tag)
    assert forget(lost.calls, tag).state == "closed"
    assert lost.waiting(looks(3)) == 0
    assert lost.booked() == {"possibly paid": 3}
    assert len(lost.submit(looks(3)).batches) == 1
