"""The providers' side: backends that take batches, and how they are called from here."""

import asyncio
from collections.abc import Awaitable, Coroutine
from types import TracebackType
from typing import Any, NoReturn, Self, TypeVar

from resources.calls.batches import Batch
from resources.faults import CannotDo, Stopped
from resources.images import ImageStore
from resources.models.backends import backend_of
from resources.models.backends.base import BatchBackend
from resources.models.catalog import Model
from resources.models.client import key_of
from resources.models.event_loop import EventLoopThread
from resources.models.replies import Closed, Fault, Interrupted

ANSWER_S = 60.0
"""Seconds that a provider has to answer a question about a batch."""

Result = TypeVar("Result")


class Providers:
    """Backends of models that take batches, each made once, on an event loop of their own.

    with Providers(images) as providers:
        providers.run(providers.of(model).state(batch))
    """

    def __init__(self, images: ImageStore) -> None:
        self.images = images
        self._loop: EventLoopThread | None = None
        self._backends: dict[str, Any] = {}

    def of(self, model: Model) -> BatchBackend:
        """The backend of a model.

        Raises `KeyNotSet`, `Stopped` where the provider cannot be asked at all, and `CannotDo`
        where it takes no batches.
        """
        entry = model.model_dump_json()
        if entry not in self._backends:
            try:
                self._backends[entry] = backend_of(model, key_of(model), self.images.get)
            except Closed as fault:
                raise Stopped(f"{model.name} cannot be asked: {fault} Nothing was sent.") from None
        if not hasattr(self._backends[entry], "submit"):
            raise CannotDo(
                f"{model.name} takes no batches: the backend {model.backend} offers none. "
                "Materialize its assets instead, which asks it request by request."
            )
        backend: BatchBackend = self._backends[entry]
        return backend

    def run(self, work: Coroutine[Any, Any, Result]) -> Result:
        """What `work` with a backend returns."""
        self._loop = self._loop or EventLoopThread()
        return self._loop.run(work)

    def close(self) -> None:
        """Close connections and the loop."""
        loop, self._loop = self._loop, None
        backends, self._backends = self._backends, {}
        if loop is not None:
            try:
                for backend in backends.values():
                    loop.run(backend.aclose())
            finally:
                loop.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()


def model_of(batch: Batch) -> Model:
    """The model of a batch, as its entry in models.yaml was when the batch was submitted."""
    return Model.model_validate_json(batch.entry)


async def in_time(work: Awaitable[Result], seconds: float = ANSWER_S) -> Result:
    """What `work` comes to; `Interrupted` where it takes longer."""
    try:
        async with asyncio.timeout(seconds):
            return await work
    except TimeoutError:
        raise Interrupted(f"The provider did not answer within {seconds:.0f} s.") from None


def stopped(batch: Batch, what: str, fault: Fault, remedy: str) -> NoReturn:
    """Raise what a provider's fault means to whom a batch matters."""
    raise Stopped(
        f"The batch {batch.tag} of {batch.model} could not be {what}: {fault} {remedy}"
    ) from None
