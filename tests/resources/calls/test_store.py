"""What was paid for is kept, and asked for once, in one process."""

import asyncio
import threading
import time
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from types import SimpleNamespace

import pytest
from sqlalchemy import Engine, event, text

import resources.calls.write_thread
from resources.faults import StoreError
from tests.resources.calls.calling import ODD, Model, call, keys, once

PROJECT = Path(__file__).parents[3]


async def never():
    raise AssertionError("it was asked for again")


def test_what_is_stored_comes_back_whole(url, opened):
    told = {
        0: call(0),
        1: replace(call(1), answer={"outcome": "refused", "reason": ODD}, served_model=None),
    }

    async def store_all(store):
        async def answered(number):
            return told[number]

        for number, one in told.items():
            assert await once(store, one.key, lambda n=number: answered(n)) == one

    first = opened(url)
    asyncio.run(store_all(first))
    first.close()
    assert opened(url).find_calls([*keys(3), "unknown"]) == {one.key: one for one in told.values()}


def test_no_character_loses_an_answer(url, opened):
    """Neither NUL, which PostgreSQL's text cannot hold, nor half of a surrogate pair."""
    odd = {
        "outcome": "answered",
        "text": ODD,
        "images": [],
        "score": None,
        "provenance": {ODD: ODD},
    }
    given = replace(call(1), answer=odd, served_model=ODD)

    async def ask():
        return given

    store = opened(url)
    asyncio.run(once(store, given.key, ask))
    store.keep([replace(call(2), answer=odd, served_model=ODD)])
    found = opened(url).find_calls(keys(3))
    assert [found[key].answer for key in keys(3)[1:]] == [odd, odd]
    assert found[given.key].served_model.replace("\ufffd", "") == ODD.replace("\0", "").replace(
        "\ud83d", ""
    )


def test_no_more_is_asked_than_is_missing(url, opened):
    store, model = opened(url), Model()
    asyncio.run(model.all_of(store, range(30)))
    asyncio.run(model.all_of(store, range(30)))
    store.close()
    asyncio.run(model.all_of(store, range(31)))
    assert sorted(model.asked) == list(range(31))
    assert len(opened(url).find_calls(keys(31))) == 31


def test_many_keys_are_looked_up_at_once(url, opened):
    store = opened(url)
    asyncio.run(Model().all_of(store, range(1200)))
    assert opened(url).find_calls(reversed(keys(2500))).keys() == set(keys(1200))


def test_the_same_request_at_once_is_sent_once(url, opened):
    store, model = opened(url), Model(seconds=0.05)
    calls = asyncio.run(model.all_of(store, [7] * 50))
    assert model.asked == [7]
    assert calls == [call(7, text="model")] * 50


def test_it_is_committed_before_it_is_seen(url, opened):
    store = opened(url)

    async def main():
        for number in range(20):
            seen = await once(store, call(number).key, Model().asking(number))
            other = opened(url)
            assert other.find_calls([seen.key]) == {seen.key: seen}
            other.close()

    asyncio.run(main())


def test_what_asking_raises_is_raised_to_all_and_nothing_is_stored(url, opened):
    store, other = opened(url), opened(url)
    key = call(1).key

    async def main():
        async def ask():
            await asyncio.sleep(0.02)
            raise LookupError("no such model")

        sharers = (once(store, key, ask) for _ in range(5))
        ended = await asyncio.gather(*sharers, return_exceptions=True)
        assert [str(error) for error in ended] == ["no such model"] * 5
        assert store.find_calls([key]) == {}
        # The claim is gone at once: another process need not wait for the end of a lease.
        async with asyncio.timeout(120):
            assert await once(other, key, Model(name="other").asking(1)) == call(1, text="other")

    asyncio.run(main())


def test_what_cannot_be_written_down_is_raised_and_its_claim_given_up(url, opened):
    store = opened(url)

    async def ask():
        return replace(call(1), answer={"score": float("nan")})

    async def main():
        with pytest.raises(ValueError, match="JSON compliant"):
            await once(store, call(1).key, ask)
        async with asyncio.timeout(120):
            await once(store, call(1).key, Model().asking(1))

    asyncio.run(main())


def test_one_that_gives_up_waiting_takes_nothing_from_the_others(url, opened):
    store, model = opened(url), Model(seconds=0.2)

    async def main():
        waiting = [asyncio.create_task(once(store, call(1).key, model.asking(1))) for _ in range(3)]
        while not model.asked:
            await asyncio.sleep(0.01)
        waiting[0].cancel()
        ended = await asyncio.gather(*waiting, return_exceptions=True)
        assert isinstance(ended[0], asyncio.CancelledError)
        assert ended[1:] == [call(1, text="model")] * 2

    asyncio.run(main())
    assert model.asked == [1]
    assert not model.cancelled


def test_when_all_give_up_the_request_ends_and_another_may_ask(url, opened):
    store, model = opened(url), Model(seconds=60)

    async def main():
        waiting = [asyncio.create_task(once(store, call(1).key, model.asking(1))) for _ in range(3)]
        while not model.asked:
            await asyncio.sleep(0.01)
        for one in waiting:
            one.cancel()
        await asyncio.wait(waiting)
        assert model.cancelled == 1
        async with asyncio.timeout(120):
            await once(opened(url), call(1).key, Model().asking(1))

    asyncio.run(main())


