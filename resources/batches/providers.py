"""The providers' side: backends that take batches, and how they are called from here."""

import asyncio
from collections.abc import Awaitable
from typing import NoReturn, Self, TypeVar

from resources.calls.batch_rows import Batch
from resources.faults import RequestsStopped, UnsupportedRequest
from resources.models.backend_pool import BackendPool
from resources.models.backends.base import BatchBackend
from resources.models.catalog import Model
from resources.models.replies import Interrupted, RequestFault
from resources.storage.image_store import ImageStore

ANSWER_S = 60.0
"""Seconds that a provider has to answer a question about a batch."""

Result = TypeVar("Result")


class BatchProviders(BackendPool):
    """A pool of backends that take batches.

    with Providers(images) as providers:
        providers.run(providers.taking_batches(model).state(batch))
    """

    def __init__(self, images: ImageStore) -> None:
        super().__init__()
        self.images = images

    def get_batch_backend(self, model: Model) -> BatchBackend:
        """The backend of a model.

        Raises as `of` does, and `UnsupportedRequest` where it takes no batches.
        """
        backend: BatchBackend = self.get_backend(model, self.images.get)
        if not hasattr(backend, "submit"):
            raise UnsupportedRequest(
                f"{model.name} takes no batches: the backend {model.backend} offers none. "
                "Materialize its assets instead, which asks it request by request."
            )
        return backend

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def load_batch_model(batch: Batch) -> Model:
    """The model of a batch, as its entry in models.yaml was when the batch was submitted."""
    return Model.model_validate_json(batch.entry)


async def await_with_timeout(work: Awaitable[Result], seconds: float = ANSWER_S) -> Result:
    """Await `work`; raises `Interrupted` where it takes longer."""
    try:
        async with asyncio.timeout(seconds):
            return await work
    except TimeoutError:
        raise Interrupted(f"The provider did not answer within {seconds:.0f} s.") from None


def raise_stopped(batch: Batch, action: str, fault: RequestFault, remedy: str) -> NoReturn:
    """Raise `RequestsStopped` for a provider's fault with a batch."""
    raise RequestsStopped(
        f"The batch {batch.tag} of {batch.model} could not be {action}: {fault} {remedy}"
    ) from None
