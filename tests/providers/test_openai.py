"""What the OpenAI SDK makes of every reply: endpoints, faults, refusals."""

import asyncio
import base64
import io
import json

import httpx2
import openai
import pytest
from PIL import Image, UnidentifiedImageError
from pydantic import BaseModel

from tests.providers import Provider, faults, pictures
from tests.providers.clients import KEY, data_uri, with_openai

SAY = [{"role": "user", "content": "How many legs?"}]
PNG, OTHER_PNG = pictures.png("one"), pictures.png("other", 20, 10)


@pytest.fixture
def server():
    with Provider() as server:
        yield server


def chat(server, **parameters):
    asked = {"model": "gpt-5-mini", "messages": SAY} | parameters
    return with_openai(server, lambda client: client.chat.completions.create(**asked))


def paint(server, **parameters):
    asked = {"model": "gpt-image-1.5", "prompt": "A zebra"} | parameters
    return with_openai(server, lambda client: client.images.generate(**asked))


def opened(reply):
    return Image.open(io.BytesIO(base64.b64decode(reply.data[0].b64_json)))


def test_text(server):
    messages = [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": [{"type": "text", "text": "How many legs?"}]},
        {"role": "assistant", "content": "{4}"},
        {"role": "user", "content": "Look again."},
    ]
    reply = chat(server, messages=messages, temperature=1.0, max_completion_tokens=5)
    assert reply == chat(server, messages=messages, temperature=1.0, max_completion_tokens=5)
    assert reply.choices[0].message.content in {f"{{{n}}}" for n in range(10)}
    assert (reply.usage.prompt_tokens, reply.usage.completion_tokens) == (8, 1)
    received = server.received[0]
    assert received.texts == ("Be brief.", "How many legs?", "{4}", "Look again.")
    assert received.parameters == {"temperature": 1.0, "max_completion_tokens": 5}
    assert (received.provider, received.model, received.key) == ("openai", "gpt-5-mini", KEY)
    assert json.loads(received.body)["messages"] == messages
    assert server.count == 2
    assert server.received[0].digest == server.received[1].digest


def test_vision(server):
    content = [data_uri(PNG), data_uri(OTHER_PNG), {"type": "text", "text": "How many legs?"}]
    server.answer = lambda received: f"{len(received.images)} pictures"
    reply = chat(server, messages=[{"role": "user", "content": content}])
    assert reply.choices[0].message.content == "2 pictures"
    assert server.received[0].images == (PNG, OTHER_PNG)
    assert server.received[0].texts == ("How many legs?",)


class Leg(BaseModel):
    length: float
    side: str


class Animal(BaseModel):
    name: str
    legs: list[Leg]


def test_text_to_a_schema(server):
    schema = {"name": "animal", "schema": Animal.model_json_schema()}
    reply = chat(server, response_format={"type": "json_schema", "json_schema": schema})
    assert Animal.model_validate_json(reply.choices[0].message.content).legs
    assert server.received[0].schema == Animal.model_json_schema()


@pytest.mark.parametrize(("size", "pixels"), [("96x32", (96, 32)), ("auto", (64, 64))])
def test_a_picture(server, size, pixels):
    reply = paint(server, size=size)
    picture = opened(reply)
    picture.load()
    assert (picture.format, picture.size) == ("PNG", pixels)
    assert (reply.data[0].url, reply.data[0].revised_prompt) == (None, None)
    assert reply.usage.output_tokens == 1000
    assert paint(server, size=size) == reply
    assert paint(server, size=size, prompt="A horse").data != reply.data
    assert server.received[0].texts == ("A zebra",)


def test_a_picture_of_another_format(server):
    assert opened(paint(server, output_format="jpeg")).format == "JPEG"


def test_an_edit(server):
    asked = {"model": "gpt-image-1.5", "prompt": "Five legs", "size": "96x32", "quality": "low"}
    files = [("a.png", PNG, "image/png"), ("b.png", OTHER_PNG, "image/png")]
    mask = ("mask.png", pictures.png("mask"), "image/png")
    reply = with_openai(server, lambda client: client.images.edit(image=files, mask=mask, **asked))
    assert opened(reply).size == (96, 32)
    one = with_openai(server, lambda client: client.images.edit(image=files[0], **asked))
    assert one.data != reply.data
    assert server.received[0].images == (PNG, OTHER_PNG, mask[1])
    assert server.received[1].images == (PNG,)
    assert server.received[0].texts == ("Five legs",)
    assert server.received[0].parameters == {"size": "96x32", "quality": "low"}


def test_the_bytes_of_a_picture_that_looks_like_a_form(server):
    awkward = b"\r\n--\r\nContent-Disposition: form-data\r\n\r\n\r\n"
    with_openai(
        server,
        lambda client: client.images.edit(
            model="gpt-image-1.5", prompt="Five legs", image=("a.png", awkward, "image/png")
        ),
    )
    assert server.received[0].images == (awkward,)


