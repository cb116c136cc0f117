"""What the hosted backends share: a careful HTTP client, and how to read what comes back."""

import asyncio
import json
import re
import time
from base64 import b64decode
from collections.abc import AsyncIterator, Iterable, Mapping
from email.utils import parsedate_to_datetime
from math import isfinite
from urllib.parse import quote

import httpx2

from resources.models.backends.base import PictureOf
from resources.models.catalog import Model
from resources.models.replies import (
    Closed,
    Fault,
    Interrupted,
    NoAnswer,
    Overloaded,
    Picture,
    Unacceptable,
)
from resources.untrusted import BadJson, IncompleteJson, parse_untrusted

_TIMEOUT = httpx2.Timeout(None, connect=20)
_OWN_HEADERS = frozenset(
    {
        "accept",
        "accept-encoding",
        "connection",
        "content-length",
        "content-type",
        "host",
        "transfer-encoding",
        "user-agent",
        "x-goog-upload-command",
        "x-goog-upload-header-content-length",
        "x-goog-upload-header-content-type",
        "x-goog-upload-offset",
        "x-goog-upload-protocol",
    }
)
_NEVER_MADE = (httpx2.ConnectError, httpx2.ConnectTimeout, httpx2.PoolTimeout)
_GAVE_UP_WAITING = (408, 499, 504, 524)
"""Statuses of one who did not wait for the model, which may have gone on and is paid then."""
_MASKED = re.compile(r"(?<![^\s\"'])[^\s\"']*\*{3,}[^\s\"']*")
_LONGEST_MESSAGE = 500
LONGEST_REPLY = 16_000_000
"""Bytes of a reply of text or of a page of a list: a million characters, however they are sent."""
LONGEST_PICTURE = 100_000_000
"""Bytes of a reply with a picture: one of 75 MB, as base64."""
_SHORTEST_KEY = 4


LONGEST_ERROR = 100_000
"""Bytes of an error, of which no more is read."""
_LONGEST_FILE = 100_000_000_000


def longest_reply(model: Model) -> int:
    """Bytes that a reply of a model may have, unpacked."""
    return LONGEST_PICTURE if {"painter", "editor"} & set(model.roles) else LONGEST_REPLY


class TooLong(httpx2.StreamError):
    """A reply is longer than is taken; the rest of it was not read."""


class _Bounded(httpx2.AsyncByteStream):
    """A reply's body, unpacked: at most so many bytes of it.

    Of an error that is longer the beginning is enough; of another reply `TooLong` is raised.
    """

    def __init__(self, packed: httpx2.Response, longest: int) -> None:
        self._packed, self._longest = packed, longest

    async def __aiter__(self) -> AsyncIterator[bytes]:
        if not self._packed.is_success:
            yield _plain_error(await self._beginning())
            return
        left = self._longest
        async for chunk in self._packed.aiter_bytes():
            left -= len(chunk)
            if left < 0:
                raise TooLong(f"The reply has more than {self._longest:,} bytes.")
            yield chunk

    async def _beginning(self) -> bytes:
        begun = bytearray()
        async for chunk in self._packed.aiter_bytes():
            begun += chunk
            if len(begun) > self._longest:
                break
        return bytes(begun[: self._longest])

    async def aclose(self) -> None:
        await self._packed.aclose()


def _plain_error(body: bytes) -> bytes:
    """The body of an error as every SDK can read it; JSON that none can is its message."""
    try:
        return json.dumps(parse_untrusted(body)).encode()
    except IncompleteJson:
        return body
    except BadJson:
        said = body[:_LONGEST_MESSAGE].decode(errors="replace")
        return json.dumps({"error": {"message": said}}).encode()


def careful_client(
    concurrency: int, credentials: Mapping[str, str], longest: int, files: str | None = None
) -> httpx2.AsyncClient:
    """An HTTP client that follows no redirect and sends no header but its own and `credentials`.

    Of a reply it reads `longest` bytes at most, counted as they are unpacked: a small one can
    unfold to gigabytes. `files` is how the path of a file ends that is read line by line.

    The SDKs read headers from the environment (an organization, a project, whole custom ones that
    can stand in for the key) and add others that describe the machine: none of it is in
    models.yaml, so none of it leaves. They also set time limits, or lift them, request by request;
    here connecting has one, and the rest is under the deadline that the caller puts around a call.
    """

    async def prepare(request: httpx2.Request) -> None:
        for name in set(request.headers) - _OWN_HEADERS:
            del request.headers[name]
        request.headers.update(credentials)
        request.extensions = {**request.extensions, "timeout": _TIMEOUT.as_dict()}

    async def bound(response: httpx2.Response) -> None:
        whole = longest
        if not response.is_success:
            whole = LONGEST_ERROR
        elif files and response.request.url.path.endswith(files):
            whole = _LONGEST_FILE
        packed = httpx2.Response(
            response.status_code,
            headers=response.headers,
            stream=response.stream,
            request=response.request,
        )
        response.stream = _Bounded(packed, whole)
        response.headers.pop("content-encoding", None)

    return httpx2.AsyncClient(
        follow_redirects=False,
        limits=httpx2.Limits(
            max_connections=concurrency, max_keepalive_connections=concurrency, keepalive_expiry=30
        ),
        event_hooks={"request": [prepare], "response": [bound]},
    )


