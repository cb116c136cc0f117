import asyncio
from itertools import pairwise
from time import monotonic

from resources.models.adaptive_concurrency import AdaptiveConcurrency


def starts_of(pace, number, *, tokens=None):
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

    asyncio.run(every())
    return sorted(starts)


def test_no_more_than_the_limit_are_on_their_way_at_once():
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

    assert asyncio.run(most()) == 5


def test_those_turned_away_together_halve_the_limit_once_and_answers_raise_it_again():
    async def limits():
        pace = AdaptiveConcurrency(64)
        began = monotonic()
        for _ in range(10):
            pace.record_overload(began, None)
        once = pace.limit
        pace.record_overload(monotonic(), None)
        twice = pace.limit
        for _ in range(16):
            pace.record_success(None)
        after_a_round = pace.limit
        for _ in range(5000):
            pace.record_success(None)
        return once, twice, after_a_round, pace.limit

    assert asyncio.run(limits()) == (32, 16, 16, 64)


def test_the_limit_never_falls_below_one():
    async def limit():
        pace = AdaptiveConcurrency(2)
        for _ in range(9):
            pace.record_overload(monotonic(), None)
        return pace.limit

    assert asyncio.run(limit()) == 1


def test_a_raised_limit_lets_waiting_ones_start():
    """With one at a time and ever more allowed, nobody is left waiting."""

    async def most():
        pace, running, seen = AdaptiveConcurrency(8), 0, []
        for _ in range(4):
            pace.record_overload(monotonic(), None)
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

    assert asyncio.run(most()) == (8, 120)


def test_nothing_starts_before_retry_after_is_over():
    async def first_start():
        pace = AdaptiveConcurrency(4)
        told = monotonic()
        pace.record_overload(told, 0.15)
        starts = []

        async def one():
            async with pace.slot() as began:
                starts.append(began)

        await asyncio.gather(*(one() for _ in range(6)))
        return min(starts) - told

    assert asyncio.run(first_start()) >= 0.15


def test_at_the_end_nobody_waits():
    async def all_go_on():
        pace = AdaptiveConcurrency(4, requests_per_minute=1)
        pace.record_overload(monotonic(), 3600)

        async def one():
            async with pace.slot():
                await pace.sleep(3600)

        async with asyncio.timeout(20), asyncio.TaskGroup() as tasks:
            for _ in range(20):
                tasks.create_task(one())
            await asyncio.sleep(0)
            pace.stop()
        return True

    assert asyncio.run(all_go_on())


def test_requests_a_minute_are_spread_evenly():
    starts = starts_of(AdaptiveConcurrency(64, requests_per_minute=3000), 12)
    assert all(start - starts[0] >= place * 0.02 - 0.01 for place, start in enumerate(starts))


def test_tokens_are_waited_for_after_they_were_taken():
    starts = starts_of(AdaptiveConcurrency(1, tokens_per_minute=60_000), 4, tokens=40)
    assert starts[-1] - starts[0] >= 3 * 0.04


def test_tokens_are_spread_evenly_once_an_answer_has_told_how_many_there_are():
    starts = starts_of(AdaptiveConcurrency(8, tokens_per_minute=60_000), 32, tokens=20)
    assert all(late - soon >= 0.015 for soon, late in pairwise(starts))


def test_without_limits_nothing_waits():
    assert len(starts_of(AdaptiveConcurrency(64), 500)) == 500


def test_where_nobody_counts_tokens_nothing_waits():
    assert len(starts_of(AdaptiveConcurrency(64, tokens_per_minute=1), 500)) == 500
