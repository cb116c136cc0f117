"""Devices of this machine: a process on each, with a lock that all runs of a model share."""

import asyncio
import fcntl
import multiprocessing
import os
import signal
import tempfile
from collections import Counter
from collections.abc import Sequence
from concurrent.futures import Future
from contextlib import suppress
from hashlib import sha256
from itertools import count
from multiprocessing.connection import Connection
from pathlib import Path
from threading import Lock, Thread
from typing import IO, Any

from resources.execution.worker_tasks import Reply, WorkerTask
from resources.models.device_workers.device_worker import (
    BuildTask,
    DeviceWorker,
    DeviceWorkerDied,
)
from resources.models.device_workers.service_host import ServiceHost


class LocalDevices:
    """Devices of this machine for one model, by their names in torch."""

    def __init__(self, model_name: str, devices: Sequence[str]) -> None:
        self._model_name, self._devices = model_name, devices
        self._waiting: IO[bytes] | None = None
        self.shortage = f"Other runs use all devices of {model_name}"

    def take(self, build_task: BuildTask, *, has_device: bool) -> list[DeviceWorker]:
        """Start a process on each device that is free, unless another run has none yet."""
        if has_device and self.do_others_wait():
            return []
        workers: list[DeviceWorker] = []
        device_counts = Counter[str]()
        try:
            for device in self._devices:
                device_counts[device] += 1
                lease = _lock(self._find_file(f"{device} {device_counts[device]}"), fcntl.LOCK_EX)
                if lease is not None:
                    workers.append(DeviceProcess(device, build_task(device), lease))
        except BaseException:
            for worker in workers:
                worker.close()
            raise
        if workers or has_device:
            self.close()
        elif self._waiting is None:
            self._waiting = _lock(self._find_file("waiting"), fcntl.LOCK_SH)
        return workers

    def do_others_wait(self) -> bool:
        """Return whether another run waits for its first device."""
        free = _lock(self._find_file("waiting"), fcntl.LOCK_EX)
        if free is not None:
            free.close()
        return free is None

    def close(self) -> None:
        """Wait for nothing any more."""
        if self._waiting is not None:
            self._waiting.close()
            self._waiting = None

    def _find_file(self, purpose: str) -> Path:
        """Build the path that all runs of this model on this machine lock."""
        name = sha256(f"{self._model_name} {purpose}".encode()).hexdigest()
        return Path(tempfile.gettempdir(), f"counterfactory-{os.getuid()}", name)


class DeviceProcess:
    """A process with a `ServiceHost` on one device, whose lease ends with it."""

    def __init__(self, device: str, task: WorkerTask, lease: IO[bytes]) -> None:
        self.device, self._lease = device, lease
        self._numbers = count()
        self._changing = Lock()
        self._pending: dict[int, Future[Reply]] = {}
        self._death: DeviceWorkerDied | None = None
        context = multiprocessing.get_context("spawn")
        self._pipe, its_pipe = context.Pipe()
        self._process = context.Process(target=serve, args=(task, its_pipe), daemon=True)
        self._process.start()
        its_pipe.close()
        Thread(target=self._listen, daemon=True).start()

    @property
    def pid(self) -> int | None:
        """The number of the process."""
        return self._process.pid

    def ask(self, arguments: tuple[Any, ...]) -> Future[Reply]:
        """Send a request; the future raises `DeviceWorkerDied` where the process has ended."""
        future = Future[Reply]()
        with self._changing:
            if self._death is not None:
                future.set_exception(self._death)
                return future
            number = next(self._numbers)
            self._pending[number] = future
            with suppress(OSError):  # It has ended, which `_listen` tells all.
                self._pipe.send((number, arguments))
        return future

    def close(self) -> None:
        """End the process, and free its device."""
        self._process.kill()
        self._process.join()
        self._lease.close()

    def _listen(self) -> None:
        """Hand on replies, in a thread of its own, until the process has ended."""
        try:
            while True:
                number, reply = self._pipe.recv()
                future = self._pending.pop(number)
                if future.set_running_or_notify_cancel():
                    future.set_result(reply)
        except (EOFError, OSError):
            self._process.join()
        death = DeviceWorkerDied(f"on {self.device}, exit code {self._process.exitcode}")
        with self._changing:
            self._death, pending = death, [*self._pending.values()]
        for future in pending:
            if future.set_running_or_notify_cancel():
                future.set_exception(death)


def _lock(path: Path, how: int) -> IO[bytes] | None:
    """An open file with that lock on it, None where another has it; the system frees it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    file = path.open("ab")
    try:
        fcntl.flock(file, how | fcntl.LOCK_NB)
    except BlockingIOError:
        file.close()
        return None
    return file


def serve(task: WorkerTask, pipe: Connection) -> None:
    """Answer, in a process of its own, until the pipe's other end is closed.

    Ctrl-C on a terminal reaches it as well; what is in flight is still answered.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    asyncio.run(_serve_requests(ServiceHost(task), pipe))


async def _serve_requests(host: ServiceHost, pipe: Connection) -> None:
    async def answer(number: int, arguments: tuple[Any, ...]) -> None:
        pipe.send((number, await host.answer(arguments)))

    answering = set()
    while True:
        try:
            number, arguments = await asyncio.to_thread(pipe.recv)
        except EOFError:
            os._exit(0)  # Whatever is being answered, nobody waits for it.
        task = asyncio.create_task(answer(number, arguments))
        answering.add(task)
        task.add_done_callback(answering.discard)
