"""Turns of requests to a model: one pace for each server, and limits over all of them."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from logging import Logger
from time import monotonic
from typing import Any, NamedTuple

from resources.models.adaptive_concurrency import AdaptiveConcurrency
from resources.models.backends.servers import Server, Servers
from resources.models.catalog import Model

OVERLOAD_PAUSE_S = 1.0
"""Pause of one of several servers that is overloaded and does not say for how long."""


class Turn(NamedTuple):
    """A request's turn: the backend that takes it, its pace, and when it began."""

    backend: Any
    pace: AdaptiveConcurrency
    began: float


class Turns:
    """The pace of a model in one round of requests.

    Concurrency and limits per minute are those of its entry. Each of several servers has a pace
    of its own below them, so that one that is overloaded slows down alone.
    """

    def __init__(self, model: Model, log: Logger) -> None:
        self._log, self._concurrency = log, model.concurrency
        self._total = AdaptiveConcurrency(
            model.concurrency, model.requests_per_minute, model.tokens_per_minute
        )
        self._paces: dict[Server, AdaptiveConcurrency] = {}

    @asynccontextmanager
    async def take(self, backend: Any) -> AsyncIterator[Turn]:
        """Wait for a turn and hold it, at the server with the fewest requests on their way."""
        async with self._total.slot() as began:
            if not isinstance(backend, Servers):
                yield Turn(backend, self._total, began)
                return
            server = self._choose(backend)
            pace = self._paces[server]
            async with backend.track(server, self._log), pace.slot() as began_there:
                yield Turn(server.backend, pace, began_there)

    def record_success(self, turn: Turn, tokens: int | None) -> None:
        """An answer came: allow a little more at once, and book its tokens."""
        self._total.record_success(tokens)
        if turn.pace is not self._total:
            turn.pace.record_success(tokens)

    def record_overload(self, turn: Turn, retry_after: float | None) -> float:
        """Halve the concurrency of who refused a turn; returns when anything may be sent again."""
        if turn.pace is self._total:
            return turn.pace.record_overload(turn.began, retry_after)
        turn.pace.record_overload(
            turn.began, OVERLOAD_PAUSE_S if retry_after is None else retry_after
        )
        return min(pace.paused_until for pace in self._paces.values())

    async def sleep(self, seconds: float) -> None:
        """Wait so long, or until the end."""
        await self._total.sleep(seconds)

    def stop(self) -> None:
        """Let all who wait go on at once: nothing more is to be sent."""
        for pace in (self._total, *self._paces.values()):
            pace.stop()

    def _choose(self, backend: Servers) -> Server:
        for server in backend.servers:
            self._paces.setdefault(server, AdaptiveConcurrency(self._concurrency))
        ready = [
            server for server in backend.servers if self._paces[server].paused_until <= monotonic()
        ]
        return backend.choose([server for server in ready if not server.is_out] or backend.servers)
