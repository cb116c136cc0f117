"""A local model on several devices: a process for each, shared by runs."""

import asyncio
import fcntl
import multiprocessing
import os
import signal
import tempfile
from collections import Counter
from collections.abc import Callable, Mapping
from contextlib import suppress
from hashlib import sha256
from logging import Logger
from multiprocessing.connection import Connection
from pathlib import Path
from threading import Thread
from typing import IO, Any

from resources.models.backends.base import PictureLoader
from resources.models.catalog import Model
from resources.models.pricing import list_images
from resources.models.replies import Interrupted, ModelReply, RequestFault
from resources.models.requests import Request, get_request_kind

POLL_INTERVAL_S = 0.5
"""Interval at which a run looks for a free device."""


class Devices:
    """A backend of which a process of its own works on each device.

    A run takes every device that is free, and keeps one at least; while another run waits for its
    first, it gives up the others one by one, each once what was on its way there is answered. Who
    waits for a process that is killed gets `Interrupted`, and another takes its place.
    """

    def __init__(self, model: Model, key: str | None, picture: PictureLoader) -> None:
        self._model, self._key, self._picture = model, key, picture
        self._workers: list[_Worker] = []
        self._changed = asyncio.Condition()
        self._tending: asyncio.Task[None] | None = None
        self._waiting: IO[bytes] | None = None

    async def ready(self, log: Logger) -> None:
        """Wait until a device is free."""
        self._take()
        if not self._workers:
            log.info("Other runs use all devices of %s: waiting for one.", self._model.name)
        while not self._workers:
            await asyncio.sleep(POLL_INTERVAL_S)
            self._take()
        if self._tending is None:
            self._tending = asyncio.create_task(self._tend())

    async def ask(self, request: Request) -> ModelReply:
        """The reply to a request, from the device with the fewest on their way to it."""
        shown = {
            name: await asyncio.to_thread(self._picture, name) for name in list_images(request)
        }
        async with self._changed:
            await self._changed.wait_for(lambda: any(worker.has_room for worker in self._workers))
            with_room = [worker for worker in self._workers if worker.has_room]
            answering = min(with_room, key=lambda worker: worker.request_count).ask(request, shown)
        try:
            return await answering
        finally:
            async with self._changed:
                self._changed.notify_all()

    paint = edit = look = write = score = ask

    async def aclose(self) -> None:
        """End all processes, and leave the devices to others."""
        if self._tending is not None:
            self._tending.cancel()
        for worker in self._workers:
            await asyncio.to_thread(worker.close)
        self._workers.clear()

    async def _tend(self) -> None:
        while True:
            await asyncio.sleep(POLL_INTERVAL_S)
            for worker in [worker for worker in self._workers if worker.is_over]:
                self._workers.remove(worker)
                await asyncio.to_thread(worker.close)
            self._take()
            async with self._changed:
                self._changed.notify_all()
            remaining = [worker for worker in self._workers if worker.takes_more]
            if len(remaining) > 1 and self._others_wait():
                remaining[-1].retire()

    def _take(self) -> None:
        """Take what is free, unless another run has nothing yet; wait in sight of the others."""
        if self._workers and self._others_wait():
            return
        device_counts = Counter[str]()
        for device in self._model.devices:
            device_counts[device] += 1
            lease = _lock(self._file(f"{device} {device_counts[device]}"), fcntl.LOCK_EX)
            if lease is not None:
                self._start(device, lease)
        if not self._workers and self._waiting is None:
            self._waiting = _lock(self._file("waiting"), fcntl.LOCK_SH)
        elif self._workers and self._waiting is not None:
            self._waiting.close()
            self._waiting = None

    def _start(self, device: str, lease: IO[bytes]) -> None:
        max_requests = self._model.requests_per_device
        self._workers.append(_Worker(self._model.on_device(device), self._key, lease, max_requests))

    def _others_wait(self) -> bool:
        free = _lock(self._file("waiting"), fcntl.LOCK_EX)
        if free is not None:
            free.close()
        return free is None

    def _file(self, purpose: str) -> Path:
        """Build the path that all runs of this model on this machine lock."""
        named = sha256(f"{self._model.name} {purpose}".encode()).hexdigest()
        return Path(tempfile.gettempdir(), f"counterfactory-{os.getuid()}", named)


