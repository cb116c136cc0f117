"""Shared parts of hosted backends: faults by status, requested waits, pictures, keys."""

import asyncio
import re
import time
from base64 import b64decode
from collections.abc import Iterable, Mapping
from email.utils import parsedate_to_datetime
from math import isfinite
from typing import Any
from urllib.parse import quote

import httpx2

from resources.models.backends.base import PictureLoader
from resources.models.backends.http_client import ReplyTooLong
from resources.models.catalog import Model
from resources.models.parameter_checks import find_refused_thinking
from resources.models.replies import (
    ImageFile,
    Interrupted,
    ModelUnavailable,
    NoAnswer,
    Overloaded,
    RequestFault,
    UnacceptableRequest,
)

_NEVER_MADE = (httpx2.ConnectError, httpx2.ConnectTimeout, httpx2.PoolTimeout)
_GAVE_UP_WAITING = (408, 499, 504, 524)
"""Statuses of one who did not wait for the model, which may have gone on and is paid then."""
_MASKED = re.compile(r"(?<![^\s\"'])[^\s\"']*\*{3,}[^\s\"']*")
_LONGEST_MESSAGE = 500
_SHORTEST_KEY = 4


def check_key(model: Model, key: str | None) -> None:
    """Raise `ModelUnavailable` for a key no header can hold, whose error would reveal it."""
    if key is not None and not re.fullmatch(r"[!-~]+", key):
        raise ModelUnavailable(
            f"The API key of {model.name} has a character that no key has, such as a space, a line "
            f"end or a curly quotation mark: set {model.key_variable} to the key alone."
        )


def build_token_limit_fault(model: Model, parameter: str) -> UnacceptableRequest:
    """The fault of a reply that the limit of tokens ended before it held anything."""
    return UnacceptableRequest(
        f"{model.name} used up its limit of tokens before it answered: raise {parameter} in its "
        "parameters in models.yaml",
        possibly_paid=True,
    )


async def load_pictures(images: Iterable[str], picture: PictureLoader) -> list[bytes]:
    """The bytes of pictures by their sha256, read beside the event loop."""
    return [await asyncio.to_thread(picture, image) for image in images]


def detect_media_type(data: bytes) -> str:
    """The media type of a PNG, JPEG or WebP file, from its first bytes."""
    if data.startswith(b"\xff\xd8\xff"):
        return "image/jpeg"
    if data.startswith(b"RIFF") and data[8:12] == b"WEBP":
        return "image/webp"
    return "image/png"


def decode_base64_picture(base64: str, claimed: str | None) -> ImageFile:
    """A base64 picture with the media type that it came with; raises `NoAnswer` if it is none."""
    try:
        return ImageFile(b64decode(base64, validate=True), claimed)
    except ValueError:
        problem = "The reply holds a picture that is not base64."
    raise NoAnswer(problem)


def redact_key(words: object, key: str | None) -> str:
    """Words on one line, shortened, the key struck out, also where a provider masked a part."""
    text = str(words)
    if key and len(key) >= _SHORTEST_KEY:
        text = text.replace(key, "[key]").replace(quote(key, safe=""), "[key]")
    text = _MASKED.sub("[key]", text)
    text = " ".join(text.split())
    return text if len(text) <= _LONGEST_MESSAGE else f"{text[: _LONGEST_MESSAGE - 1]}…"


def to_connection_fault(error: BaseException, key: str | None) -> Interrupted | NoAnswer:
    """The fault of a connection that failed; some failures have a name and no words.

    Of one that was never made, nothing was paid. A reply that is too long was paid for.
    """
    if isinstance(error, ReplyTooLong):
        return NoAnswer(str(error))
    words = str(error) or "the connection to the server failed"
    never_made = isinstance(error, _NEVER_MADE)
    message = redact_key(f"{type(error).__name__}: {words}", key)
    return Interrupted(message, possibly_paid=not never_made, is_unreachable=never_made)


def to_status_fault(
    status: int, words: str, headers: Mapping[str, str], key: str | None
) -> RequestFault:
    """The fault that an HTTP status stands for, where the body says nothing more special."""
    message = f"HTTP {status}: {words}" if words else f"HTTP {status}"
    if status in (429, 503, 529):
        return Overloaded(message, parse_retry_after(headers))
    if 300 <= status < 400:
        location = redact_key(headers.get("location", "an address that it does not say"), key)
        return ModelUnavailable(
            f"HTTP {status}: the server redirects to {location}, and redirects are not followed: "
            "set base_url in models.yaml to where the API is"
        )
    if status in (401, 402, 403, 404):
        return ModelUnavailable(message)
    if status in (408, 409, 425, 499) or not 400 <= status < 500:
        return Interrupted(message, possibly_paid=status in _GAVE_UP_WAITING)
    return UnacceptableRequest(message)


def find_parameter_fault(
    status: int, words: str, named: str, parameters: Mapping[str, Any]
) -> ModelUnavailable | None:
    """The fault of a parameter of the entry that is refused, and would be with every request.

    `named` begins with the parameter that the error is about, where it says so.
    """
    first_word = re.split(r"\W", named, maxsplit=1)[0]
    for name in (first_word, find_refused_thinking(words, parameters)):
        if status == 400 and name in parameters:
            return ModelUnavailable(f"{words} ({name} is set in models.yaml, for every request)")
    return None


def parse_retry_after(headers: Mapping[str, str]) -> float | None:
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
