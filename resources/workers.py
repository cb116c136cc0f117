"""A process pool for pure work."""

import asyncio
import multiprocessing
import os
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from functools import cache
from itertools import chain, islice
from multiprocessing.util import Finalize
from typing import TypeVar

Item = TypeVar("Item")
Result = TypeVar("Result")

_WORTH_A_POOL = 4
_AHEAD = 16
"""Items by core that are worked on, or finished, before the first of them is taken."""
_STARTING = threading.Lock()


class WorkerDied(Exception):
    """A process that did part of the work was ended from outside."""


def _pool() -> ProcessPoolExecutor:
    with _STARTING:
        return _only_pool()


@cache
def _only_pool() -> ProcessPoolExecutor:
    """The pool of this process.

    A step of Dagster's multiprocess executor is itself a child process, and one that ends waits
    for its children before any atexit handler runs: the pool has to be ended before that, and
    before its own queues are closed (which multiprocessing does at priority 10).
    """
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["generators.work", "generators.perturbations.title"])
    pool = ProcessPoolExecutor(os.cpu_count(), context, initializer=_end_with_parent)
    Finalize(None, pool.shutdown, exitpriority=100)
    return pool


def _end_with_parent() -> None:
    """Watch the process that this worker serves, and end when it was killed."""
    parent = multiprocessing.parent_process()

    def watch() -> None:
        if parent is not None:
            parent.join()
            os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


def spread(work: Callable[[Item], Result], items: Iterable[Item]) -> Iterator[Result]:
    """`work` of each item, in order, on all cores; `work` must be a module's own function.

    Items are taken, and results held, a few ahead of those that are asked for, so that memory does
    not grow with their number. Raises `WorkerDied` when the system ends one of the processes; a
    later call starts new ones.
    """
    some = iter(items)
    first = list(islice(some, _WORTH_A_POOL))
    if len(first) < _WORTH_A_POOL:
        yield from map(work, first)
        return
    under_way: deque[Future[Result]] = deque()
    ahead = _AHEAD * (os.cpu_count() or 1)
    try:
        with _telling_of_death():
            for item in chain(first, some):
                under_way.append(_pool().submit(work, item))
                if len(under_way) == ahead:
                    yield under_way.popleft().result()
            while under_way:
                yield under_way.popleft().result()
    finally:
        for future in under_way:
            future.cancel()


async def in_worker(work: Callable[..., Result], *arguments: object) -> Result:
    """`work` of the arguments in a worker process, for an event loop; raises as `spread` does."""
    with _telling_of_death():
        return await asyncio.wrap_future(_pool().submit(work, *arguments))


@contextmanager
def _telling_of_death() -> Iterator[None]:
    try:
        yield
    except BrokenProcessPool as error:
        _only_pool.cache_clear()
        raise WorkerDied(
            "The system ended a worker process, most often because memory ran out. What was "
            "finished is kept: close other programs, or draw fewer or smaller sizes at once, and "
            "run again; only what is missing is made."
        ) from error