class _Worker:
    """A process that paints on one device; the lease is on the device for as long as it does."""

    def __init__(self, model: Model, key: str | None, lease: IO[bytes], max_requests: int) -> None:
        self._model, self._lease, self._max_requests = model, lease, max_requests
        self._loop = asyncio.get_running_loop()
        self._pending: dict[int, asyncio.Future[ModelReply]] = {}
        self._count, self._ended, self._retired = 0, False, False
        context = multiprocessing.get_context("spawn")
        self._pipe, theirs = context.Pipe()
        self._process = context.Process(target=_serve, args=(model, key, theirs), daemon=True)
        self._process.start()
        theirs.close()
        Thread(target=self._listen, daemon=True).start()

    @property
    def takes_more(self) -> bool:
        return not (self._ended or self._retired)

    @property
    def request_count(self) -> int:
        """Requests on their way."""
        return len(self._pending)

    @property
    def has_room(self) -> bool:
        """True while another request may wait here: the batches after the one worked on."""
        return self.takes_more and self.request_count < self._max_requests

    @property
    def is_over(self) -> bool:
        """True once no request is under way on this device and none will come."""
        return self._ended or (self._retired and not self._pending)

    def retire(self) -> None:
        """Take nothing more."""
        self._retired = True

    def ask(self, request: Request, shown: Mapping[str, bytes]) -> asyncio.Future[ModelReply]:
        """Send a request with the pictures that it shows; the reply comes later."""
        self._count += 1
        number = self._count
        reply = self._pending[number] = self._loop.create_future()
        reply.add_done_callback(lambda _: self._pending.pop(number))
        with suppress(OSError):  # It has ended: whoever listens says so to all.
            self._pipe.send((number, request, shown))
        return reply

    def close(self) -> None:
        """End the process, and free its device."""
        self._process.kill()
        self._process.join()
        self._lease.close()

    def _listen(self) -> None:
        """Hand on what comes, in a thread of its own, until the process has ended."""
        say: Callable[..., Any] = self._loop.call_soon_threadsafe
        with suppress(RuntimeError):  # The loop has ended: nobody waits.
            try:
                while True:
                    say(self._deliver, *self._pipe.recv())
            except (EOFError, OSError):
                self._process.join()
                say(self._end)

    def _deliver(self, number: int, reply: ModelReply | Exception) -> None:
        future = self._pending.get(number)
        if future is None or future.done():
            return
        if isinstance(reply, Exception):
            future.set_exception(reply)
        else:
            future.set_result(reply)

    def _end(self) -> None:
        self._ended = True
        device, code = self._model.parameters["device"], self._process.exitcode
        for number in [*self._pending]:
            self._deliver(
                number,
                Interrupted(
                    f"The process of {self._model.name} on {device} was ended (exit code {code}): "
                    "often memory ran out, or somebody killed it.",
                    possibly_paid=False,
                ),
            )


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


def _serve(model: Model, key: str | None, pipe: Connection) -> None:
    """Answer, in a process of its own, until the pipe's other end is closed.

    Ctrl-C on a terminal reaches it as well; what is in flight is still answered.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    asyncio.run(_serve_requests(model, key, pipe))


async def _serve_requests(model: Model, key: str | None, pipe: Connection) -> None:
    from resources.models.backends import build_backend  # noqa: PLC0415 - it knows of this module

    shown: dict[int, Mapping[str, bytes]] = {}
    """Pictures of each request under way."""

    def find_picture(name: str) -> bytes:
        return next(pictures[name] for pictures in [*shown.values()] if name in pictures)

    backend = build_backend(model, key, find_picture)

    async def answer(number: int, request: Request) -> None:
        try:
            reply = await getattr(backend, get_request_kind(request))(request)
        except RequestFault as fault:
            reply = fault
        except Exception as error:  # noqa: BLE001 - who asked is told, in whichever class
            reply = RuntimeError(f"{type(error).__name__}: {error}")
        del shown[number]
        pipe.send((number, reply))

    answering = set()
    while True:
        try:
            number, request, pictures = await asyncio.to_thread(pipe.recv)
        except EOFError:
            os._exit(0)  # Whatever is being answered, nobody waits for it.
        shown[number] = pictures
        task = asyncio.create_task(answer(number, request))
        answering.add(task)
        task.add_done_callback(answering.discard)
