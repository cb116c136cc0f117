"""Spreading of work: pure work on all cores of this machine or of a Ray cluster, and threads."""

import asyncio
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from functools import cache
from itertools import chain, islice
from multiprocessing.util import Finalize
from typing import Any, Protocol, TypeVar

from resources.execution.local_workers import LocalWorkers
from resources.execution.ray_cluster import find_ray_address
from resources.execution.ray_workers import RayWorkers
from resources.execution.worker_tasks import WorkerDied

Key = TypeVar("Key")
Item = TypeVar("Item")
Result = TypeVar("Result")

_WORTH_A_POOL = 4
_PREFETCHED = 16
"""Items by worker that are worked on, or finished, before the first of them is taken."""
_THREADS = 4
_AHEAD = 2 * _THREADS
"""Items that threads have at once, or that are done and wait to be used."""
_MOST_DEATHS = 10
"""Items that may end their workers before the others are given up."""
_STARTING = threading.Lock()


class Workers(Protocol):
    """Processes that work for this one, on this machine or on others."""

    @property
    def count(self) -> int:
        """Items that are worked on at once."""

    def submit(self, work: Callable[..., Any], *arguments: object) -> Future[Any]:
        """Begin `work`, a module's function, once a worker is free.

        The future raises what the work does, `WorkerDied` after three dead workers, and
        `OtherCode` where a worker has other code than this process.
        """

    def close(self) -> None:
        """End the workers."""


@cache
def _create_workers() -> Workers:
    """Create the workers of this process.

    A step of Dagster's multiprocess executor is itself a child process, and one that ends waits
    for its children before any atexit handler runs: they have to be ended before that.
    """
    address = find_ray_address()
    workers: Workers = RayWorkers(address) if address else LocalWorkers()
    Finalize(None, workers.close, exitpriority=100)
    return workers


def find_workers() -> Workers:
    """Return the workers of this process, which are tasks on the Ray cluster where one is set."""
    with _STARTING:
        return _create_workers()


def map_in_workers(
    work: Callable[[Item], Result], items: Iterable[tuple[Key, Item]]
) -> Iterator[tuple[Key, Result]]:
    """`work` of each item by its key, in order, in workers; `work` must be a module's function.

    Items are taken, and results held, a few ahead of those that are asked for, so that memory does
    not grow with their number. An item that ends its worker three times is left out, and
    `WorkerDied` names it after the others.
    """
    remaining = iter(items)
    first = list(islice(remaining, _WORTH_A_POOL))
    if len(first) < _WORTH_A_POOL:
        yield from ((key, work(item)) for key, item in first)
        return
    workers, deaths = find_workers(), list[WorkerDied]()
    futures = prefetch(
        lambda keyed: (keyed[0], workers.submit(work, keyed[1])),
        chain(first, remaining),
        _PREFETCHED * workers.count,
    )
    for key, future in futures:
        try:
            result = future.result()
        except WorkerDied as death:
            deaths.append(death)
            if len(deaths) == _MOST_DEATHS:
                break
        else:
            yield key, result
    if deaths:
        raise deaths[0]


def map_in_threads(
    work: Callable[[Item], Result], items: Iterable[Item], most: int = _AHEAD
) -> Iterator[Result]:
    """Results in order, by a few threads; at most eight are under way or wait to be used.

    `most` lowers that.
    """
    with ThreadPoolExecutor(_THREADS) as pool:
        futures = prefetch(lambda item: (None, pool.submit(work, item)), items, min(most, _AHEAD))
        for _, future in futures:
            yield future.result()


def prefetch(
    submit: Callable[[Item], tuple[Key, Future[Result]]], items: Iterable[Item], most: int
) -> Iterator[tuple[Key, Future[Result]]]:
    """Keys and futures of submitted items in order, of which `most` are under way or wait."""
    under_way: deque[tuple[Key, Future[Result]]] = deque()
    try:
        for item in items:
            under_way.append(submit(item))
            if len(under_way) == most:
                yield under_way.popleft()
        while under_way:
            yield under_way.popleft()
    finally:
        for _, future in under_way:
            future.cancel()


async def run_in_worker(work: Callable[..., Result], *arguments: object) -> Result:
    """Await `work` of the arguments in a worker process.

    Raises `WorkerDied` where it ends three of them.
    """
    return await asyncio.wrap_future(find_workers().submit(work, *arguments))