def test_dall_e_gives_a_url_that_holds_the_picture_and_says_how_it_changed_the_prompt(server):
    server.answer = lambda received: PNG
    reply = paint(server, model="dall-e-3")
    assert (reply.data[0].b64_json, reply.usage) == (None, None)
    assert reply.data[0].revised_prompt == "A zebra, revised"
    assert httpx2.get(reply.data[0].url).content == PNG
    assert server.count == 1
    assert [download.path for download in server.downloads] == [httpx2.URL(reply.data[0].url).path]


def test_dall_e_gives_base64_on_request_and_others_know_no_such_request(server):
    reply = paint(server, model="dall-e-2", response_format="b64_json")
    assert (reply.data[0].url, reply.data[0].revised_prompt) == (None, None)
    assert opened(reply).format == "PNG"
    with pytest.raises(openai.BadRequestError) as refused:
        paint(server, response_format="b64_json")
    assert (refused.value.code, refused.value.param) == ("unknown_parameter", "response_format")


def test_models(server):
    async def names(client):
        return [model.id async for model in client.models.list()]

    assert with_openai(server, names) == ["gpt-5-mini", "gpt-image-1.5"]


def test_another_model_may_say_it_has_answered():
    with Provider(served={"gpt-5-mini": "gpt-5-mini-2026-01-01"}) as server:
        assert chat(server).model == "gpt-5-mini-2026-01-01"
        assert chat(server, model="gpt-5").model == "gpt-5"


def test_only_the_right_key_opens_a_server_with_a_key():
    with Provider(key=KEY) as server:
        assert chat(server).choices
        with pytest.raises(openai.AuthenticationError, match="another-key") as refused:
            with_openai(server, lambda client: client.models.list(), key="another-key")
        assert refused.value.code == "invalid_api_key"


def test_a_compatible_server_needs_no_key(server):
    asked = {"model": "llava", "messages": SAY}
    reply = httpx2.post(f"{server.openai_url}/chat/completions", json=asked)
    assert reply.json()["choices"][0]["message"]["content"]
    assert server.received[0].key is None


STATUS = [
    (faults.RATE_LIMITED, openai.RateLimitError, 429, "rate_limit_exceeded"),
    (faults.NO_CREDIT, openai.RateLimitError, 429, "insufficient_quota"),
    (faults.SERVER_ERROR, openai.InternalServerError, 500, None),
    (faults.OVERLOADED, openai.InternalServerError, 503, None),
    (faults.BAD_GATEWAY, openai.InternalServerError, 502, None),
    (faults.INVALID_KEY, openai.AuthenticationError, 401, "invalid_api_key"),
    (faults.FORBIDDEN, openai.PermissionDeniedError, 403, "unsupported_country_region_territory"),
    (faults.UNKNOWN_MODEL, openai.NotFoundError, 404, "model_not_found"),
    (faults.INVALID_REQUEST, openai.BadRequestError, 400, "invalid_value"),
    (faults.TOO_LARGE, openai.APIStatusError, 413, None),
    (faults.REDIRECTED, openai.APIStatusError, 307, None),
    (faults.PROMPT_FILTERED, openai.BadRequestError, 400, "content_filter"),
]


@pytest.mark.parametrize("ask", [chat, paint])
@pytest.mark.parametrize(
    ("fault", "kind", "status", "code"), STATUS, ids=[fault.name for fault, *_ in STATUS]
)
def test_a_status_is_an_error_of_its_kind(server, ask, fault, kind, status, code):
    server.always(fault)
    with pytest.raises(openai.APIStatusError) as raised:
        ask(server)
    assert type(raised.value) is kind
    assert (raised.value.status_code, raised.value.code) == (status, code)
    assert server.count == 1


def test_an_invalid_key_is_echoed_in_full(server):
    server.always(faults.INVALID_KEY)
    with pytest.raises(openai.AuthenticationError) as raised:
        chat(server)
    assert KEY in str(raised.value)
    assert KEY in str(raised.value.body)


@pytest.mark.parametrize(
    ("fault", "header", "value"),
    [
        (faults.RETRY_AFTER, "retry-after", "2.5"),
        (faults.RETRY_AFTER_MS, "retry-after-ms", "2500"),
    ],
)
def test_when_to_come_again_stands_in_a_header(server, fault, header, value):
    server.always(fault.for_seconds(2.5))
    with pytest.raises(openai.RateLimitError) as raised:
        chat(server)
    assert raised.value.response.headers[header] == value


def test_when_to_come_again_may_be_a_date(server):
    server.always(faults.RETRY_AFTER_DATE.for_seconds(3600))
    with pytest.raises(openai.RateLimitError) as raised:
        chat(server)
    headers = raised.value.response.headers
    assert headers["retry-after"].endswith(" GMT")
    assert "retry-after-ms" not in headers


@pytest.mark.parametrize(
    "fault", [faults.CONTENT_POLICY, faults.MODERATION], ids=lambda fault: fault.name
)
def test_a_prompt_for_a_picture_is_refused_by_code(server, fault):
    server.always(fault)
    with pytest.raises(openai.BadRequestError) as raised:
        paint(server)
    assert f"400 {raised.value.code}" == fault.name


