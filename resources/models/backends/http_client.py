"""The HTTP client of the hosted backends: it sends only what models.yaml says, and bounds replies.

The SDKs read headers from the environment (an organization, a project, whole custom ones that can
stand in for the key) and add others that describe the machine: none of it is in models.yaml, so
none of it leaves. They also set time limits, or lift them, request by request; here connecting has
one, and the rest is under the deadline that the caller puts around a call.
"""

import asyncio
import json
from collections.abc import AsyncIterator, Mapping
from typing import Any

import httpx2

from resources.models.catalog import Model
from resources.untrusted_input.json_text import BadJson, IncompleteJson, parse_untrusted

MAX_REPLY_BYTES = 16_000_000
"""Bytes of a reply of text or of a page of a list: a million characters, however they are sent."""
MAX_PICTURE_REPLY_BYTES = 100_000_000
"""Bytes of a reply with a picture: one of 75 MB, as base64."""
MAX_ERROR_BYTES = 100_000
"""Bytes of an error, of which no more is read."""
_LONGEST_FILE = 100_000_000_000
_LONGEST_MESSAGE = 500

_TIMEOUT = httpx2.Timeout(None, connect=20)
_KEPT_ALIVE_S = 30
_OWN_HEADERS = frozenset(
    {
        b"accept",
        b"accept-encoding",
        b"connection",
        b"content-length",
        b"content-type",
        b"host",
        b"transfer-encoding",
        b"user-agent",
        b"x-goog-upload-command",
        b"x-goog-upload-header-content-length",
        b"x-goog-upload-header-content-type",
        b"x-goog-upload-offset",
        b"x-goog-upload-protocol",
    }
)


def get_max_reply_bytes(model: Model) -> int:
    """Bytes that a reply of a model may have, unpacked."""
    return MAX_PICTURE_REPLY_BYTES if {"painter", "editor"} & set(model.roles) else MAX_REPLY_BYTES


class ReplyTooLong(httpx2.StreamError):
    """A reply is longer than is taken; the rest of it was not read."""


class RestrictedClient(httpx2.AsyncClient):
    """A client that follows no redirect and sends no header but its own and `credentials`.

    It has `concurrency` requests on their way at most; others wait. Of a reply it reads `longest`
    bytes at most, counted as they are unpacked: a small one can unfold to gigabytes. `files` is how
    the path of a file ends that is read line by line.

    Each request that is on its way has a client of its own, with one connection, which the next one
    takes over. One pool for all would poll the socket of every idle connection twice a request.
    """

    def __init__(
        self,
        concurrency: int,
        credentials: Mapping[str, str],
        longest: int,
        files: str | None = None,
    ) -> None:
        self._free = asyncio.Semaphore(concurrency)
        self._credentials, self._longest, self._files = credentials, longest, files
        self._context = httpx2.create_ssl_context()
        self._clients: list[httpx2.AsyncClient] = []
        self._idle: list[httpx2.AsyncClient] = []
        super().__init__(**self._settings())

    async def send(
        self, request: httpx2.Request, *, stream: bool = False, **settings: Any
    ) -> httpx2.Response:
        """Send a request; where its reply is streamed, over a connection of the shared pool."""
        if stream:
            return await super().send(request, stream=True, **settings)
        async with self._free:
            client = self._idle.pop() if self._idle else self._open_client()
            try:
                return await client.send(request, **settings)
            finally:
                self._idle.append(client)

    async def aclose(self) -> None:
        """Close all connections."""
        await super().aclose()
        for client in self._clients:
            await client.aclose()

    async def __aexit__(self, *error: object) -> None:
        await self.aclose()

    def _open_client(self) -> httpx2.AsyncClient:
        client = httpx2.AsyncClient(**self._settings())
        self._clients.append(client)
        return client

    def _settings(self) -> dict[str, Any]:
        return {
            "verify": self._context,
            "follow_redirects": False,
            "limits": httpx2.Limits(max_connections=None, keepalive_expiry=_KEPT_ALIVE_S),
            "event_hooks": {"request": [self._restrict], "response": [self._bound]},
        }

    async def _restrict(self, request: httpx2.Request) -> None:
        allowed_headers = [pair for pair in request.headers.raw if pair[0].lower() in _OWN_HEADERS]
        request.headers = httpx2.Headers(allowed_headers)
        request.headers.update(self._credentials)
        request.extensions = {**request.extensions, "timeout": _TIMEOUT.as_dict()}

    async def _bound(self, response: httpx2.Response) -> None:
        longest = self._longest
        if not response.is_success:
            longest = MAX_ERROR_BYTES
        elif self._files and response.request.url.path.endswith(self._files):
            longest = _LONGEST_FILE
        packed = httpx2.Response(
            response.status_code,
            headers=response.headers,
            stream=response.stream,
            request=response.request,
        )
        response.stream = _Bounded(packed, longest)
        response.headers.pop("content-encoding", None)


class _Bounded(httpx2.AsyncByteStream):
    """A reply's body, unpacked: at most so many bytes of it.

    Of an error that is longer the beginning is enough; of another reply `ReplyTooLong` is raised.
    """

    def __init__(self, packed: httpx2.Response, longest: int) -> None:
        self._packed, self._longest = packed, longest

    async def __aiter__(self) -> AsyncIterator[bytes]:
        if not self._packed.is_success:
            yield _simplify_error(await self._read_beginning())
            return
        remaining_bytes = self._longest
        async for chunk in self._packed.aiter_bytes():
            remaining_bytes -= len(chunk)
            if remaining_bytes < 0:
                raise ReplyTooLong(f"The reply has more than {self._longest:,} bytes.")
            yield chunk

    async def _read_beginning(self) -> bytes:
        begun = bytearray()
        async for chunk in self._packed.aiter_bytes():
            begun += chunk
            if len(begun) > self._longest:
                break
        return bytes(begun[: self._longest])

    async def aclose(self) -> None:
        await self._packed.aclose()


def _simplify_error(body: bytes) -> bytes:
    """The body of an error as every SDK can read it; JSON that none can is its message."""
    try:
        return json.dumps(parse_untrusted(body)).encode()
    except IncompleteJson:
        return body
    except BadJson:
        message = body[:_LONGEST_MESSAGE].decode(errors="replace")
        return json.dumps({"error": {"message": message}}).encode()
