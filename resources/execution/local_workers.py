"""Workers that are processes of this machine."""

import multiprocessing
import os
import signal
import threading
from collections import deque
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from multiprocessing.connection import Connection
from typing import Any

from resources.execution.cores import count_cores
from resources.execution.worker_tasks import (
    ATTEMPTS,
    Work,
    build_death,
    pack_task,
    perform_task,
    read_outcomes,
)

_STARTING = threading.Lock()
_PRELOADED = [
    "resources.execution.forked_workers",
    "generators.worker_jobs",
    "generators.perturbations.title_strip",
]


class LocalWorkers:
    """Processes with one item each, as many as this process may use cores.

    A dead one is replaced, and only its item done again.
    """

    def __init__(self) -> None:
        self.count = count_cores()
        self._threads = ThreadPoolExecutor(self.count)
        self._idle: deque[Connection] = deque()

    def submit(self, work: Work, *arguments: object) -> Future[Any]:
        """Begin `work` once a process is free; raises `WorkerDied` after three dead ones."""
        return self._threads.submit(self._do, work, arguments)

    def close(self) -> None:
        """Wait for what is begun, and end the processes."""
        self._threads.shutdown(cancel_futures=True)
        for pipe in self._idle:
            pipe.close()

    def _do(self, work: Work, arguments: tuple[object, ...]) -> Any:
        task = pack_task(work, [arguments])
        for _ in range(ATTEMPTS):
            pipe = self._take()
            try:
                pipe.send(task)
                reply = pipe.recv()
            except (EOFError, OSError):
                pipe.close()
                continue
            except BaseException:
                self._idle.append(pipe)
                raise
            self._idle.append(pipe)
            [(error, result)] = read_outcomes(task, reply)
            if error is not None:
                raise error
            return result
        raise build_death(arguments)

    def _take(self) -> Connection:
        with suppress(IndexError):
            return self._idle.pop()
        return _start_worker()


def _start_worker() -> Connection:
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(_PRELOADED)
    pipe, its_pipe = context.Pipe()
    with _STARTING:
        context.Process(target=_serve, args=(its_pipe,)).start()
    its_pipe.close()
    return pipe


def _serve(pipe: Connection) -> None:
    """Work, in a process of its own, until the pipe's other end is closed."""
    _end_with_parent()
    while True:
        try:
            task = pipe.recv()
        except EOFError:
            return
        pipe.send(perform_task(task))


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