def test_one_that_gives_up_before_its_claim_is_granted_leaves_none_behind(url, opened):
    store = opened(url)

    async def main():
        for _ in range(20):
            waiting = asyncio.create_task(once(store, call(1).key, never))
            await asyncio.sleep(0)
            await asyncio.sleep(0)
            waiting.cancel()
            await asyncio.wait([waiting])
        async with asyncio.timeout(120):
            await once(opened(url), call(1).key, Model().asking(1))

    asyncio.run(main())


def test_an_answer_that_nobody_waits_for_any_more_is_stored(url, opened):
    store, arrived = opened(url), []

    async def ask():
        arrived.append(call(1))
        return arrived[0]

    async def main():
        waiting = asyncio.create_task(once(store, call(1).key, ask))
        while not arrived:
            await asyncio.sleep(0)
        waiting.cancel()
        await asyncio.wait([waiting])

    asyncio.run(main())
    store.close()
    assert opened(url).find_calls([call(1).key]) == {call(1).key: call(1)}


def test_threads_share_what_they_ask_for(url, opened):
    store, model = opened(url), Model(seconds=0.01)
    answers = []
    threads = [
        threading.Thread(target=lambda: answers.append(asyncio.run(model.all_of(store, range(40)))))
        for _ in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(model.asked) == list(range(40))
    assert answers == [answers[0]] * 4


def test_what_arrives_together_shares_a_commit(url, opened, monkeypatch):
    store = opened(url)
    store.find_calls([])
    commits, gathered = [], store._start().writer._operations

    def gather(_seconds):
        """What arrives together has arrived: the first was taken already."""
        while gathered.qsize() < 199:
            time.sleep(0.001)

    clock = SimpleNamespace(monotonic=time.monotonic, sleep=gather)
    monkeypatch.setattr(resources.calls.write_thread, "time", clock)

    def count(_connection):
        commits.append(1)

    async def main():
        gate = asyncio.Event()

        async def one(number):
            async def ask():
                waiting.append(number)
                await gate.wait()
                return call(number)

            return await once(store, call(number).key, ask)

        waiting = []
        requests = [asyncio.create_task(one(number)) for number in range(200)]
        while len(waiting) < 200:
            await asyncio.sleep(0.01)
        gate.set()
        await asyncio.gather(*requests)

    event.listen(Engine, "commit", count)
    try:
        asyncio.run(main())
    finally:
        event.remove(Engine, "commit", count)
    # 200 claims and 200 answers.
    assert len(commits) == 2


def test_one_who_still_waits_for_the_model_keeps_its_claim(url, opened, monkeypatch):
    monkeypatch.setattr(resources.calls.write_thread, "LEASE_S", 0.6)
    store, watching, ends = opened(url), opened(url), []
    leases = text("SELECT lease_end FROM claims")

    def lease_ends():
        run = watching._start().database.run
        return run(lambda connection, _: connection.scalars(leases).all())

    async def ask():
        """Until it was renewed three times before it was over."""
        async with asyncio.timeout(120):
            while sum(later - sooner < 0.6 for sooner, later in pairwise(ends)) < 3:
                ends.extend(set(lease_ends()).difference(ends))
                await asyncio.sleep(0.01)
        return call(0)

    assert asyncio.run(once(store, call(0).key, ask)) == call(0)
    assert lease_ends() == []


def test_a_lease_that_a_clock_set_back_left_far_ahead_is_shortened(url, opened):
    claims, ahead = [], text("UPDATE claims SET lease_end = lease_end + 3600")

    def claim(connection, sql):
        claims.append(sql.claims.claim(connection, ["key"], "owner", 20.0))
        claims.append(sql.claims.claim(connection, ["key"], "other", -5.0))
        connection.execute(ahead)
        # The owner gets the time of a lease to renew it: here of one that is over at once.
        claims.append(sql.claims.claim(connection, ["key"], "other", -5.0))
        claims.append(sql.claims.claim(connection, ["key"], "other", -5.0))

    opened(url)._start().database.run(claim)
    assert claims == [{"key"}, set(), set(), {"key"}]


def test_closing_it_under_a_request_gives_the_claim_up(url, opened):
    store, model = opened(url), Model(seconds=0.3)

    async def main():
        asking = asyncio.create_task(model.all_of(store, [1]))
        while not model.asked:
            await asyncio.sleep(0.01)
        store.close()
        async with asyncio.timeout(120):
            assert await Model(name="other").all_of(opened(url), [1]) == [call(1, text="other")]
        with pytest.raises(StoreError, match="was closed while it was in use"):
            await asking

    asyncio.run(main())


FORKING = """
import asyncio, os, sys
from contextlib import closing
from resources.calls import CallStore
from tests.resources.calls.calling import Model, keys

with closing(CallStore(url=sys.argv[1])) as store:
    asyncio.run(Model().all_of(store, range(3)))
    child = os.fork()
    asyncio.run(Model().all_of(store, range(3, 6) if child else range(6, 9)))
    if not child:
        store.close()
        os._exit(0)
    assert os.waitpid(child, 0)[1] == 0
    assert len(store.find_calls(keys(9))) == 9
"""


def test_a_fork_opens_it_for_itself(url, forks):
    done = forks.run("-c", FORKING, url)
    assert done.returncode == 0, done.stderr


def test_a_commit_to_a_file_outlives_a_power_cut(tmp_path, opened):
    database = opened(f"sqlite:///{tmp_path}/calls.sqlite")._start().database
    with database._open_once().connect() as one:
        assert one.exec_driver_sql("PRAGMA journal_mode").scalar() == "wal"
        assert one.exec_driver_sql("PRAGMA synchronous").scalar() == 2  # FULL
