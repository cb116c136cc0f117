"""All cores for work that is pure."""

import multiprocessing
import os
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from functools import cache
from multiprocessing.util import Finalize
from typing import TypeVar

Item = TypeVar("Item")
Result = TypeVar("Result")

_WORTH_A_POOL = 4


class WorkerDied(Exception):
    """A process that did part of the work was ended from outside."""


@cache
def _pool() -> ProcessPoolExecutor:
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


def spread(work: Callable[[Item], Result], items: Sequence[Item]) -> Iterator[Result]:
    """`work` of each item, in order, on all cores; `work` must be a module's own function.

    Raises `WorkerDied` when the system ends one of the processes; a later call starts new ones.
    """
    if len(items) < _WORTH_A_POOL:
        yield from map(work, items)
        return
    try:
        yield from _pool().map(work, items, chunksize=2)
    except BrokenProcessPool as error:
        _pool.cache_clear()
        raise WorkerDied(
            "The system ended a worker process, most often because memory ran out. What was "
            "finished is kept: close other programs, or draw fewer or smaller sizes at once, and "
            "run again; only what is missing is made."
        ) from error
