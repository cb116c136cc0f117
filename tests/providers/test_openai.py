"""What the OpenAI SDK makes of every reply: endpoints, faults, refusals."""

import asyncio
import base64
import io
import json

import httpx2
import openai
import pytest
from PIL import Image
from pydantic import BaseModel

from tests.providers import Provider, faults, pictures
from tests.providers.clients import KEY, with_openai

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


def test_a_compatible_server_needs_no_key(server):
    asked = {"model": "llava", "messages": SAY}
    reply = httpx2.post(f"{server.openai_url}/chat/completions", json=asked)
    assert reply.json()["choices"][0]["message"]["content"]
    assert server.received[0].key is None


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
