"""Asking a hosted backend once, over real HTTP, as the client of models does."""

import asyncio
import socket
import traceback
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import contextmanager
from hashlib import sha256
from threading import Thread
from typing import Any

from resources.models.backends import build_backend
from resources.models.catalog import Model
from resources.models.replies import ModelReply, RequestFault
from resources.models.requests import (
    EditRequest,
    LookRequest,
    PaintRequest,
    Request,
    Turn,
    WriteRequest,
    get_request_kind,
)
from tests.providers import pictures

_PATIENCE_S = 120
KEY = "sk-canary-1f60b7c2d94e"
PNG = pictures.png("one")
JPEG = pictures.converted(pictures.png("two"), "jpeg")
WEBP = pictures.converted(pictures.png("three"), "webp")
STORE = {sha256(data).hexdigest(): data for data in (PNG, JPEG, WEBP)}
ONE, TWO, THREE = STORE

LOOK = LookRequest((Turn("user", "How many legs?", (ONE,)),))
WRITE = WriteRequest((Turn("user", "Write."),))
PAINT = PaintRequest("A hen with three legs")
EDIT = EditRequest("Add a leg", (ONE,))


def entry(backend: str, url: str, **fields: Any) -> Model:
    """An entry of models.yaml for a server at `url`."""
    given = {"model": "some-model", "family": "some", "roles": ("judge",), "base_url": url}
    return Model(name="some", backend=backend, **{**given, **fields})


class Asker:
    """Asks hosted backends and keeps them, and their connections, until it is closed."""

    def __init__(self) -> None:
        self._runner = asyncio.Runner()
        self._backends: dict[tuple[str, str | None], Any] = {}

    def ask(
        self, model: Model, request: Request, key: str | None = KEY
    ) -> ModelReply | RequestFault:
        """How a request ends."""
        return self.ask_all(model, [request], key)[0]

    def ask_all(
        self, model: Model, requests: Sequence[Request], key: str | None = KEY
    ) -> list[ModelReply | RequestFault]:
        """How requests end that are sent at once; no fault shows the key or what has it."""
        backend = self._backend(model, key)

        async def all_of_them() -> list[Any]:
            calls = [getattr(backend, get_request_kind(request))(request) for request in requests]
            async with asyncio.timeout(_PATIENCE_S):
                return await asyncio.gather(*calls, return_exceptions=True)

        ends = self._runner.run(all_of_them())
        for end in ends:
            assert KEY not in repr(end)
            if isinstance(end, BaseException):
                if not isinstance(end, RequestFault):
                    raise end
                assert KEY not in "".join(traceback.format_exception(end))
                assert end.__cause__ is None
                assert end.__context__ is None
        return ends

    def use(self, model: Model, use: Callable[[Any], Awaitable[Any]], key: str | None = KEY) -> Any:
        """What a use of a model's backend returns, or raises."""

        async def within_patience() -> Any:
            async with asyncio.timeout(_PATIENCE_S):
                return await use(self._backend(model, key))

        return self._runner.run(within_patience())

    def _backend(self, model: Model, key: str | None) -> Any:
        kept = (model.model_dump_json(), key)
        if kept not in self._backends:
            self._backends[kept] = build_backend(model, key, STORE.__getitem__)
        return self._backends[kept]

    def close(self) -> None:
        """Close the backends, and with them every connection."""
        for backend in self._backends.values():
            self._runner.run(backend.aclose())
        self._runner.close()


@contextmanager
def proxy() -> Iterator[tuple[str, list[str]]]:
    """A proxy that lets nothing through: its address, and what it was asked for."""
    asked: list[str] = []

    def refuse() -> None:
        try:
            connection, _ = listener.accept()
        except TimeoutError:
            return
        with connection:
            asked.append(connection.recv(4096).decode().splitlines()[0])
            connection.sendall(b"HTTP/1.1 502 Bad Gateway\r\nContent-Length: 0\r\n\r\n")

    with socket.create_server(("127.0.0.1", 0)) as listener:
        listener.settimeout(_PATIENCE_S)
        thread = Thread(target=refuse, daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{listener.getsockname()[1]}", asked
        thread.join()
