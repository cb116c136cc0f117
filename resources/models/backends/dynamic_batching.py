"""A thread per model: concurrent requests share a batch."""

import asyncio
from collections.abc import Callable, Hashable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeVar

from resources.models.replies import UnacceptableRequest

_GATHER_S = 0.01

Item = TypeVar("Item")
Result = TypeVar("Result")

BatchFunction = Callable[[list[Item]], list[Result]]


class BatchStages(NamedTuple):
    """Work on a batch in three stages, of which the model's thread does the second alone.

    `prepare` makes the model's inputs of the items, `run` its raw outputs, `finish` a result for
    each item. Preparing and finishing share a thread of their own, so that what they use, such as
    a tokenizer, need not be safe for threads.
    """

    prepare: Callable[[list[Any]], Any] | None
    run: Callable[[Any], Any]
    finish: Callable[[Any], Sequence[Any]] | None


@dataclass(frozen=True, slots=True, eq=False)
class _Waiting:
    stages: BatchStages
    item: Any
    at_once: int
    alike: Hashable
    length: int
    done: asyncio.Future[Any]


class DynamicBatcher:
    """Does work in a thread of its own, several items at once, while the event loop stays free.

    The item that has waited longest is always in the next batch, and takes with it, of those that
    are asked for the same work and are `alike`, those nearest to it in `length`, `at_once` at most.
    While the model works on a batch, the next one is prepared, and the one before it finished.
    """

    def __init__(self) -> None:
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="model")
        self._beside = ThreadPoolExecutor(1, thread_name_prefix="beside the model")
        self._waiting: list[_Waiting] = []
        self._serving: asyncio.Task[None] | None = None
        self._running: set[asyncio.Task[None]] = set()
        self._model_free = asyncio.Lock()

    async def ask(
        self,
        work: BatchFunction[Item, Result] | BatchStages,
        item: Item,
        *,
        at_once: int = 1,
        alike: Hashable = None,
        length: int = 0,
    ) -> Result:
        """The result of `work` for this item.

        Of several items whose work raises `UnacceptableRequest`, each is done once more alone, so
        that one that cannot be done spoils no other. What else is raised reaches all of them.
        """
        future: asyncio.Future[Result] = asyncio.get_running_loop().create_future()
        stages = work if isinstance(work, BatchStages) else BatchStages(None, work, None)
        self._waiting.append(
            _Waiting(
                stages=stages,
                item=item,
                at_once=at_once,
                alike=alike,
                length=length,
                done=future,
            )
        )
        if self._serving is None or self._serving.done():
            if not self._running:
                self._model_free = asyncio.Lock()
            self._serving = asyncio.create_task(self._serve())
        return await future

    async def aclose(self) -> None:
        """End the threads, once they have finished what they are doing."""
        await asyncio.to_thread(self._thread.shutdown)
        await asyncio.to_thread(self._beside.shutdown)

    async def _serve(self) -> None:
        while self._waiting:
            if len(self._waiting) < self._waiting[0].at_once:
                await asyncio.sleep(_GATHER_S)
            if not self._may_prepare_ahead():
                # Until the model is free, more may come that goes along.
                async with self._model_free:
                    pass
            # Who was cancelled meanwhile, or waited in an event loop that has ended, is not served.
            self._waiting = [waiting for waiting in self._waiting if not waiting.done.done()]
            if self._waiting:
                batch = self._take()
                inputs = await self._prepare(batch)
                await self._model_free.acquire()
                running = asyncio.create_task(self._do(batch, inputs))
                self._running.add(running)
                running.add_done_callback(self._running.discard)

    def _may_prepare_ahead(self) -> bool:
        """Return whether the next batch is full, and has something to prepare."""
        first = self._waiting[0]
        return first.stages.prepare is not None and len(self._list_alike(first)) >= first.at_once

    def _list_alike(self, first: _Waiting) -> list[_Waiting]:
        return [
            waiting
            for waiting in self._waiting
            if (waiting.stages, waiting.alike) == (first.stages, first.alike)
        ]

    def _take(self) -> list[_Waiting]:
        first = self._waiting[0]
        nearest = sorted(
            self._list_alike(first), key=lambda waiting: abs(waiting.length - first.length)
        )
        # The first is as near to itself as others may be, and came before them.
        batch = nearest[: first.at_once]
        self._waiting = [waiting for waiting in self._waiting if waiting not in batch]
        return batch

    async def _prepare(self, batch: list[_Waiting]) -> Any:
        """The inputs of a batch, or the error that preparing them raised."""
        items, prepare = [waiting.item for waiting in batch], batch[0].stages.prepare
        return items if prepare is None else await _call(self._beside, prepare, items)

    async def _do(self, batch: list[_Waiting], inputs: Any) -> None:
        try:
            outputs = await self._run(batch, inputs)
        finally:
            self._model_free.release()
        for part, output in outputs:
            finish, results = part[0].stages.finish, output
            if finish is not None and not isinstance(output, Exception):
                results = await _call(self._beside, finish, output)
            _deliver(part, results)

    async def _run(self, batch: list[_Waiting], inputs: Any) -> list[tuple[list[_Waiting], Any]]:
        """Run the model: its output, or an error, for the batch or for each of it alone."""
        output = inputs
        if not isinstance(inputs, Exception):
            output = await _call(self._thread, batch[0].stages.run, inputs)
        if not isinstance(output, UnacceptableRequest) or len(batch) == 1:
            return [(batch, output)]
        return [
            pair
            for waiting in batch
            for pair in await self._run([waiting], await self._prepare([waiting]))
        ]


async def _call(thread: ThreadPoolExecutor, work: Callable[[Any], Any], argument: Any) -> Any:
    """What `work` gives in that thread, or the error that it raises."""
    running = asyncio.get_running_loop().run_in_executor(thread, work, argument)
    await asyncio.wait([running])
    return running.exception() or running.result()


def _deliver(batch: list[_Waiting], results: Sequence[Any] | Exception) -> None:
    for place, waiting in enumerate(batch):
        if waiting.done.done():
            continue
        if isinstance(results, Exception):
            waiting.done.set_exception(results)
        else:
            waiting.done.set_result(results[place])
