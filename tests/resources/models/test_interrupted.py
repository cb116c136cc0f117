"""Ending a run from outside, as Dagster does: an exception out of a signal's handler."""

import os
import signal
import sqlite3
from contextlib import closing

import pytest

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


def test_it_comes_up_as_itself_and_costs_what_was_on_its_way(server, client, tmp_path, terminate):
    entry, goal = model(server, concurrency=CONCURRENCY), 40

    def answer(received):
        if server.count == goal:
            terminate()
        return "{5}"

    # However late that is heard, there is enough left to ask.
    server.held = lambda received: server.count > goal
    server.answer = answer
    for _ in range(5):
        # With the loop in the main thread, this is an exception group most of the time.
        with pytest.raises(Terminated):
            client.ask(entry, looks(400), LOG)
        goal = server.count + 40
    goal = float("inf")
    asked = client.ask(entry, looks(400), LOG)
    assert len(asked.outcomes) == 400
    assert server.count <= 400 + 5 * CONCURRENCY
    closed(client)
    assert (rows(tmp_path, "calls"), rows(tmp_path, "claims")) == (400, 0)


def test_a_client_that_was_interrupted_closes(server, client, terminate):
    server.latency_s = 60
    server.answer = lambda received: terminate() or "{5}"
    with pytest.raises(Terminated):
        client.ask(model(server), looks(1), LOG)
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
