"""Prefetching of results: pure work in processes, slow work in threads."""

import asyncio
import multiprocessing
import os
import signal
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from functools import cache
from itertools import chain, islice
from multiprocessing.connection import Connection
from multiprocessing.util import Finalize
from textwrap import shorten
from traceback import format_exc
from typing import TypeVar

from resources.execution.cores import count_cores

Key = TypeVar("Key")
Item = TypeVar("Item")
Result = TypeVar("Result")

_WORTH_A_POOL = 4
_PREFETCHED = 16
"""Items by core that are worked on, or finished, before the first of them is taken."""
_THREADS = 4
_ATTEMPTS = 3
_MOST_DEATHS = 10
"""Items that may end their workers before the others are given up."""
_STARTING = threading.Lock()


class WorkerDied(Exception):
    """The system ended each worker process that an item was given to."""


class _Workers:
    """Processes with one item each; a dead one is replaced, and only its item done again."""

    def __init__(self, count: int) -> None:
        self._threads = ThreadPoolExecutor(count)
        self._idle: deque[Connection] = deque()

    def submit(self, work: Callable[..., Result], *arguments: object) -> Future[Result]:
        """Begin `work` once a process is free; raises `WorkerDied` after three dead ones."""
        return self._threads.submit(self._do, work, arguments)

    def close(self) -> None:
        """Wait for what is begun, and end the processes."""
        self._threads.shutdown(cancel_futures=True)
        for pipe in self._idle:
            pipe.close()

    def _do(self, work: Callable[..., Result], arguments: tuple[object, ...]) -> Result:
        for _ in range(_ATTEMPTS):
            pipe = self._take()
            try:
                pipe.send((work, arguments))
                reply: tuple[Exception | None, Result] = pipe.recv()
            except (EOFError, OSError):
                pipe.close()
                continue
            except BaseException:
                self._idle.append(pipe)
                raise
            self._idle.append(pipe)
            error, result = reply
            if error is not None:
                raise error
            return result
        item = shorten(", ".join(map(repr, arguments)), 200)
        raise WorkerDied(
            f"The system ended {_ATTEMPTS} worker processes at {item}, most often because memory "
            "ran out. What was finished is kept: close other programs, or draw fewer or smaller "
            "sizes at once, and run again; only what is missing is made."
        )

    def _take(self) -> Connection:
        with suppress(IndexError):
            return self._idle.pop()
        return _start_worker()


def _start_worker() -> Connection:
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(
        ["generators.worker_jobs", "generators.perturbations.title_strip"]
    )
    pipe, its_pipe = context.Pipe()
    with _STARTING:
        context.Process(target=_serve, args=(its_pipe,)).start()
    its_pipe.close()
    return pipe


@cache
def _create_workers() -> _Workers:
    """Create the workers of this process.

    A step of Dagster's multiprocess executor is itself a child process, and one that ends waits
    for its children before any atexit handler runs: they have to be ended before that.
    """
    workers = _Workers(count_cores())
    Finalize(None, workers.close, exitpriority=100)
    return workers


def _find_workers() -> _Workers:
    with _STARTING:
        return _create_workers()


def _serve(pipe: Connection) -> None:
    """Work, in a process of its own, until the pipe's other end is closed."""
    _end_with_parent()
    while True:
        try:
            work, arguments = pipe.recv()
        except EOFError:
            return
        try:
            pipe.send((None, work(*arguments)))
        except Exception as error:  # noqa: BLE001 - raised where the result is awaited
            error.add_note(format_exc())
            pipe.send((error, None))


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


def map_in_workers(
    work: Callable[[Item], Result], items: Iterable[tuple[Key, Item]]
) -> Iterator[tuple[Key, Result]]:
    """`work` of each item by its key, in order, on all cores; `work` must be a module's function.

    Items are taken, and results held, a few ahead of those that are asked for, so that memory does
    not grow with their number. An item that ends its worker three times is left out, and
    `WorkerDied` names it after the others.
    """
    remaining = iter(items)
    first = list(islice(remaining, _WORTH_A_POOL))
    if len(first) < _WORTH_A_POOL:
        yield from ((key, work(item)) for key, item in first)
        return
    workers, deaths = _find_workers(), list[WorkerDied]()
    futures = _prefetch(
        lambda keyed: (keyed[0], workers.submit(work, keyed[1])),
        chain(first, remaining),
        _PREFETCHED * count_cores(),
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


def map_in_threads(work: Callable[[Item], Result], items: Iterable[Item]) -> Iterator[Result]:
    """`map` in a few threads, with at most eight results that are under way or wait to be used."""
    with ThreadPoolExecutor(_THREADS) as pool:
        futures = _prefetch(lambda item: (None, pool.submit(work, item)), items, 2 * _THREADS)
        for _, future in futures:
            yield future.result()


def _prefetch(
    submit: Callable[[Item], tuple[Key, Future[Result]]], items: Iterable[Item], most: int
) -> Iterator[tuple[Key, Future[Result]]]:
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
    return await asyncio.wrap_future(_find_workers().submit(work, *arguments))
