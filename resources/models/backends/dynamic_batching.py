"""A thread per model: concurrent requests share a batch."""

import asyncio
from collections.abc import Callable, Hashable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, TypeVar

from resources.models.replies import UnacceptableRequest

_GATHER_S = 0.01

Item = TypeVar("Item")
Result = TypeVar("Result")

BatchFunction = Callable[[list[Item]], list[Result]]


@dataclass(frozen=True, slots=True, eq=False)
class _Waiting:
    work: BatchFunction[Any, Any]
    item: Any
    at_once: int
    alike: Hashable
    done: asyncio.Future[Any]


class DynamicBatcher:
    """Does work in a thread of its own, several items at once, while the event loop stays free.

    Items wait in the order in which they came. The first one takes with it those behind it that
    are asked for the same work and are `alike`, `at_once` at most.
    """

    def __init__(self) -> None:
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="model")
        self._waiting: list[_Waiting] = []
        self._serving: asyncio.Task[None] | None = None

    async def ask(
        self,
        work: BatchFunction[Item, Result],
        item: Item,
        *,
        at_once: int = 1,
        alike: Hashable = None,
    ) -> Result:
        """The result of `work` for this item.

        Of several items whose work raises `UnacceptableRequest`, each is done once more alone, so
        that one that cannot be done spoils no other. What else is raised reaches all of them.
        """
        future: asyncio.Future[Result] = asyncio.get_running_loop().create_future()
        self._waiting.append(
            _Waiting(work=work, item=item, at_once=at_once, alike=alike, done=future)
        )
        if self._serving is None or self._serving.done():
            self._serving = asyncio.create_task(self._serve())
        return await future

    async def aclose(self) -> None:
        """End the thread, once it has finished what it is doing."""
        await asyncio.to_thread(self._thread.shutdown)

    async def _serve(self) -> None:
        while self._waiting:
            if len(self._waiting) < self._waiting[0].at_once:
                await asyncio.sleep(_GATHER_S)
            # Who was cancelled meanwhile, or waited in an event loop that has ended, is not served.
            self._waiting = [waiting for waiting in self._waiting if not waiting.done.done()]
            if self._waiting:
                await self._do(self._take())

    def _take(self) -> list[_Waiting]:
        first = self._waiting[0]
        like = [
            waiting
            for waiting in self._waiting
            if (waiting.work, waiting.alike) == (first.work, first.alike)
        ]
        batch = like[: first.at_once]
        self._waiting = [waiting for waiting in self._waiting if waiting not in batch]
        return batch

    async def _do(self, batch: list[_Waiting]) -> None:
        items = [waiting.item for waiting in batch]
        loop = asyncio.get_running_loop()
        running = loop.run_in_executor(self._thread, batch[0].work, items)
        await asyncio.wait([running])
        error = running.exception()
        if isinstance(error, UnacceptableRequest) and len(batch) > 1:
            for waiting in batch:
                await self._do([waiting])
            return
        for place, waiting in enumerate(batch):
            if waiting.done.done():
                continue
            if error is not None:
                waiting.done.set_exception(error)
            else:
                waiting.done.set_result(running.result()[place])
