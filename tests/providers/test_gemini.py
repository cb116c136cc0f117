"""What google-genai makes of every reply: endpoints, faults, refusals."""

import asyncio
import io
import json

import pytest
from google import genai
from google.genai import errors, types
from PIL import Image
from pydantic import BaseModel

from tests.providers import Provider, faults, gemini_wire, pictures
from tests.providers.clients import KEY, with_gemini

PNG, OTHER_PNG = pictures.png("one"), pictures.png("other", 20, 10)


@pytest.fixture
def server():
    with Provider() as server:
        yield server


def ask(server, contents="How many legs?", model="gemini-3-flash", **config):
    return with_gemini(
        server,
        lambda client: client.models.generate_content(
            model=model, contents=contents, config=types.GenerateContentConfig(**config)
        ),
    )


def paint(server, contents="A zebra", **config):
    return ask(server, contents, "gemini-3-flash-image", **config)


def opened(reply):
    return Image.open(io.BytesIO(reply.parts[0].inline_data.data))


def picture(data):
    return types.Part.from_bytes(data=data, mime_type="image/png")


def test_text(server):
    turns = [
        types.UserContent("How many legs?"),
        types.ModelContent("{4}"),
        types.UserContent("Look again."),
    ]
    config = {"system_instruction": "Be brief.", "temperature": 1.0, "max_output_tokens": 5}
    reply = ask(server, turns, **config)
    assert reply.text == ask(server, turns, **config).text
    assert reply.text in {f"{{{n}}}" for n in range(10)}
    assert reply.model_version == "gemini-3-flash"
    assert reply.usage_metadata.prompt_token_count == 8
    assert reply.usage_metadata.candidates_token_count == 1
    received = server.received[0]
    assert received.texts == ("Be brief.", "How many legs?", "{4}", "Look again.")
    assert received.parameters == {"generationConfig": {"temperature": 1.0, "maxOutputTokens": 5}}
    assert (received.provider, received.model, received.key) == ("gemini", "gemini-3-flash", KEY)
    assert server.received[0].digest == server.received[1].digest


class Leg(BaseModel):
    length: float
    side: str


class Animal(BaseModel):
    name: str
    legs: list[Leg]


@pytest.mark.parametrize(
    "schema",
    [{"response_json_schema": Animal.model_json_schema()}, {"response_schema": Animal}],
    ids=["JSON Schema", "Gemini's own"],
)
def test_text_to_a_schema(server, schema):
    reply = ask(server, response_mime_type="application/json", **schema)
    assert Animal.model_validate_json(reply.text).legs
    assert server.received[0].schema


def test_a_picture(server):
    config = types.ImageConfig(aspect_ratio="3:1")
    reply = paint(server, response_modalities=["IMAGE"], image_config=config)
    opened(reply).load()
    assert (opened(reply).format, opened(reply).size) == ("PNG", (48, 16))
    assert reply.parts[0].inline_data.mime_type == "image/png"
    assert opened(paint(server)).size == (64, 64)
    assert paint(server).parts == paint(server).parts
    assert paint(server, "A horse").parts != paint(server).parts
    assert server.received[0].texts == ("A zebra",)


def test_an_edit(server):
    server.answer = lambda received: received.images[0]
    reply = paint(server, [picture(OTHER_PNG), "Five legs"])
    assert reply.parts[0].inline_data.data == OTHER_PNG
    assert server.received[0].texts == ("Five legs",)


def test_the_older_version_of_the_api(server):
    async def old(client):
        options = types.HttpOptions(api_version="v1beta")
        config = types.GenerateContentConfig(http_options=options)
        return await client.models.generate_content(model="m", contents="a", config=config)

    assert with_gemini(server, old).text
    assert server.received[0].path == "/v1beta/models/m:generateContent"


def test_an_invalid_key_is_told_from_an_invalid_request_by_its_details_alone(server):
    server.script([faults.INVALID_KEY, faults.INVALID_REQUEST])
    with pytest.raises(errors.ClientError) as bad_key:
        ask(server)
    with pytest.raises(errors.ClientError) as bad_request:
        ask(server)
    assert bad_key.value.details["error"]["details"][0]["reason"] == "API_KEY_INVALID"
    assert "details" not in bad_request.value.details["error"]


def test_when_to_come_again_stands_in_a_header_or_in_the_details(server):
    server.script([faults.RETRY_AFTER.for_seconds(2.5), faults.RETRY_INFO.for_seconds(2.5)])
    with pytest.raises(errors.ClientError) as header:
        ask(server)
    with pytest.raises(errors.ClientError) as details:
        ask(server)
    assert header.value.response.headers["retry-after"] == "2.5"
    assert "retry-after" not in details.value.response.headers
    [info] = details.value.details["error"]["details"]
    assert info["@type"].endswith("RetryInfo")
    assert info["retryDelay"] == "2.5s"


