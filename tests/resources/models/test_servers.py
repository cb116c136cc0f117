"""Several servers of one model: they share the requests, and one that dies costs no answer."""

import logging
import threading
from collections import Counter
from itertools import count

import pytest

from resources.faults import RequestsStopped
from resources.models.backends import servers
from resources.models.outcomes import AnsweredOutcome
from resources.models.requests import compute_call_keys
from tests.providers import Provider, faults
from tests.resources.models.conftest import LOG, looks, model
from tests.waiting import wait_for

IN_FLIGHT = 16
PATIENCE_S = 120


@pytest.fixture
def second():
    with Provider() as second:
        yield second


@pytest.fixture(autouse=True)
def quick(monkeypatch):
    monkeypatch.setattr(servers, "FIRST_CHECK_S", 0.02)


def entry(*providers, **more):
    urls = [provider.openai_url for provider in providers]
    fields = {"backend": "openai_compatible", "base_url": urls, "concurrency": IN_FLIGHT}
    return model(providers[0], **fields | more)


def questions(*providers):
    """The digests of all questions that came, and how often each did."""
    return Counter(
        one.digest for provider in providers for one in provider.received if one.task == "text"
    )


def asked(provider):
    return sum(one.task == "text" for one in provider.received)


@pytest.mark.slow
def test_one_of_two_dies_in_the_middle_and_comes_back(client):
    """All 200 are answered; only what was on its way is sent twice; who is back gets work again."""
    before, dead, back, results = [], threading.Event(), threading.Event(), []
    with Provider(latency_s=0.01) as alive:
        dying = Provider(latency_s=0.01).__enter__()
        numbers, default = count(), alive.answer

        def note_at_80(received):
            if next(numbers) == 80:
                before.extend((asked(alive), asked(dying)))
                dead.set()
            return default(received)

        alive.answer = dying.answer = note_at_80
        # Equally fast, until one is dead; then both wait for this thread, however busy the machine.
        alive.held = lambda _: (
            asked(alive) >= 100 and not back.is_set()
            if dead.is_set()
            else asked(alive) > asked(dying) + 1
        )
        dying.held = lambda _: dead.is_set() or asked(dying) > asked(alive) + 1
        terms = entry(alive, dying), looks(200), LOG
        asking = threading.Thread(target=lambda: results.append(client.ask(*terms)))
        asking.start()
        assert dead.wait(PATIENCE_S)
        dying.__exit__(None, None, None)
        wait_for(lambda: asked(alive) >= 100)
        with Provider(port=dying._port, latency_s=0.01) as revived:
            wait_for(lambda: revived.received)
            back.set()
            asking.join(PATIENCE_S)
            sent = questions(alive, dying, revived)
            assert asked(revived) > 0
    (result,) = results
    assert all(isinstance(outcome, AnsweredOutcome) for outcome in result.outcomes)
    assert len(sent) == 200
    assert set(sent.values()) <= {1, 2}
    assert sum(times == 2 for times in sent.values()) <= IN_FLIGHT
    one, other = before
    assert abs(one - other) <= 0.1 * (one + other)


def test_all_dead_is_the_error_of_one_dead_server(client):
    with Provider() as first, Provider() as other:
        gone = entry(first, other, concurrency=4)
    with pytest.raises(RequestsStopped, match="attempts failed before any answer") as stopped:
        client.ask(gone, looks(100), LOG)
    assert f"Check that {gone.base_url[0]} or {gone.base_url[1]} is right" in str(stopped.value)


def test_one_that_always_fails_is_left_out(server, second, client, caplog):
    caplog.set_level(logging.INFO, logger="asking")
    second.always(faults.SERVER_ERROR)
    result = client.ask(entry(server, second), looks(200), LOG)
    assert all(isinstance(outcome, AnsweredOutcome) for outcome in result.outcomes)
    assert f"{second.openai_url} is left out until it answers again: HTTP 500" in caplog.text


def test_one_that_is_overloaded_slows_down_alone(server, second, client):
    second.when(lambda received: received.task == "text", faults.RETRY_AFTER.for_seconds(600))
    result = client.ask(entry(server, second), looks(200), LOG)
    assert all(isinstance(outcome, AnsweredOutcome) for outcome in result.outcomes)
    assert asked(server) == 200
    assert asked(second) <= IN_FLIGHT


def test_answers_of_one_server_are_those_of_several(server, second, client):
    alone = entry(server)
    assert alone.base_url == server.openai_url
    assert compute_call_keys(alone, looks(2)) == compute_call_keys(entry(server, second), looks(2))
    client.ask(alone, looks(20), LOG)
    assert client.ask(entry(server, second), looks(20), LOG).sent == 0