def test_a_prompt_for_text_is_refused_by_code(server):
    server.always(faults.INVALID_PROMPT)
    with pytest.raises(openai.BadRequestError) as raised:
        chat(server)
    assert raised.value.code == "invalid_prompt"


@pytest.mark.parametrize("ask", [chat, paint])
@pytest.mark.parametrize(
    ("fault", "cause"),
    [
        (faults.DROPPED, httpx2.RemoteProtocolError),
        (faults.RESET, httpx2.ReadError),
        (faults.HALF_HEADERS, httpx2.RemoteProtocolError),
        (faults.HALF_BODY, httpx2.RemoteProtocolError),
    ],
    ids=["dropped", "reset", "half headers", "half body"],
)
def test_a_broken_connection_is_wrapped(server, ask, fault, cause):
    server.always(fault)
    with pytest.raises(openai.APIConnectionError) as raised:
        ask(server)
    assert type(raised.value) is openai.APIConnectionError
    assert type(raised.value.__cause__) is cause
    assert server.count == 1


def test_no_server_at_all_is_a_connection_error():
    with Provider() as server:
        pass
    with pytest.raises(openai.APIConnectionError) as raised:
        chat(server)
    assert type(raised.value.__cause__) is httpx2.ConnectError


def test_a_slow_reply_is_a_timeout(server):
    server.always(faults.SLOW.for_seconds(60))
    with pytest.raises(openai.APITimeoutError):
        chat(server, timeout=0.1)


def test_a_dripping_reply_outlives_every_timeout_but_a_deadline(server):
    server.always(faults.DRIPPING)

    async def ask(client):
        async with asyncio.timeout(1.5):
            await client.chat.completions.create(model="m", messages=SAY, timeout=1.0)

    with pytest.raises(TimeoutError) as raised:
        with_openai(server, ask)
    assert not isinstance(raised.value, openai.APIError)


def test_a_redirect_that_is_followed_sends_the_request_again(server):
    server.always(faults.REDIRECTED)

    async def ask():
        async with openai.AsyncOpenAI(
            base_url=server.openai_url, api_key=KEY, max_retries=0
        ) as client:
            return await client.chat.completions.create(model="m", messages=SAY)

    assert asyncio.run(ask()).choices[0].message.content
    assert [received.path for received in server.received] == [
        "/v1/chat/completions",
        "/elsewhere/v1/chat/completions",
    ]


@pytest.mark.parametrize("ask", [chat, paint])
def test_malformed_json_is_a_bare_error(server, ask):
    server.always(faults.MALFORMED_JSON)
    with pytest.raises(json.JSONDecodeError):
        ask(server)


def test_another_shape_raises_nothing(server):
    server.always(faults.OTHER_SHAPE)
    assert chat(server).choices is None
    assert paint(server).data is None


@pytest.mark.parametrize("ask", [chat, paint])
def test_a_web_page_is_a_str(server, ask):
    server.always(faults.WEB_PAGE)
    assert ask(server) == "<html>Please log in.</html>"


@pytest.mark.parametrize(
    ("fault", "content", "refusal", "finish"),
    [
        (faults.REFUSED, None, "I'm sorry, I can't help with that.", "stop"),
        (faults.FILTERED, None, None, "content_filter"),
        (faults.NO_TEXT, None, None, "stop"),
        (faults.CUT_OFF, '{"cut', None, "length"),
        (faults.PROSE, "I would rather answer in prose.", None, "stop"),
        (faults.OTHER_SCHEMA, '{"unasked": 1}', None, "stop"),
    ],
    ids=lambda value: getattr(value, "name", None),
)
def test_what_a_chat_may_say_instead(server, fault, content, refusal, finish):
    server.always(fault)
    choice = chat(server).choices[0]
    assert (choice.message.content, choice.message.refusal) == (content, refusal)
    assert choice.finish_reason == finish


def test_no_choices_and_no_pictures_are_empty_lists(server):
    server.script([faults.NO_CANDIDATES, faults.NO_PICTURES])
    assert chat(server).choices == []
    assert paint(server).data == []


def test_broken_pictures_come_as_they_are(server):
    server.script([faults.NOT_A_PICTURE, faults.TRUNCATED_PNG, faults.MISLABELLED])
    with pytest.raises(UnidentifiedImageError):
        opened(paint(server))
    with pytest.raises((OSError, SyntaxError)):
        opened(paint(server)).load()
    reply = paint(server)
    assert (opened(reply).format, reply.output_format) == ("JPEG", "png")


def test_a_wide_picture_is_a_small_file(server):
    server.always(faults.WIDE_PNG)
    file = base64.b64decode(paint(server).data[0].b64_json)
    assert len(file) < 150_000
    with pytest.raises(Image.DecompressionBombError):
        Image.open(io.BytesIO(file))