def test_a_day_s_quota_is_told_from_a_minute_s_by_its_details_alone(server):
    server.script([faults.NO_CREDIT, faults.RATE_LIMITED])
    with pytest.raises(errors.ClientError) as day:
        ask(server)
    with pytest.raises(errors.ClientError) as minute:
        ask(server)
    assert (day.value.code, day.value.status) == (minute.value.code, minute.value.status)
    [failure] = day.value.details["error"]["details"]
    assert failure["@type"].endswith("QuotaFailure")
    assert "PerDay" in failure["violations"][0]["quotaId"]


def test_a_gateway_s_page_has_no_envelope(server):
    server.always(faults.BAD_GATEWAY)
    with pytest.raises(errors.ServerError) as raised:
        ask(server)
    assert set(raised.value.details) == {"message", "status"}


@pytest.mark.parametrize("fault", [faults.MALFORMED_JSON, faults.WEB_PAGE])
def test_malformed_json_is_a_bare_error(server, fault):
    server.always(fault)
    with pytest.raises(json.JSONDecodeError):
        ask(server)


@pytest.mark.parametrize("do", [ask, paint])
@pytest.mark.parametrize("fault", [faults.OTHER_SHAPE, faults.NO_CANDIDATES])
def test_no_candidates_and_another_shape_raise_nothing(server, do, fault):
    server.always(fault)
    reply = do(server)
    assert (reply.candidates, reply.prompt_feedback, reply.text) == (None, None, None)


@pytest.mark.parametrize("do", [ask, paint])
@pytest.mark.parametrize("reason", faults.PROMPT_BLOCKED)
def test_a_blocked_prompt_has_a_reason_and_no_candidates(server, do, reason):
    server.always(faults.PROMPT_BLOCKED[reason])
    reply = do(server)
    assert reply.candidates is None
    assert reply.prompt_feedback.block_reason is types.BlockedReason[reason]


@pytest.mark.parametrize("do", [ask, paint])
@pytest.mark.parametrize("reason", faults.FINISHED)
def test_a_refusal_has_a_reason_and_no_content(server, do, reason):
    server.always(faults.FINISHED[reason])
    [candidate] = do(server).candidates
    assert candidate.content is None
    assert candidate.finish_reason is types.FinishReason[reason]
    assert candidate.finish_message is None, "the SDK hands it on at last"
    assert server.count == 1


def test_what_a_text_may_be_instead(server):
    server.script([faults.NO_TEXT, faults.CUT_OFF, faults.PROSE, faults.OTHER_SCHEMA])
    [nothing] = ask(server).candidates
    assert (nothing.content, nothing.finish_reason) == (None, types.FinishReason.STOP)
    [cut] = ask(server).candidates
    assert (cut.content.parts[0].text, cut.finish_reason) == ('{"cut', "MAX_TOKENS")
    assert ask(server).text == "I would rather answer in prose."
    assert ask(server).text == '{"unasked": 1}'


def test_a_thought_is_a_part_of_its_own(server):
    server.answer = lambda received: "{5}"
    server.always(faults.THOUGHT_FIRST)
    reply = ask(server)
    assert [part.thought for part in reply.parts] == [True, None]
    assert reply.text == "{5}"


def test_text_may_come_instead_of_a_picture_or_beside_it(server):
    server.script([faults.TEXT_FOR_PICTURE, faults.TEXT_BESIDE, faults.THOUGHT_FIRST])
    [only] = paint(server).parts
    assert only.inline_data is None
    for _ in range(2):
        words, data = paint(server).parts
        assert words.text
        assert data.inline_data.data.startswith(b"\x89PNG")


def test_a_reply_to_be_continued_is_asked_for_again_by_the_sdk_unless_told_not_to(server):
    server.answer = lambda received: "{5}"
    server.script([faults.CONTINUED])
    assert ask(server).text == "{5}{5}"
    assert server.count == 2
    server.script([faults.CONTINUED])
    reply = ask(server, automatic_continuation=False)
    assert reply.candidates[0].finish_reason is types.FinishReason.CONTINUATION
    assert server.count == 3


def test_an_unknown_reason_to_finish_is_a_warning_and_a_str(server):
    server.answer = lambda received: gemini_wire.content(received, "m", [], finish="MOOD")
    with pytest.warns(UserWarning, match="MOOD is not a valid FinishReason"):
        [candidate] = ask(server).candidates
    assert candidate.finish_reason == "MOOD"


def test_left_to_itself_the_sdk_uses_aiohttp_and_warns_of_it(server):
    async def own_choice():
        options = types.HttpOptions(base_url=server.url)
        client = genai.Client(api_key=KEY, http_options=options).aio
        await client.models.generate_content(model="m", contents="a")

    with pytest.warns(DeprecationWarning, match="AiohttpClientSession"):
        asyncio.run(own_choice())
