"""What every wire of the fake provider has to do alike, seen by the real SDK of each."""

import asyncio
import base64
import io
from collections.abc import Callable
from functools import partial
from importlib import import_module
from typing import Any, NamedTuple

import httpx2
import openai
import pytest
from google.genai import errors, types
from PIL import Image, UnidentifiedImageError

from tests.providers import Provider, closed_port, faults, pictures
from tests.providers.clients import KEY, data_uri, with_anthropic, with_gemini, with_openai

PNG, OTHER_PNG = pictures.png("one"), pictures.png("other", 20, 10)
BROKEN = {
    faults.DROPPED: httpx2.RemoteProtocolError,
    faults.RESET: httpx2.ReadError,
    faults.HALF_HEADERS: httpx2.RemoteProtocolError,
    faults.HALF_BODY: httpx2.RemoteProtocolError,
}


class Wire(NamedTuple):
    """One provider's API through its SDK: text and the model that served it, a file and its type.

    `status` is by fault: the class of the error, its status, and the code that goes with it.
    """

    with_client: Callable[..., Any]
    say: Callable[..., Any]
    """A coroutine: of a client, a model, pictures and a time limit in seconds."""
    said: Callable[[Any], tuple[str, str]]
    names: Callable[..., Any]
    listed: list[str]
    broken: type[Exception] | str
    slow: type[Exception] | str
    status: dict[faults.Fault, tuple[type[Exception], int, str | None]]
    coded: Callable[[Any], tuple[int, str | None]]
    refused: str
    paint: Callable[..., Any] | None = None
    """A coroutine of a client; None for an API without pictures."""
    painted: Callable[[Any], tuple[bytes, str]] | None = None

    @property
    def does(self) -> list[Callable[..., Any]]:
        """What can be asked of a client."""
        return [self.say, *([self.paint] if self.paint else [])]


def say_openai(client, model="m", shown=(), limit_s=300.0):
    content = [*map(data_uri, shown), {"type": "text", "text": "How many legs?"}]
    messages = [{"role": "user", "content": content}]
    return client.chat.completions.create(model=model, messages=messages, timeout=limit_s)


def say_gemini(client, model="m", shown=(), limit_s=300.0):
    parts = [types.Part.from_bytes(data=png, mime_type="image/png") for png in shown]
    config = types.GenerateContentConfig(
        http_options=types.HttpOptions(timeout=int(limit_s * 1000))
    )
    return client.models.generate_content(
        model=model, contents=[*parts, "How many legs?"], config=config
    )


def say_anthropic(client, model="m", shown=(), limit_s=300.0):
    sources = [
        {"type": "base64", "media_type": "image/png", "data": base64.b64encode(png).decode()}
        for png in shown
    ]
    pictures = [{"type": "image", "source": source} for source in sources]
    content = [*pictures, {"type": "text", "text": "How many legs?"}]
    messages = [{"role": "user", "content": content}]
    return client.messages.create(model=model, messages=messages, max_tokens=9, timeout=limit_s)


async def names_of_openai(client):
    return [model.id async for model in client.models.list()]


async def names_of_gemini(client):
    return [model.name async for model in await client.models.list()]