def check_key(model: Model, key: str | None) -> None:
    """Raise `Closed` where a key is none that a header can hold: that error would tell the key."""
    if key is not None and not re.fullmatch(r"[!-~]+", key):
        raise Closed(
            f"The API key of {model.name} has a character that no key has, such as a space, a line "
            f"end or a curly quotation mark: set {model.key_variable} to the key alone."
        )


def out_of_tokens(model: Model, parameter: str) -> Unacceptable:
    """The fault of a reply that the limit of tokens ended before it held anything."""
    return Unacceptable(
        f"{model.name} used up its limit of tokens before it answered: raise {parameter} in its "
        "parameters in models.yaml",
        possibly_paid=True,
    )


async def bytes_of(images: Iterable[str], picture: PictureOf) -> list[bytes]:
    """The bytes of pictures by their sha256, read beside the event loop."""
    return [await asyncio.to_thread(picture, image) for image in images]


def media_type(data: bytes) -> str:
    """The media type of a PNG, JPEG or WebP file, from its first bytes."""
    if data.startswith(b"\xff\xd8\xff"):
        return "image/jpeg"
    if data.startswith(b"RIFF") and data[8:12] == b"WEBP":
        return "image/webp"
    return "image/png"


def picture_from(base64: str, claimed: str | None) -> Picture:
    """A picture that came as base64, with the media type that was said of it.

    Raises `NoAnswer` where it is not base64.
    """
    try:
        return Picture(b64decode(base64, validate=True), claimed)
    except ValueError:
        problem = "The reply holds a picture that is not base64."
    raise NoAnswer(problem)


def without_key(words: object, key: str | None) -> str:
    """Words on one line, shortened, the key struck out, also where a provider masked a part."""
    text = str(words)
    if key and len(key) >= _SHORTEST_KEY:
        text = text.replace(key, "[key]").replace(quote(key, safe=""), "[key]")
    text = _MASKED.sub("[key]", text)
    text = " ".join(text.split())
    return text if len(text) <= _LONGEST_MESSAGE else f"{text[: _LONGEST_MESSAGE - 1]}…"


def interruption(error: BaseException, key: str | None) -> Interrupted | NoAnswer:
    """The fault of a connection that failed; some failures have a name and no words.

    Of one that was never made, nothing was paid. A reply that is too long was paid for.
    """
    if isinstance(error, TooLong):
        return NoAnswer(str(error))
    words = str(error) or "the connection to the server failed"
    never_made = isinstance(error, _NEVER_MADE)
    said = without_key(f"{type(error).__name__}: {words}", key)
    return Interrupted(said, possibly_paid=not never_made)


def fault(status: int, words: str, headers: Mapping[str, str], key: str | None) -> Fault:
    """The fault that an HTTP status stands for, where the body says nothing more special."""
    message = f"HTTP {status}: {words}" if words else f"HTTP {status}"
    if status in (429, 503, 529):
        return Overloaded(message, retry_after(headers))
    if 300 <= status < 400:
        there = without_key(headers.get("location", "an address that it does not say"), key)
        return Closed(
            f"HTTP {status}: the server redirects to {there}, and redirects are not followed: set "
            "base_url in models.yaml to where the API is"
        )
    if status in (401, 402, 403, 404):
        return Closed(message)
    if status in (408, 409, 425, 499) or not 400 <= status < 500:
        return Interrupted(message, possibly_paid=status in _GAVE_UP_WAITING)
    return Unacceptable(message)


def retry_after(headers: Mapping[str, str]) -> float | None:
    """Seconds to wait, from `retry-after-ms` or `Retry-After` in seconds or as a date."""
    for name, unit in (("retry-after-ms", 0.001), ("retry-after", 1.0)):
        try:
            seconds = float(headers.get(name, "")) * unit
        except ValueError:
            continue
        return max(seconds, 0.0) if isfinite(seconds) else None
    try:
        then = parsedate_to_datetime(headers.get("retry-after", "")).timestamp()
    except (ValueError, OverflowError):
        return None
    return max(then - time.time(), 0.0)
