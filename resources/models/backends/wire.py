"""What the hosted backends share: one careful HTTP client, and how to read what comes back."""

import re
import time
from base64 import b64decode, b64encode
from binascii import Error
from collections.abc import Mapping
from email.utils import parsedate_to_datetime
from typing import TypeVar

import httpx2
from pydantic import BaseModel, ValidationError

from resources.models.replies import Closed, Fault, Interrupted, Overloaded, Picture, Unacceptable

_SENT_HEADERS = frozenset(
    {"accept", "accept-encoding", "connection", "content-length", "content-type", "host"}
    | {"transfer-encoding", "user-agent"}
)
_CONNECT_S = 20
_READ_S = 900
_LONGEST_MESSAGE = 500
_SHORTEST_KEY = 4

Shape = TypeVar("Shape", bound=BaseModel)


def careful_client(concurrency: int, credentials: Mapping[str, str]) -> httpx2.AsyncClient:
    """An HTTP client that follows no redirect and sends no header but its own and `credentials`.

    The SDKs take headers from the environment (organization, project, whole custom ones that can
    replace the key) and add others that describe the machine. None of that is in models.yaml, so
    that none of it leaves. The deadline around a call is the caller's; the one on reading here is
    for a server that says nothing at all.
    """

    async def strip(request: httpx2.Request) -> None:
        for name in set(request.headers) - _SENT_HEADERS:
            del request.headers[name]
        request.headers.update(credentials)

    return httpx2.AsyncClient(
        follow_redirects=False,
        timeout=httpx2.Timeout(_READ_S, connect=_CONNECT_S),
        limits=httpx2.Limits(
            max_connections=concurrency, max_keepalive_connections=concurrency, keepalive_expiry=30
        ),
        event_hooks={"request": [strip]},
    )


def media_type(data: bytes) -> str:
    """The media type of a picture file, from its first bytes."""
    if data.startswith(b"\xff\xd8\xff"):
        return "image/jpeg"
    if data.startswith(b"RIFF") and data[8:12] == b"WEBP":
        return "image/webp"
    return "image/png"


def data_url(data: bytes) -> str:
    """A picture file as a data URL."""
    return f"data:{media_type(data)};base64,{b64encode(data).decode('ascii')}"


def picture_from(base64: str, claimed: str | None) -> Picture:
    """A picture that came as base64, with the media type that was said of it.

    Raises `Interrupted` where it is not base64.
    """
    try:
        return Picture(b64decode(base64, validate=True), claimed)
    except (Error, ValueError):
        raise Interrupted("The reply holds a picture that is not base64.") from None


def shaped(shape: type[Shape], body: bytes) -> Shape:
    """A reply's body as what the API promises; raises `Interrupted` where it is not."""
    try:
        return shape.model_validate_json(body)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        where = ".".join(map(str, first["loc"])) or "the body"
        problem = f"The reply is not what this API sends: {where}: {first['msg']}"
    raise Interrupted(problem)


def without_key(words: object, key: str | None) -> str:
    """A message on one line, shortened, with the key struck out."""
    text = str(words)
    if key and len(key) >= _SHORTEST_KEY:
        text = text.replace(key, "[key]")
    text = re.sub(r"\s+", " ", text).strip()
    return text if len(text) <= _LONGEST_MESSAGE else f"{text[: _LONGEST_MESSAGE - 1]}…"


def fault(status: int, message: str, headers: Mapping[str, str]) -> Fault:
    """The fault that an HTTP status stands for, where the body says nothing more special."""
    message = f"HTTP {status}: {message}"
    if status in (429, 503, 529):
        return Overloaded(message, retry_after(headers))
    if status in (408, 409, 425) or status >= 500:
        return Interrupted(message)
    if 300 <= status < 400:
        return Closed(
            f"{message} (the address redirects to {headers.get('location', 'nowhere')}, and "
            "redirects are not followed: set base_url in models.yaml to where the API is)"
        )
    if status in (401, 402, 403, 404):
        return Closed(message)
    return Unacceptable(message)


def retry_after(headers: Mapping[str, str]) -> float | None:
    """Seconds to wait, from `retry-after-ms` or `Retry-After` in seconds or as a date."""
    milliseconds, plain = headers.get("retry-after-ms"), headers.get("retry-after")
    try:
        if milliseconds is not None:
            return max(float(milliseconds) / 1000, 0.0)
        return None if plain is None else max(float(plain), 0.0)
    except ValueError:
        pass
    try:
        return max(parsedate_to_datetime(plain or "").timestamp() - time.time(), 0.0)
    except ValueError:
        return None
