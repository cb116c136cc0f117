"""Ending a run from outside, as Dagster does: an exception out of a signal's handler."""

import os
import signal
import sqlite3
import time
from contextlib import closing
from threading import Event, Thread
from unittest.mock import Mock

import pytest

from resources.models import backend_pool
from resources.models.backend_pool import EventLoopThread
from tests.resources.models.conftest import LOG, closed, looks, model

CONCURRENCY = 16


class Terminated(BaseException):
    """What the handler raises, in the place of Dagster's own."""


@pytest.fixture
def terminate():
    """Sends a signal whose handler raises `Terminated` in the main thread."""

    def handler(number, frame):
        raise Terminated

    before = signal.signal(signal.SIGUSR1, handler)
    yield lambda: os.kill(os.getpid(), signal.SIGUSR1)
    signal.signal(signal.SIGUSR1, before)


def rows(root, table):
    with closing(sqlite3.connect(root / "calls.sqlite")) as database:
        return database.execute(f"SELECT count(*) FROM {table}").fetchone()[0]


def test_what_is_in_flight_is_kept_and_nothing_new_is_sent(server, client, tmp_path, terminate):
    entry, requests = model(server, concurrency=CONCURRENCY), looks(60)
    server.held = lambda received: not is_noticed.is_set()
    log, is_noticed = Mock(), Event()
    log.warning = lambda *_: is_noticed.set()
    for number in range(1, 4):
        is_noticed.clear()
        sending = Thread(target=interrupt_at, args=(server, number * CONCURRENCY, terminate))
        sending.start()
        # With the loop in the main thread, this is an exception group most of the time.
        with pytest.raises(Terminated):
            client.ask(entry, requests, log)
        sending.join()
        assert server.count == number * CONCURRENCY == rows(tmp_path, "calls")
    asked = client.ask(entry, requests, LOG)
    assert len(asked.outcomes) == server.count == 60
    closed(client)
    assert (rows(tmp_path, "calls"), rows(tmp_path, "claims")) == (60, 0)


def interrupt_at(server, count, terminate):
    """Interrupt twice, as Ctrl-C does, once so many requests have come."""
    while server.count < count:
        time.sleep(0.005)
    terminate()
    terminate()


def test_a_second_interrupt_gives_up_what_is_in_flight(server, client, terminate, monkeypatch):
    monkeypatch.setattr(backend_pool, "SAME_INTERRUPT_S", 0.0)
    server.latency_s = 60
    log = Mock()
    log.warning = lambda *_: terminate()
    server.answer = lambda received: terminate() or "{5}"
    with pytest.raises(Terminated):
        client.ask(model(server), looks(1), log)
    client.close()


def test_a_backend_that_does_not_close_leaves_no_loop_behind(client):
    class Stubborn:
        async def aclose(self):
            raise OSError("no")

    client._pool._loop = loop = EventLoopThread()
    client._pool._backends["one"] = Stubborn()
    with pytest.raises(OSError, match="no"):
        client.close()
    assert loop._loop.is_closed()
