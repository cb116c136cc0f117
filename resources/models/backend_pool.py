"""Backends of models, each made once, on an event loop of their own."""

import asyncio
from collections.abc import Callable, Coroutine
from concurrent.futures import Future, wait
from contextlib import ExitStack
from threading import Thread
from time import monotonic
from typing import Any, TypeVar

from dagster import EnvVar

from resources.faults import KeyNotSet, RequestsStopped
from resources.models.backends import build_backend
from resources.models.backends.base import PictureLoader
from resources.models.catalog import Model
from resources.models.replies import ModelUnavailable

Result = TypeVar("Result")

SAME_INTERRUPT_S = 1.0
"""Time within which one press of Ctrl-C reaches a step twice: directly and through its run."""


class EventLoopThread:
    """Runs coroutines, in a thread of its own, for a thread that waits for them.

    Dagster ends a run by an exception out of a signal's handler, which Python raises in the main
    thread, wherever that is. Inside of an event loop it would end whichever task was running, or
    be logged and forgotten.
    """

    def __init__(self) -> None:
        self._loop = asyncio.new_event_loop()
        self._thread = Thread(target=self._loop.run_forever, name="models", daemon=True)
        self._thread.start()

    def run(
        self, work: Coroutine[Any, Any, Result], stop: Callable[[], None] | None = None
    ) -> Result:
        """Run `work` to its end and return its result.

        An interrupt calls `stop` in the loop, waits until `work` has ended, and is raised then. A
        later interrupt, or the first one without `stop`, cancels all work.
        """
        running = self.submit(work)
        try:
            return running.result()
        except BaseException:
            if not running.done() and stop is not None:
                self._loop.call_soon_threadsafe(stop)
                _wait_through_repeats(running)
            raise
        finally:
            if not running.done():
                self._end_all()

    def submit(self, work: Coroutine[Any, Any, Result]) -> Future[Result]:
        """Begin `work`."""
        return asyncio.run_coroutine_threadsafe(work, self._loop)

    def close(self) -> None:
        """Cancel what still runs, and end the thread."""
        self._end_all()
        self.run(self._loop.shutdown_default_executor())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    def _end_all(self) -> None:
        asyncio.run_coroutine_threadsafe(_end_others(), self._loop).result()


def _wait_through_repeats(running: "Future[Any]") -> None:
    """Wait for the end of work; raise an interrupt that is no repeat of the one before."""
    interrupted_at = monotonic()
    while not running.done():
        try:
            wait([running])
        except BaseException:
            if monotonic() - interrupted_at > SAME_INTERRUPT_S:
                raise


async def _end_others() -> None:
    others = asyncio.all_tasks() - {asyncio.current_task()}
    for task in others:
        task.cancel()
    await asyncio.gather(*others, return_exceptions=True)


class BackendPool:
    """Backends by the entry of their model; loop and connections open with the first use."""

    def __init__(self) -> None:
        self._loop: EventLoopThread | None = None
        self._backends: dict[str, Any] = {}

    def get_backend(self, model: Model, picture: PictureLoader) -> Any:
        """The backend of a model.

        Raises `KeyNotSet`, or `RequestsStopped` where none can be made.
        """
        entry, key = model.model_dump_json(), load_api_key(model)
        if entry not in self._backends:
            try:
                self._backends[entry] = build_backend(model, key, picture)
            except ModelUnavailable as fault:
                raise RequestsStopped(
                    f"{model.name} cannot be asked: {fault} Nothing was sent.", str(fault)
                ) from None
        return self._backends[entry]

    def run(self, work: Coroutine[Any, Any, Result]) -> Result:
        """Run `work`, which uses a backend, and return its result."""
        return self.start().run(work)

    def start(self) -> EventLoopThread:
        """The loop, running: for several threads, to be called by one at a time."""
        self._loop = self._loop or EventLoopThread()
        return self._loop

    def close(self) -> None:
        """Close connections, let go of local models, and end the loop."""
        loop, self._loop = self._loop, None
        backends, self._backends = self._backends, {}
        if loop is not None:
            with ExitStack() as closing:
                closing.callback(loop.close)
                for backend in backends.values():
                    # One that fails, or is interrupted, keeps none of the others open.
                    closing.callback(_close, loop, backend)


def _close(loop: EventLoopThread, backend: Any) -> None:
    loop.run(backend.aclose())


def load_api_key(model: Model) -> str | None:
    """The model's API key from the environment, None where it needs none. Raises `KeyNotSet`."""
    if model.key_variable is None:
        return None
    value = (EnvVar(model.key_variable).get_value() or "").strip()
    if not value:
        raise KeyNotSet(
            f"The environment variable {model.key_variable} is not set, in which {model.name} "
            "looks for its API key. Set it, or add this line to .env beside workspace.yaml, start "
            f"Dagster again and materialize again:\n    {model.key_variable}=…\nNothing was sent."
        )
    return value
