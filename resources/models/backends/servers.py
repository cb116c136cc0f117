"""Several servers of one model, each with a client of its own."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from logging import Logger
from typing import Any

from resources.models.backends.base import PictureLoader
from resources.models.catalog import Model
from resources.models.replies import Interrupted, ModelReply, Overloaded, RequestFault
from resources.models.requests import LookRequest, WriteRequest

FAILURES_IN_A_ROW = 3
"""Failed requests in a row after which a server that takes connections is left out."""
FIRST_CHECK_S, MAX_CHECK_S = 1.0, 30.0
"""First and longest interval at which a server that is left out is asked for its models."""


@dataclass(slots=True, eq=False)
class Server:
    """A server: its client, the requests on their way to it, and whether it is left out."""

    url: str
    backend: Any
    request_count: int = 0
    failures_in_a_row: int = 0
    is_out: bool = False


class Servers:
    """A model that several servers have, each asked through a client of its own.

    The server with the fewest requests on their way gets the next one. One that takes no
    connection, or fails repeatedly, is left out until it lists its models again. What it failed to
    answer is sent again by the caller, to another. While all are left out, requests go to them as
    if none was, and fail with the errors of the servers.
    """

    def __init__(self, model: Model, key: str | None, picture: PictureLoader) -> None:
        from resources.models.backends import build_backend  # noqa: PLC0415 - it knows this module

        self.servers = [
            Server(url, build_backend(model.model_copy(update={"base_url": url}), key, picture))
            for url in model.base_urls
        ]
        self._checks: set[asyncio.Task[None]] = set()

    async def write(self, request: WriteRequest | LookRequest) -> ModelReply:
        """Write text, or look, by the server with the fewest requests on their way."""
        reply: ModelReply = await self.choose(self.servers).backend.write(request)
        return reply

    look = write

    def choose(self, servers: Sequence[Server]) -> Server:
        """The server with the fewest requests on their way, of those that are not left out."""
        answering = [server for server in servers if not server.is_out]
        return min(answering or servers, key=lambda server: server.request_count)

    @asynccontextmanager
    async def track(self, server: Server, log: Logger) -> AsyncIterator[None]:
        """Count a request to a server; leave the server out where the request shows it is gone."""
        server.request_count += 1
        try:
            yield
        except (Interrupted, TimeoutError) as error:
            self._record_failure(server, error, log)
            raise
        else:
            server.failures_in_a_row = 0
        finally:
            server.request_count -= 1

    async def aclose(self) -> None:
        """Close the connections to all servers."""
        for check in self._checks:
            check.cancel()
        for server in self.servers:
            await server.backend.aclose()

    def _record_failure(
        self, server: Server, error: Interrupted | TimeoutError, log: Logger
    ) -> None:
        server.failures_in_a_row += 1
        is_unreachable = isinstance(error, Interrupted) and error.is_unreachable
        if server.is_out or not (is_unreachable or server.failures_in_a_row >= FAILURES_IN_A_ROW):
            return
        server.is_out = True
        log.warning("%s is left out until it answers again: %s", server.url, error or "no reply")
        check = asyncio.create_task(self._take_back(server, log))
        self._checks.add(check)
        check.add_done_callback(self._checks.discard)

    async def _take_back(self, server: Server, log: Logger) -> None:
        """Take a server back once it answers; its next failure leaves it out again."""
        interval_s = FIRST_CHECK_S
        while server.is_out:
            await asyncio.sleep(interval_s)
            interval_s = min(2 * interval_s, MAX_CHECK_S)
            server.is_out = not await _answers(server)
        server.failures_in_a_row = FAILURES_IN_A_ROW - 1
        log.info("%s answers again.", server.url)


async def _answers(server: Server) -> bool:
    """Return whether a server answers a question that costs nothing, be it with an error."""
    try:
        async with asyncio.timeout(MAX_CHECK_S):
            await server.backend.list_models()
    except (Interrupted, Overloaded, TimeoutError):
        return False
    except RequestFault:
        return True
    return True
