"""A model on several devices, shared by runs."""

import asyncio
from dataclasses import dataclass, field
from logging import Logger
from typing import Any

from resources.execution.worker_tasks import ATTEMPTS, Reply, read_outcomes
from resources.models.device_workers.device_worker import (
    BuildTask,
    DeviceSource,
    DeviceWorker,
    DeviceWorkerDied,
)
from resources.models.replies import UnacceptableRequest

POLL_INTERVAL_S = 0.5
"""Interval at which a run looks for a free device."""


class DevicePool:
    """Workers of a model, one on each device that this run has.

    A run takes every device that is free, and keeps one at least; while another run waits for its
    first, it gives up the others one by one, each once what was on its way there is answered.

    A dead worker is replaced. What it was asked is asked again, alone: so a request that ends
    three workers is known, and the others that met its deaths are not blamed.
    """

    def __init__(
        self, name: str, source: DeviceSource, build_task: BuildTask, max_requests: int
    ) -> None:
        self._name, self._source, self._build_task = name, source, build_task
        self._max_requests = max_requests
        self._members: list[_Member] = []
        self._suspects = 0
        """Requests that met a death, and wait to be asked alone."""
        self._changed = asyncio.Condition()
        self._taking = asyncio.Lock()
        self._tending: asyncio.Task[None] | None = None
        self._closing = asyncio.Event()
        self._failure: Exception | None = None

    async def ready(self, log: Logger) -> None:
        """Wait until a device is free."""
        await self._take()
        if not self._members:
            log.info("%s: %s waits for one.", self._source.shortage, self._name)
        while not self._members:
            await asyncio.sleep(POLL_INTERVAL_S)
            await self._take()
        if self._tending is None:
            self._tending = asyncio.create_task(self._tend())

    async def ask(self, *arguments: Any) -> Any:
        """The answer to a request, from the device with the fewest on their way to it.

        Raises `UnacceptableRequest` for one that ends three workers, and `OtherCode`.
        """
        death = DeviceWorkerDied()
        for attempt in range(ATTEMPTS):
            member, asking = await self._send(arguments, is_alone=attempt > 0)
            try:
                reply = await asking
            except DeviceWorkerDied as raised:
                death, member.is_dead = raised, True
            else:
                [(error, answer)] = read_outcomes(self._build_task(None), reply)
                if error is not None:
                    raise error
                return answer
            finally:
                async with self._changed:
                    member.pending.discard(asking)
                    member.is_reserved &= bool(member.pending)
                    self._changed.notify_all()
        raise UnacceptableRequest(
            f"This request has ended {ATTEMPTS} workers of {self._name} (the last one {death}): "
            "often memory ran out. Lower `batch` in models.yaml, or take smaller pictures."
        )

    async def aclose(self) -> None:
        """End all workers, and leave the devices to others."""
        self._closing.set()
        if self._tending is not None:
            # Cancelled, it would forget a device that it is taking or freeing just now.
            await asyncio.wait([self._tending])
        async with self._taking:
            await asyncio.to_thread(self._source.close)
        for member in self._members:
            await asyncio.to_thread(member.worker.close)
        self._members.clear()

    async def _send(
        self, arguments: tuple[Any, ...], *, is_alone: bool
    ) -> tuple["_Member", asyncio.Future[Reply]]:
        """Send a request once a device has room; `is_alone` where it is to have one for itself."""
        async with self._changed:
            self._suspects += is_alone
            try:
                while (member := self._find_room(is_alone=is_alone)) is None:
                    await self._changed.wait()
            finally:
                self._suspects -= is_alone
            asking = asyncio.wrap_future(member.worker.ask(arguments))
            member.pending.add(asking)
            member.is_reserved = is_alone
            return member, asking

    def _find_room(self, *, is_alone: bool) -> "_Member | None":
        """Find the device for the next request: the one with the fewest, if it has room.

        While a suspect waits, that one is left to become free. Raises what ended `_tend`.
        """
        if self._failure is not None:
            raise self._failure
        members = sorted(
            (member for member in self._members if member.takes_more),
            key=lambda member: len(member.pending),
        )
        if not is_alone:
            members = members[1 if self._suspects else 0 :]
        most = 1 if is_alone else self._max_requests
        return members[0] if members and len(members[0].pending) < most else None

    async def _tend(self) -> None:
        """Replace dead workers, take what is free, and give up devices for runs without any."""
        try:
            while not await self._closes_within(POLL_INTERVAL_S):
                for member in [member for member in self._members if member.is_over]:
                    self._members.remove(member)
                    await asyncio.to_thread(member.worker.close)
                await self._take()
                async with self._changed:
                    self._changed.notify_all()
                remaining = [member for member in self._members if member.takes_more]
                if len(remaining) > 1 and await asyncio.to_thread(self._source.do_others_wait):
                    remaining[-1].is_retired = True
        except Exception as error:  # noqa: BLE001 - raised where a device is waited for
            self._failure = error
            async with self._changed:
                self._changed.notify_all()

    async def _closes_within(self, seconds: float) -> bool:
        try:
            return await asyncio.wait_for(self._closing.wait(), seconds)
        except TimeoutError:
            return False

    async def _take(self) -> None:
        # Cancelled while devices are taken, a caller leaves them to `aclose`.
        await asyncio.shield(asyncio.create_task(self._take_free()))

    async def _take_free(self) -> None:
        async with self._taking:
            workers = await asyncio.to_thread(
                self._source.take, self._build_task, has_device=bool(self._members)
            )
            self._members += [_Member(worker) for worker in workers]


@dataclass(eq=False, slots=True)
class _Member:
    """A worker of a pool, with the requests on their way to it."""

    worker: DeviceWorker
    pending: set[asyncio.Future[Reply]] = field(default_factory=set)
    is_dead: bool = False
    is_retired: bool = False
    is_reserved: bool = False
    """True while it works on a request alone."""

    @property
    def takes_more(self) -> bool:
        return not (self.is_dead or self.is_retired or self.is_reserved)

    @property
    def is_over(self) -> bool:
        """True once no request is under way on this device and none will come."""
        return self.is_dead or (self.is_retired and not self.pending)
