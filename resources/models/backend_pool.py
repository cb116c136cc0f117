"""Backends of models, each made once, on an event loop of their own."""

from collections.abc import Coroutine
from typing import Any, TypeVar

from dagster import EnvVar

from resources.faults import KeyNotSet, Stopped
from resources.models.backends import backend_of
from resources.models.backends.base import PictureOf
from resources.models.catalog import Model
from resources.models.event_loop import EventLoopThread
from resources.models.replies import Closed

Result = TypeVar("Result")


class BackendPool:
    """Backends by the entry of their model; loop and connections open with the first use."""

    def __init__(self) -> None:
        self._loop: EventLoopThread | None = None
        self._backends: dict[str, Any] = {}

    def of(self, model: Model, picture: PictureOf) -> Any:
        """The backend of a model; raises `KeyNotSet`, or `Stopped` where none can be made."""
        entry, key = model.model_dump_json(), key_of(model)
        if entry not in self._backends:
            try:
                self._backends[entry] = backend_of(model, key, picture)
            except Closed as fault:
                raise Stopped(f"{model.name} cannot be asked: {fault} Nothing was sent.") from None
        return self._backends[entry]

    def run(self, work: Coroutine[Any, Any, Result]) -> Result:
        """What `work` with a backend returns."""
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
            try:
                for backend in backends.values():
                    loop.run(backend.aclose())
            finally:
                loop.close()


def key_of(model: Model) -> str | None:
    """The model's API key from the environment, None where it needs none. Raises `KeyNotSet`."""
    if model.key_variable is None:
        return None
    value = (EnvVar(model.key_variable).get_value() or "").strip()
    if not value:
        raise KeyNotSet(
            f"The environment variable {model.key_variable} is not set, in which {model.name} "
            "looks for its API key. Set it, or write it into .env beside workspace.yaml, start "
            "Dagster again and materialize again. Nothing was sent."
        )
    return value
