import asyncio
import threading

import pytest

from resources.models.backends import dynamic_batching
from resources.models.backends.dynamic_batching import BatchStages, DynamicBatcher
from resources.models.replies import ModelUnavailable, UnacceptableRequest
from tests.clocks import Clock

pytestmark = pytest.mark.slow

PATIENCE_S = 120


class Bench:
    """Work that notes what it was given at once; it begins when the test lets it."""

    def __init__(self):
        self.batches, self.begin, self.threads = [], threading.Event(), set()

    def double(self, items):
        assert self.begin.wait(PATIENCE_S)
        self.batches.append(list(items))
        self.threads.add(threading.current_thread())
        if 13 in items:
            raise UnacceptableRequest("thirteen")
        if 99 in items:
            raise ModelUnavailable("ninety-nine")
        return [2 * item for item in items]


def asked(bench, items, **how):
    """What is answered when all are asked together."""

    async def ask():
        batcher = DynamicBatcher()
        bench.begin.set()
        answers = [batcher.ask(bench.double, item, **how) for item in items]
        try:
            return await asyncio.gather(*answers, return_exceptions=True)
        finally:
            await batcher.aclose()

    return asyncio.run(ask())


def test_what_is_asked_together_is_done_together_in_order_in_one_thread():
    bench = Bench()
    assert asked(bench, range(10), at_once=4) == [2 * item for item in range(10)]
    assert bench.batches == [[0, 1, 2, 3], [4, 5, 6, 7], [8, 9]]
    assert len(bench.threads) == 1
    assert threading.main_thread() not in bench.threads


def test_those_that_come_a_moment_later_are_waited_for(monkeypatch):
    monkeypatch.setattr(dynamic_batching, "_GATHER_S", 3600)
    bench = Bench()

    async def ask():
        batcher = DynamicBatcher()
        bench.begin.set()

        async def later(item):
            for _ in range(item):
                await asyncio.sleep(0)
            return await batcher.ask(bench.double, item, at_once=4)

        await asyncio.gather(*map(later, range(3)))
        await batcher.aclose()

    Clock().run(ask())
    assert bench.batches == [[0, 1, 2]]


def test_one_at_a_time_unless_told():
    bench = Bench()
    asked(bench, range(3))
    assert bench.batches == [[0], [1], [2]]


def test_only_what_is_alike_is_done_together():
    bench = Bench()

    async def ask():
        batcher = DynamicBatcher()
        bench.begin.set()
        await asyncio.gather(
            *(batcher.ask(bench.double, n, at_once=4, alike=n % 2) for n in range(6))
        )
        await batcher.aclose()

    asyncio.run(ask())
    assert bench.batches == [[0, 2, 4], [1, 3, 5]]


def test_one_that_cannot_be_done_spoils_no_other():
    answers = asked(Bench(), [1, 13, 3], at_once=4)
    assert [answers[0], answers[2]] == [2, 6]
    assert isinstance(answers[1], UnacceptableRequest)


def test_what_else_goes_wrong_reaches_all_of_its_batch_and_no_other():
    bench = Bench()
    answers = asked(bench, [99, 1, 2, 3], at_once=2)
    assert [type(answer) for answer in answers[:2]] == [ModelUnavailable, ModelUnavailable]
    assert answers[2:] == [4, 6]
    assert bench.batches == [[99, 1], [2, 3]]


def test_the_event_loop_stays_free_and_what_was_cancelled_is_not_done():
    bench = Bench()

    async def ask():
        batcher = DynamicBatcher()
        tasks = [asyncio.create_task(batcher.ask(bench.double, item)) for item in (1, 2, 3)]
        await asyncio.sleep(0.02)
        tasks[1].cancel()
        # Only this loop can let the work begin: were it blocked, nothing would ever end.
        bench.begin.set()
        answers = await asyncio.gather(*tasks, return_exceptions=True)
        await batcher.aclose()
        return answers

    answers = asyncio.run(ask())
    assert (answers[0], answers[2]) == (2, 6)
    assert bench.batches == [[1], [3]]


def test_it_outlives_an_event_loop_that_was_left_in_the_middle():
    bench = Bench()
    batcher = DynamicBatcher()

    async def leave():
        await asyncio.wait_for(batcher.ask(bench.double, 1), 0.02)

    with pytest.raises(TimeoutError):
        asyncio.run(leave())
    bench.begin.set()

    async def ask():
        answer = await batcher.ask(bench.double, 2)
        await batcher.aclose()
        return answer

    assert asyncio.run(ask()) == 4


def test_those_nearest_in_length_share_a_batch_and_the_oldest_is_in_the_next():
    bench, lengths = Bench(), [10, 90, 11, 91, 92, 12]

    async def ask():
        batcher = DynamicBatcher()
        bench.begin.set()
        asking = [batcher.ask(bench.double, n, at_once=3, length=n) for n in lengths]
        await asyncio.gather(*asking)
        await batcher.aclose()

    asyncio.run(ask())
    assert bench.batches == [[10, 11, 12], [90, 91, 92]]


def test_while_the_model_works_the_batch_before_is_finished_and_the_next_prepared():
    """Each stage of the second batch waits for the others, so that it ends only if they overlap."""
    running, prepared, finished = (threading.Event() for _ in range(3))
    threads = {"prepare": set(), "run": set(), "finish": set()}

    def prepare(items):
        threads["prepare"].add(threading.current_thread())
        if items == [5, 6]:
            assert running.wait(PATIENCE_S)
            prepared.set()
        return items

    def run(items):
        threads["run"].add(threading.current_thread())
        if items == [3, 4]:
            running.set()
            assert finished.wait(PATIENCE_S)
            assert prepared.wait(PATIENCE_S)
        return items

    def finish(items):
        threads["finish"].add(threading.current_thread())
        if items == [1, 2]:
            assert running.wait(PATIENCE_S)
            finished.set()
        return [2 * item for item in items]

    stages = BatchStages(prepare, run, finish)

    async def ask():
        batcher = DynamicBatcher()
        results = await asyncio.gather(*(batcher.ask(stages, n, at_once=2) for n in range(1, 7)))
        await batcher.aclose()
        return results

    assert asyncio.run(ask()) == [2, 4, 6, 8, 10, 12]
    assert threads["prepare"] == threads["finish"]
    assert threads["run"].isdisjoint(threads["prepare"])
    assert len(threads["run"]) == 1


@pytest.mark.parametrize("stage", ["prepare", "run", "finish"])
def test_an_error_of_any_stage_reaches_who_asked(stage):
    def fail(items):
        if 13 in items:
            raise UnacceptableRequest("thirteen")
        return items

    stages = BatchStages(*(fail if name == stage else list for name in BatchStages._fields))
    answers = asked_in_stages(stages, [1, 13, 3])
    spared = stage != "finish"
    assert isinstance(answers[1], UnacceptableRequest)
    assert ([answers[0], answers[2]] == [1, 3]) == spared


def asked_in_stages(stages, items):
    async def ask():
        batcher = DynamicBatcher()
        answers = [batcher.ask(stages, item, at_once=4) for item in items]
        try:
            return await asyncio.gather(*answers, return_exceptions=True)
        finally:
            await batcher.aclose()

    return asyncio.run(ask())
