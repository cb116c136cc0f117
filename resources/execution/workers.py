"""Prefetching of results: pure work in processes, slow work in threads."""

import asyncio
import multiprocessing
import os
import signal
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor, ThreadPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from functools import cache
from itertools import chain, islice
from multiprocessing.util import Finalize
from typing import TypeVar

Item = TypeVar("Item")
Result = TypeVar("Result")

_WORTH_A_POOL = 4
_PREFETCHED = 16
"""Items by core that are worked on, or finished, before the first of them is taken."""
_THREADS = 4
_STARTING = threading.Lock()


class WorkerDied(Exception):
    """A worker process was ended from outside."""


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
    context.set_forkserver_preload(
        ["generators.worker_jobs", "generators.perturbations.title_strip"]
    )
    pool = ProcessPoolExecutor(os.cpu_count(), context, initializer=_end_with_parent)
    Finalize(None, pool.shutdown, exitpriority=100)
    return pool


def _end_with_parent() -> None:
    """Watch the process that this worker serves, and end when it was killed.

    Ctrl-C on a terminal reaches every process: only the one that is served decides what to do.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    parent = multiprocessing.parent_process()

    def watch() -> None:
        if parent is not None:
            parent.join()
            os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


def map_in_processes(work: Callable[[Item], Result], items: Iterable[Item]) -> Iterator[Result]:
    """`work` of each item, in order, on all cores; `work` must be a module's own function.

    Items are taken, and results held, a few ahead of those that are asked for, so that memory does
    not grow with their number. Raises `WorkerDied` when the system ends one of the processes; a
    later call starts new ones.
    """
    remaining = iter(items)
    first = list(islice(remaining, _WORTH_A_POOL))
    if len(first) < _WORTH_A_POOL:
        yield from map(work, first)
        return
    with _explain_death():
        most = _PREFETCHED * (os.cpu_count() or 1)
        yield from _prefetch(lambda item: _pool().submit(work, item), chain(first, remaining), most)


def map_in_threads(work: Callable[[Item], Result], items: Iterable[Item]) -> Iterator[Result]:
    """`map` in a few threads, with at most eight results that are under way or wait to be used."""
    with ThreadPoolExecutor(_THREADS) as pool:
        yield from _prefetch(lambda item: pool.submit(work, item), items, 2 * _THREADS)


def _prefetch(
    submit: Callable[[Item], Future[Result]], items: Iterable[Item], most: int
) -> Iterator[Result]:
    under_way: deque[Future[Result]] = deque()
    try:
        for item in items:
            under_way.append(submit(item))
            if len(under_way) == most:
                yield under_way.popleft().result()
        while under_way:
            yield under_way.popleft().result()
    finally:
        for future in under_way:
            future.cancel()


async def run_in_worker(work: Callable[..., Result], *arguments: object) -> Result:
    """Await `work` of the arguments in a worker process; raises as `map_in_processes`."""
    with _explain_death():
        return await asyncio.wrap_future(_pool().submit(work, *arguments))


@contextmanager
def _explain_death() -> Iterator[None]:
    try:
        yield
    except BrokenProcessPool as error:
        _only_pool.cache_clear()
        raise WorkerDied(
            "The system ended a worker process, most often because memory ran out. What was "
            "finished is kept: close other programs, or draw fewer or smaller sizes at once, and "
            "run again; only what is missing is made."
        ) from error
