"""Workers that are tasks of a Ray cluster."""

import threading
from collections import deque
from collections.abc import Sequence
from concurrent.futures import Future
from queue import SimpleQueue
from time import perf_counter
from typing import Any, NamedTuple

from resources.execution.ray_cluster import connect_to_ray, list_deaths
from resources.execution.worker_tasks import (
    ATTEMPTS,
    Work,
    WorkerTask,
    build_death,
    pack_task,
    perform_task,
    read_outcomes,
)

_TASKS_PER_CPU = 2
"""Tasks that are with the cluster: one at work, one that waits for its CPU."""
_CHUNK_S = 0.2
"""Time for which a task should last: to start one costs about a millisecond."""
_MOST_ITEMS = 8


class RayFailed(Exception):
    """Ray could not run a task, for another reason than the death of a worker."""


class _Item:
    """Work with its arguments, until its outcome is known."""

    def __init__(self, work: Work, arguments: tuple[Any, ...]) -> None:
        self.work = work
        self.arguments = arguments
        self.future = Future[Any]()
        self.deaths = 0


class _Ended(NamedTuple):
    """A chunk of items whose task has ended."""

    chunk: Sequence[_Item]
    task: WorkerTask
    reply: "Future[tuple[float, Any]]"


class RayWorkers:
    """Tasks on a cluster's CPUs: quick items share one, and a dead worker's are done again.

    Ray's own repetitions are off. One thread of this process sends all tasks.
    """

    def __init__(self, address: str) -> None:
        self._ray = connect_to_ray(address)
        self._address = address
        self._perform = self._ray.remote(num_cpus=1, max_retries=0)(_perform_timed)
        self.count = max(1, int(self._ray.cluster_resources().get("CPU", 0)))
        self._events = SimpleQueue[_Item | _Ended | None]()
        self._waiting: deque[_Item] = deque()
        self._under_way = 0
        self._seconds: dict[Work, float] = {}
        self._thread = threading.Thread(target=self._dispatch, daemon=True)
        self._thread.start()

    def submit(self, work: Work, *arguments: object) -> Future[Any]:
        """Begin `work` once a CPU is free; raises `WorkerDied` after three dead workers."""
        item = _Item(work, arguments)
        self._events.put(item)
        return item.future

    def close(self) -> None:
        """End the connection, and with it whatever is under way."""
        self._events.put(None)
        self._thread.join()
        self._ray.shutdown()

    def _dispatch(self) -> None:
        """Keep all CPUs busy until `close`."""
        while (event := self._events.get()) is not None:
            if isinstance(event, _Item):
                self._waiting.append(event)
            else:
                self._under_way -= 1
                self._end(event)
            while self._waiting and self._under_way < _TASKS_PER_CPU * self.count:
                if chunk := self._take_chunk():
                    self._send(chunk)

    def _take_chunk(self) -> list[_Item]:
        """Take items of one kind of work that last for `_CHUNK_S`; alone what met a death."""
        first = self._waiting.popleft()
        seconds = self._seconds.get(first.work, _CHUNK_S)
        chunk, most = [first], 1 if first.deaths else min(_MOST_ITEMS, _CHUNK_S / seconds)
        while len(chunk) < most and self._waiting:
            if self._waiting[0].work != first.work or self._waiting[0].deaths:
                break
            chunk.append(self._waiting.popleft())
        return [item for item in chunk if item.deaths or item.future.set_running_or_notify_cancel()]

    def _send(self, chunk: Sequence[_Item]) -> None:
        try:
            task = pack_task(chunk[0].work, [item.arguments for item in chunk])
            reply = self._perform.remote(task).future()
        except Exception as error:  # noqa: BLE001 - raised where the results are awaited
            _fail(chunk, error)
            return
        self._under_way += 1
        reply.add_done_callback(lambda ended: self._events.put(_Ended(chunk, task, ended)))

    def _end(self, ended: _Ended) -> None:
        chunk, task, reply = ended
        try:
            seconds, outcomes = reply.result()
            self._seconds[chunk[0].work] = max(seconds / len(chunk), 1e-6)
            for item, (error, result) in zip(chunk, read_outcomes(task, outcomes), strict=True):
                if error is None:
                    item.future.set_result(result)
                else:
                    item.future.set_exception(error)
        except list_deaths(self._ray):
            self._repeat(chunk)
        except self._ray.exceptions.RayError as error:
            failure = RayFailed(
                f"The Ray cluster at {self._address} could not run {task.modules[0]}: {error} See "
                "what is left of it with `ray status`; every machine needs the same version of "
                "Counterfactory. Then run again; what was finished is kept."
            )
            _fail(chunk, failure)
        except Exception as error:  # noqa: BLE001 - raised where the results are awaited
            _fail(chunk, error)

    def _repeat(self, chunk: Sequence[_Item]) -> None:
        for item in reversed(chunk):
            item.deaths += 1
            if item.deaths == ATTEMPTS:
                item.future.set_exception(build_death(item.arguments))
            else:
                self._waiting.appendleft(item)


def _fail(chunk: Sequence[_Item], error: Exception) -> None:
    for item in chunk:
        item.future.set_exception(error)


def _perform_timed(task: WorkerTask) -> tuple[float, Any]:
    start = perf_counter()
    reply = perform_task(task)
    return perf_counter() - start, reply