OPENAI = Wire(
    with_client=with_openai,
    say=say_openai,
    said=lambda reply: (reply.choices[0].message.content, reply.model),
    paint=lambda client: client.images.generate(model="gpt-image-1.5", prompt="A zebra"),
    painted=lambda reply: (base64.b64decode(reply.data[0].b64_json), reply.output_format),
    names=names_of_openai,
    listed=["gpt-5-mini", "gpt-image-1.5"],
    broken=openai.APIConnectionError,
    slow=openai.APITimeoutError,
    status={
        faults.RATE_LIMITED: (openai.RateLimitError, 429, "rate_limit_exceeded"),
        faults.NO_CREDIT: (openai.RateLimitError, 429, "insufficient_quota"),
        faults.SERVER_ERROR: (openai.InternalServerError, 500, None),
        faults.OVERLOADED: (openai.InternalServerError, 503, None),
        faults.BAD_GATEWAY: (openai.InternalServerError, 502, None),
        faults.INVALID_KEY: (openai.AuthenticationError, 401, "invalid_api_key"),
        faults.FORBIDDEN: (
            openai.PermissionDeniedError,
            403,
            "unsupported_country_region_territory",
        ),
        faults.UNKNOWN_MODEL: (openai.NotFoundError, 404, "model_not_found"),
        faults.INVALID_REQUEST: (openai.BadRequestError, 400, "invalid_value"),
        faults.TOO_LARGE: (openai.APIStatusError, 413, None),
        faults.REDIRECTED: (openai.APIStatusError, 307, None),
        faults.PROMPT_FILTERED: (openai.BadRequestError, 400, "content_filter"),
    },
    coded=lambda error: (error.status_code, error.code),
    refused="another-key",
)
GEMINI = Wire(
    with_client=with_gemini,
    say=say_gemini,
    said=lambda reply: (reply.text, reply.model_version),
    paint=lambda client: client.models.generate_content(
        model="gemini-3-flash-image", contents="A zebra"
    ),
    painted=lambda reply: (
        reply.parts[0].inline_data.data,
        reply.parts[0].inline_data.mime_type.removeprefix("image/"),
    ),
    names=names_of_gemini,
    listed=["models/gemini-3-flash", "models/gemini-3-flash-image"],
    broken=httpx2.TransportError,
    slow=httpx2.ReadTimeout,
    status={
        faults.RATE_LIMITED: (errors.ClientError, 429, "RESOURCE_EXHAUSTED"),
        faults.RETRY_AFTER: (errors.ClientError, 429, "RESOURCE_EXHAUSTED"),
        faults.SERVER_ERROR: (errors.ServerError, 500, "INTERNAL"),
        faults.OVERLOADED: (errors.ServerError, 503, "UNAVAILABLE"),
        faults.BAD_GATEWAY: (errors.ServerError, 502, "Bad Gateway"),
        faults.INVALID_KEY: (errors.ClientError, 400, "INVALID_ARGUMENT"),
        faults.FORBIDDEN: (errors.ClientError, 403, "PERMISSION_DENIED"),
        faults.UNKNOWN_MODEL: (errors.ClientError, 404, "NOT_FOUND"),
        faults.INVALID_REQUEST: (errors.ClientError, 400, "INVALID_ARGUMENT"),
        faults.TOO_LARGE: (errors.ClientError, 413, "Request Entity Too Large"),
        faults.REDIRECTED: (errors.APIError, 307, "Temporary Redirect"),
    },
    coded=lambda error: (error.code, error.status),
    refused="API_KEY_INVALID",
)
ANTHROPIC = Wire(
    with_client=with_anthropic,
    say=say_anthropic,
    said=lambda reply: (reply.content[0].text, reply.model),
    names=names_of_openai,
    listed=["claude-sonnet-5-5"],
    broken="APIConnectionError",
    slow="APITimeoutError",
    status={
        faults.RATE_LIMITED: ("RateLimitError", 429, "rate_limit_error"),
        faults.NO_CREDIT: ("BadRequestError", 400, "invalid_request_error"),
        faults.SERVER_ERROR: ("InternalServerError", 500, "api_error"),
        faults.OVERLOADED: ("OverloadedError", 529, "overloaded_error"),
        faults.BAD_GATEWAY: ("InternalServerError", 502, None),
        faults.INVALID_KEY: ("AuthenticationError", 401, "authentication_error"),
        faults.FORBIDDEN: ("PermissionDeniedError", 403, "permission_error"),
        faults.UNKNOWN_MODEL: ("NotFoundError", 404, "not_found_error"),
        faults.INVALID_REQUEST: ("BadRequestError", 400, "invalid_request_error"),
        faults.TOO_LARGE: ("RequestTooLargeError", 413, None),
        faults.REDIRECTED: ("APIStatusError", 307, None),
    },
    coded=lambda error: (error.status_code, error.type),
    refused="Invalid bearer token",
)
WIRES = {"openai": OPENAI, "gemini": GEMINI, "anthropic": ANTHROPIC}
PAINTING = {name: wire for name, wire in WIRES.items() if wire.paint}


def error(kind):
    """The class of an error: of Anthropic's by their names, for that SDK takes 1.5 s to import."""
    return getattr(import_module("anthropic._exceptions"), kind) if isinstance(kind, str) else kind


@pytest.fixture(params=WIRES.values(), ids=WIRES)
def wire(request):
    return request.param


@pytest.fixture(params=PAINTING.values(), ids=PAINTING)
def painting(request):
    return request.param


@pytest.fixture
def server():
    with Provider() as server:
        yield server


def said(wire, server, **asked):
    return wire.said(wire.with_client(server, lambda client: wire.say(client, **asked)))


