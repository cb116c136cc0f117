"""The inside of a device's worker: a service that is built once, and then asked."""

import pickle
from collections.abc import Awaitable, Callable
from typing import Any, Protocol

from resources.execution.worker_tasks import Reply, WorkerTask, find_other_code
from resources.models.replies import RequestFault


class Service(Protocol):
    """A model on one device."""

    @property
    def answer(self) -> Callable[..., Awaitable[Any]]:
        """Answers one request; several may be under way."""


class ServiceHost:
    """Builds the service of a task when it is first asked, and answers for it.

    A worker with other code than the task is for answers with its own code alone.
    """

    def __init__(self, task: WorkerTask) -> None:
        self._task = task
        self._other_code = find_other_code(task)
        self._service: Service | None = None

    async def answer(self, arguments: tuple[Any, ...]) -> Reply:
        """The outcome of one request."""
        if self._other_code is not None:
            return self._other_code
        try:
            return [(None, await self._build().answer(*arguments))]
        except RequestFault as fault:
            return [(fault, None)]
        except Exception as error:  # noqa: BLE001 - raised where the answer is awaited
            # Its class may be unknown there, or hold what cannot be sent.
            return [(RuntimeError(f"{type(error).__name__}: {error}"), None)]

    def _build(self) -> Service:
        if self._service is None:
            build, [arguments] = pickle.loads(self._task.payload)
            self._service = build(*arguments)
        return self._service
