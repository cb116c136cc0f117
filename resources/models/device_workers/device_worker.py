"""Protocols of workers on devices, and of the place that they come from."""

from collections.abc import Callable
from concurrent.futures import Future
from typing import Any, Protocol, TypeAlias

from resources.execution.worker_tasks import Reply, WorkerTask

BuildTask: TypeAlias = Callable[[str | None], WorkerTask]
"""Builds the task of holding a model on a device, in torch's words; None where Ray chooses it."""


class DeviceWorkerDied(Exception):
    """The worker of a device ended while it was asked; says where and how."""


class DeviceWorker(Protocol):
    """A process that holds a model on a device, which it has leased for as long as it lives."""

    def ask(self, arguments: tuple[Any, ...]) -> Future[Reply]:
        """Send a request; the future raises `DeviceWorkerDied` where the process has ended."""

    def close(self) -> None:
        """End the process, and free its device."""


class DeviceSource(Protocol):
    """Devices that runs share."""

    shortage: str
    """Says what a run waits for that gets no device."""

    def take(self, build_task: BuildTask, *, has_device: bool) -> list[DeviceWorker]:
        """Start a worker on each device that is free, unless another run has none yet.

        A run without a device waits for its first one in sight of the others.
        """

    def do_others_wait(self) -> bool:
        """Return whether another run waits for its first device."""

    def close(self) -> None:
        """Wait for nothing any more."""