def painted(wire, server):
    """The picture, not decoded yet, and what it is said to be."""
    data, kind = wire.painted(wire.with_client(server, wire.paint))
    return Image.open(io.BytesIO(data)), kind


def test_vision(wire, server):
    server.answer = lambda received: f"{len(received.images)} pictures"
    assert said(wire, server, shown=(PNG, OTHER_PNG))[0] == "2 pictures"
    assert server.received[0].images == (PNG, OTHER_PNG)
    assert server.received[0].texts == ("How many legs?",)


def test_models(wire, server):
    assert wire.with_client(server, wire.names) == wire.listed


def test_another_model_may_say_it_has_answered(wire):
    with Provider(served={"latest": "of-today"}) as server:
        assert said(wire, server, model="latest")[1] == "of-today"
        assert said(wire, server, model="other")[1] == "other"


def test_only_the_right_key_opens_a_server_with_a_key(wire):
    kind, *coded = wire.status[faults.INVALID_KEY]
    kind = error(kind)
    with Provider(key=KEY) as server:
        assert said(wire, server)
        with pytest.raises(kind, match=wire.refused) as raised:
            wire.with_client(server, wire.names, key="another-key")
        assert list(wire.coded(raised.value)) == coded


@pytest.mark.parametrize(
    ("wire", "fault"),
    [
        pytest.param(wire, fault, id=f"{name}-{fault.name}")
        for name, wire in WIRES.items()
        for fault in wire.status
    ],
)
def test_a_status_is_an_error_of_its_kind(wire, fault, server):
    kind, *coded = wire.status[fault]
    kind = error(kind)
    server.always(fault)
    for do in wire.does:
        with pytest.raises(kind) as raised:
            wire.with_client(server, do)
        assert type(raised.value) is kind
        assert list(wire.coded(raised.value)) == coded
    assert server.count == len(wire.does)


@pytest.mark.parametrize("fault", BROKEN, ids=lambda fault: fault.name)
def test_a_broken_connection_has_its_cause(wire, server, fault):
    server.always(fault)
    for do in wire.does:
        with pytest.raises(error(wire.broken)) as raised:
            wire.with_client(server, do)
        assert BROKEN[fault] in (type(raised.value), type(raised.value.__cause__))
    assert server.count == len(wire.does)


def test_no_server_at_all_is_a_connect_error(wire):
    with closed_port() as port, pytest.raises(error(wire.broken)) as raised:
        said(wire, Provider(port=port))
    assert httpx2.ConnectError in (type(raised.value), type(raised.value.__cause__))


def test_a_slow_reply_is_a_timeout(wire, server):
    server.always(faults.SLOW.for_seconds(600))
    for limit_s in (0.1, 1.0, 10.0, 100.0):
        with pytest.raises((error(wire.slow), httpx2.TimeoutException)) as raised:
            said(wire, server, limit_s=limit_s)
        # On a busy machine it may be over before the request is sent.
        if server.count:
            break
    assert isinstance(raised.value, error(wire.slow))


def test_a_dripping_reply_outlives_every_timeout_but_a_deadline(wire, server):
    server.always(faults.DRIPPING)

    async def ask(limit_s, client):
        async with asyncio.timeout(1.5 * limit_s):
            await wire.say(client, limit_s=limit_s)

    for limit_s in (1.0, 10.0, 100.0):
        with pytest.raises((TimeoutError, error(wire.slow))) as raised:
            wire.with_client(server, partial(ask, limit_s))
        # On a busy machine a drip may come too late.
        if not isinstance(raised.value, error(wire.slow)):
            break
    assert not isinstance(raised.value, (error(wire.slow), openai.APIError, error("APIError")))


def test_broken_pictures_come_as_they_are(painting, server):
    server.script([faults.NOT_A_PICTURE, faults.TRUNCATED_PNG, faults.MISLABELLED])
    with pytest.raises(UnidentifiedImageError):
        painted(painting, server)
    with pytest.raises((OSError, SyntaxError)):
        painted(painting, server)[0].load()
    picture, kind = painted(painting, server)
    assert (picture.format, kind) == ("JPEG", "png")


def test_a_wide_picture_is_a_small_file(painting, server):
    server.always(faults.WIDE_PNG)
    data, _ = painting.painted(painting.with_client(server, painting.paint))
    assert len(data) < 150_000
    with pytest.raises(Image.DecompressionBombError):
        Image.open(io.BytesIO(data))
