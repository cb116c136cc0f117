"""HTTP/1.1 on bare asyncio: a reply can break off anywhere, and little stands in its way."""

import asyncio
import json
import socket
import struct
import sys
from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import Any, Literal

Delivery = Literal["whole", "nothing", "reset", "half the headers", "half the body", "dripping"]
_DRIP_S = 0.05
_PHRASES = {int(status): status.phrase for status in HTTPStatus}
"""Those of the standard; Anthropic's 529 is none."""


@dataclass(frozen=True)
class HttpRequest:
    """A request, read to its end; `headers` have names in lower case."""

    method: str
    path: str
    headers: Mapping[str, str]
    body: bytes


@dataclass(frozen=True)
class Response:
    """A reply, when it is sent (`delay` in seconds) and how much of it arrives."""

    body: bytes
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    media_type: str = "application/json"
    delivery: Delivery = "whole"
    delay: float = 0.0

    def head(self) -> bytes:
        """Status line and headers, with the length of the whole body: a drip has no end."""
        length = sys.maxsize if self.delivery == "dripping" else len(self.body)
        lines = [
            f"HTTP/1.1 {self.status} {_PHRASES.get(self.status, 'Overloaded')}",
            f"Content-Type: {self.media_type}",
            f"Content-Length: {length}",
            *(f"{name}: {value}" for name, value in self.headers.items()),
        ]
        return "\r\n".join([*lines, "", ""]).encode()


def json_response(
    value: Any, status: int = 200, headers: Mapping[str, str] | None = None
) -> Response:
    """A reply of JSON."""
    return Response(json.dumps(value).encode(), status, headers or {})


Handler = Callable[[HttpRequest], Awaitable[Response]]


class Connection(asyncio.Protocol):
    """One connection: request, reply, request, reply, until a side ends it."""

    def __init__(self, handle: Handler, open_connections: set["Connection"]) -> None:
        self._handle = handle
        self._open = open_connections
        self._buffer = bytearray()
        self._head: tuple[str, str, dict[str, str]] | None = None
        self._task: asyncio.Task[None] | None = None
        self._transport: asyncio.Transport

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport
        self._open.add(self)

    def connection_lost(self, exc: Exception | None) -> None:
        self._open.discard(self)
        if self._task is not None:
            self._task.cancel()

    def close(self) -> None:
        """End it now, whatever is under way."""
        self._transport.abort()

    def _reset(self) -> None:
        linger = struct.pack("ii", 1, 0)
        self._transport.get_extra_info("socket").setsockopt(
            socket.SOL_SOCKET, socket.SO_LINGER, linger
        )
        self._transport.abort()

    def data_received(self, data: bytes) -> None:
        self._buffer += data
        if self._head is None:
            end = self._buffer.find(b"\r\n\r\n")
            if end < 0:
                return
            self._head = _parse_head(bytes(self._buffer[:end]))
            del self._buffer[: end + 4]
        method, path, headers = self._head
        length = int(headers.get("content-length", 0))
        if len(self._buffer) < length:
            return
        body = bytes(self._buffer[:length])
        del self._buffer[:length]
        self._head = None
        request = HttpRequest(method, path, headers, body)
        self._task = asyncio.get_running_loop().create_task(self._reply(request))

    async def _reply(self, request: HttpRequest) -> None:
        response = await self._handle(request)
        head, body = response.head(), response.body
        match response.delivery:
            case "whole":
                self._transport.write(head + body)
                return
            case "reset":
                self._reset()
                return
            case "half the headers":
                self._transport.write(head[: len(head) // 2])
            case "half the body":
                self._transport.write(head + body[: len(body) // 2])
            case "dripping":
                self._transport.write(head)
                while True:
                    self._transport.write(b" ")
                    await asyncio.sleep(_DRIP_S)
        self._transport.close()


@contextmanager
def closed_port() -> Iterator[int]:
    """A port of this machine where nobody listens, nor anybody else can meanwhile."""
    with socket.socket() as bound:
        bound.bind(("127.0.0.1", 0))
        yield bound.getsockname()[1]


def _parse_head(head: bytes) -> tuple[str, str, dict[str, str]]:
    first, *rest = head.decode("latin-1").split("\r\n")
    method, path, _ = first.split(" ")
    pairs = (line.split(":", 1) for line in rest)
    return method, path, {name.lower(): value.strip() for name, value in pairs}
