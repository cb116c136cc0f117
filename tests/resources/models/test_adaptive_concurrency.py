import asyncio
from itertools import pairwise

import pytest

from resources.models import adaptive_concurrency
from resources.models.adaptive_concurrency import AdaptiveConcurrency
from tests.clocks import Clock


@pytest.fixture
def clock(monkeypatch):
    clock = Clock()
    monkeypatch.setattr(adaptive_concurrency, "monotonic", clock)
    return clock


def starts_of(clock, pace, number, *, tokens=None):
    """When each of so many requests began, all of them ready at once."""
    starts = []

    async def one():
        async with pace.slot() as began:
            starts.append(began)
            await asyncio.sleep(0)
        pace.record_success(tokens)

    async def every():
        async with asyncio.TaskGroup() as tasks:
            for _ in range(number):
                tasks.create_task(one())

    clock.run(every())
    return sorted(starts)


def test_no_more_than_the_limit_are_on_their_way_at_once(clock):
    async def most():
        pace, running, seen = AdaptiveConcurrency(5), 0, []

        async def one():
            nonlocal running
            async with pace.slot():
                running += 1
                seen.append(running)
                await asyncio.sleep(0.001)
                running -= 1

        await asyncio.gather(*(one() for _ in range(40)))
        return max(seen)

    assert clock.run(most()) == 5


def test_those_turned_away_together_halve_the_limit_once_and_answers_raise_it_again(clock):
    async def limits():
        pace = AdaptiveConcurrency(64)
        began = clock()
        await asyncio.sleep(0.1)
        for _ in range(10):
            pace.record_overload(began, None)
        once = pace.limit
        pace.record_overload(clock(), None)
        twice = pace.limit
        for _ in range(16):
            pace.record_success(None)
        after_a_round = pace.limit
        for _ in range(5000):
            pace.record_success(None)
        return once, twice, after_a_round, pace.limit

    assert clock.run(limits()) == (32, 16, 16, 64)


def test_the_limit_never_falls_below_one(clock):
    async def limit():
        pace = AdaptiveConcurrency(2)
        for _ in range(9):
            pace.record_overload(clock(), None)
        return pace.limit

    assert clock.run(limit()) == 1


def test_a_raised_limit_lets_waiting_ones_start(clock):
    """With one at a time and ever more allowed, nobody is left waiting."""

    async def most():
        pace, running, seen = AdaptiveConcurrency(8), 0, []
        for _ in range(4):
            pace.record_overload(clock(), None)
        assert pace.limit == 1

        async def one():
            nonlocal running
            async with pace.slot():
                running += 1
                seen.append(running)
                await asyncio.sleep(0.001)
                running -= 1
                pace.record_success(None)

        await asyncio.gather(*(one() for _ in range(120)))
        return max(seen), len(seen)

    assert clock.run(most()) == (8, 120)


def test_nothing_starts_before_retry_after_is_over(clock):
    async def first_start():
        pace = AdaptiveConcurrency(4)
        told = clock()
        pace.record_overload(told, 0.15)
        starts = []

        async def one():
            async with pace.slot() as began:
                starts.append(began)

        await asyncio.gather(*(one() for _ in range(6)))
        return min(starts) - told

    assert clock.run(first_start()) == pytest.approx(0.15)


def test_at_the_end_nobody_waits(clock):
    async def all_go_on():
        pace = AdaptiveConcurrency(4, requests_per_minute=1)
        pace.record_overload(clock(), 3600)

        async def one():
            async with pace.slot():
                await pace.sleep(3600)

        async with asyncio.TaskGroup() as tasks:
            for _ in range(20):
                tasks.create_task(one())
            await asyncio.sleep(0)
            pace.stop()
        return clock()

    assert clock.run(all_go_on()) == Clock.now


def test_requests_a_minute_are_spread_evenly(clock):
    starts = starts_of(clock, AdaptiveConcurrency(64, requests_per_minute=3000), 12)
    assert [start - starts[0] for start in starts] == pytest.approx([n * 0.02 for n in range(12)])


def test_tokens_are_waited_for_after_they_were_taken(clock):
    starts = starts_of(clock, AdaptiveConcurrency(1, tokens_per_minute=60_000), 4, tokens=40)
    assert [start - starts[0] for start in starts] == pytest.approx([n * 0.04 for n in range(4)])


def test_tokens_are_spread_evenly_once_an_answer_has_told_how_many_there_are(clock):
    starts = starts_of(clock, AdaptiveConcurrency(8, tokens_per_minute=60_000), 32, tokens=20)
    assert [late - soon for soon, late in pairwise(starts)] == pytest.approx([0.02] * 31)


def test_without_limits_nothing_waits(clock):
    assert starts_of(clock, AdaptiveConcurrency(64), 500) == [clock.now] * 500


def test_where_nobody_counts_tokens_nothing_waits(clock):
    starts = starts_of(clock, AdaptiveConcurrency(64, tokens_per_minute=1), 500)
    assert starts == [clock.now] * 500
