"""What was paid for is asked for once by all processes, also when one is killed or held up."""

import json
import os
import signal
import sqlite3
import time
from collections import Counter
from contextlib import closing, contextmanager

import pytest

from tests.resources.calls.asker import AT_ONCE
from tests.resources.calls.calling import end_lease, keys
from tests.waiting import wait_for

MANY = 80


@pytest.fixture
def log(tmp_path):
    (tmp_path / "log").touch()
    return tmp_path / "log"


@pytest.fixture
def three_askers(forks):
    """Gives the ids of three processes, of which each has some answers and waits for others.

    Afterwards, all get these, and their end is waited for.
    """

    @contextmanager
    def three_askers(url, log):
        held(log).touch()
        parent = forks.start("-m", "tests.resources.calls.asker", url, log, MANY)
        try:
            while not parent.stdout.endswith("\n"):
                assert parent.poll() is None, parent.stderr
                time.sleep(0.005)
            askers = json.loads(parent.stdout)
            wait_for(
                lambda: Counter(who for _, who in asked(log)) == dict.fromkeys(askers, 2 * AT_ONCE)
            )
            yield askers
            held(log).unlink(missing_ok=True)
            parent.wait()
        finally:
            if parent.poll() is None:
                os.killpg(parent.pid, signal.SIGKILL)

    return three_askers


def held(log):
    return log.with_name("log.held")


def answers(log, asker):
    return json.loads(log.with_name(f"log.{asker}").read_text())


def asked(log):
    """Who was asked what: (number, process) in order."""
    return [tuple(map(int, line.split())) for line in log.read_text().splitlines()]


def assert_whole(url):
    if url.startswith("sqlite"):
        with closing(sqlite3.connect(url.removeprefix("sqlite:///"))) as connection:
            assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]


def test_each_key_is_asked_for_once(url, log, three_askers):
    with three_askers(url, log) as askers:
        pass
    first, second, third = (answers(log, asker) for asker in askers)
    assert first == second == third
    assert len(first) == MANY
    assert sorted(number for number, _ in asked(log)) == list(range(MANY))
    assert {int(who) for who in first.values()} == set(askers)
    assert_whole(url)


def test_of_one_that_is_killed_only_what_was_in_flight_is_asked_again(
    url, log, opened, three_askers
):
    with three_askers(url, log) as (killed, *others):
        os.kill(killed, signal.SIGKILL)
        end_lease(url, killed)
        kept = opened(url).find_calls(keys(MANY))
    assert_whole(url)
    second, third = (answers(log, asker) for asker in others)
    assert second == third
    assert len(second) == MANY
    assert {key: call.answer["text"] for key, call in kept.items()} == {
        key: second[str(number)] for number, key in enumerate(keys(MANY)) if key in kept
    }
    times = Counter(number for number, _ in asked(log))
    again = {number for number, often in times.items() if often > 1}
    assert times.keys() == set(range(MANY))
    assert len(again) == AT_ONCE
    assert max(times.values()) == 2
    first_asked = dict(reversed(asked(log)))
    assert {first_asked[number] for number in again} == {killed}
    assert not {keys(MANY)[number] for number in again} & kept.keys()


def test_the_answer_of_one_that_was_held_up_is_not_a_second_one(url, log, opened, three_askers):
    """It sleeps for longer than its lease, as a machine does that is suspended."""
    with three_askers(url, log) as askers:
        os.kill(askers[0], signal.SIGSTOP)
        end_lease(url, askers[0])
        held(log).unlink()
        store = opened(url)
        wait_for(lambda: len(store.holds(keys(MANY))) == MANY)
        os.kill(askers[0], signal.SIGCONT)
    first, second, third = (answers(log, asker) for asker in askers)
    assert first == second == third
    assert len(first) == MANY
    assert len(asked(log)) == MANY + AT_ONCE
    assert_whole(url)
