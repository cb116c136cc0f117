"""Replies of a good status that are not what was asked for."""

import json
from dataclasses import replace
from typing import Any

from tests.providers import anthropic_wire, gemini_wire, openai_wire, pictures
from tests.providers.exchange import Exchange
from tests.providers.faults.base import fault_called
from tests.providers.http import Response, json_response

MALFORMED_JSON = fault_called(
    "malformed JSON", lambda x: replace(x.normal(), body=b'{"choices": [{')
)
OTHER_SHAPE = fault_called("another shape", lambda x: replace(x.normal(), body=b'{"ok": true}'))
WEB_PAGE = fault_called(
    "web page", lambda _: Response(b"<html>Please log in.</html>", media_type="text/html")
)


def _changed(x: Exchange, **fields: Any) -> Response:
    body = json.loads(x.normal().body)
    body["candidates"][0].update(fields)
    return json_response(body)


def _with_part(x: Exchange, part: dict[str, Any]) -> Response:
    body = json.loads(x.normal().body)
    body["candidates"][0]["content"]["parts"].insert(0, part)
    return json_response(body)


NO_CANDIDATES = fault_called(
    "no candidates",
    openai=lambda x: openai_wire.no_choices(x.received, x.served),
    gemini=lambda x: gemini_wire.reply(x.received, x.served, {}, 0),
    tasks=("text", "picture"),
)
NO_TEXT = fault_called(
    "no text",
    openai=lambda x: openai_wire.completion(x.received, x.served, None),
    gemini=lambda x: gemini_wire.content(x.received, x.served, []),
    anthropic=lambda x: anthropic_wire.message(x.received, x.served, []),
    tasks=("text",),
)
CUT_OFF = fault_called(
    "cut off",
    openai=lambda x: openai_wire.completion(x.received, x.served, '{"cut', finish="length"),
    gemini=lambda x: gemini_wire.content(
        x.received, x.served, [gemini_wire.text_part('{"cut')], finish="MAX_TOKENS"
    ),
    anthropic=lambda x: anthropic_wire.message(
        x.received, x.served, [anthropic_wire.text_block('{"cut')], stop="max_tokens"
    ),
    tasks=("text",),
)
CONTINUED = fault_called(
    "to be continued",
    gemini=lambda x: _changed(x, finishReason="CONTINUATION", continuationToken="bW9yZQ=="),
    tasks=("text",),
)
THOUGHT_FIRST = fault_called(
    "a thought first",
    gemini=lambda x: _with_part(x, {"text": "Let me count the legs.", "thought": True}),
    tasks=("text", "picture"),
)
TEXT_BESIDE = fault_called(
    "text beside the picture",
    gemini=lambda x: _with_part(x, gemini_wire.text_part("Here is your picture:")),
    tasks=("picture",),
)
PROSE = fault_called("prose", lambda x: x.text("I would rather answer in prose."), tasks=("text",))
OTHER_SCHEMA = fault_called("another schema", lambda x: x.text('{"unasked": 1}'), tasks=("text",))
NOT_A_PICTURE = fault_called(
    "not a picture", lambda x: x.picture(pictures.NOT_A_PICTURE), tasks=("picture",)
)
TRUNCATED_PNG = fault_called(
    "truncated PNG",
    lambda x: x.picture(pictures.truncated_png(x.received.digest)),
    tasks=("picture",),
)
WIDE_PNG = fault_called("wide PNG", lambda x: x.picture(pictures.wide_png()), tasks=("picture",))
MISLABELLED = fault_called(
    "JPEG called PNG",
    lambda x: x.picture(pictures.converted(pictures.png(x.received.digest), "jpeg")),
    tasks=("picture",),
)
