"""Gemini's API over real HTTP: what is sent, what comes back, and what is never said."""

import base64
import json
import re
from typing import Any

import pytest
from pydantic.alias_generators import to_camel

from resources.models.backends.gemini import Gemini
from resources.models.replies import (
    ImageFile,
    Interrupted,
    ModelReply,
    ModelUnavailable,
    NoAnswer,
    Overloaded,
    Refusal,
    RequestFault,
    UnacceptableRequest,
    UnparsableReply,
    Usage,
)
from resources.models.requests import EditRequest, LookRequest, PaintRequest, Turn, WriteRequest
from tests.providers import faults, gemini_wire
from tests.providers.http import json_response
from tests.resources.models.backends.asking import (
    EDIT,
    JPEG,
    KEY,
    LOOK,
    ONE,
    PAINT,
    PNG,
    STORE,
    THREE,
    TWO,
    WEBP,
    WRITE,
    entry,
    proxy,
)

PAINTER = "gemini-3-flash-image"
SCHEMA = {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]}


def gemini(server, model: str = "some-model", **fields: Any):
    return entry("gemini", server.url, model=model, **fields)


def of(request_) -> str:
    """A model that can be asked this."""
    return PAINTER if isinstance(request_, PaintRequest | EditRequest) else "some-model"


def file(data: bytes, kind: str) -> dict[str, Any]:
    encoded = base64.urlsafe_b64encode(data).decode()
    return {"inlineData": {"data": encoded, "mimeType": f"image/{kind}"}}


def sent(server) -> dict[str, Any]:
    """The one body, in the spelling of the documents: the API takes snake case as well."""
    (received,) = server.received
    return camel(json.loads(received.body))


def camel(value: Any) -> Any:
    if isinstance(value, dict):
        return {to_camel(name): camel(inner) for name, inner in value.items()}
    return [camel(inner) for inner in value] if isinstance(value, list) else value


def said(parts: list[dict[str, Any]], finish: str = "STOP"):
    return lambda received: gemini_wire.content(received, received.model, parts, finish=finish)


# What is sent


def test_pictures_precede_the_text_of_their_turn(server, ask):
    turns = (
        Turn("system", "Count with care."),
        Turn("system", "Answer in braces."),
        Turn("user", "How many legs?", (ONE, TWO, THREE)),
        Turn("assistant", "{2}"),
        Turn("user", "Are you sure?"),
    )
    ask(gemini(server, "gemini-3-flash"), LookRequest(turns, sample=3))
    assert server.received[0].path == "/v1beta/models/gemini-3-flash:generateContent"
    assert sent(server) == {
        "systemInstruction": {
            "parts": [{"text": "Count with care."}, {"text": "Answer in braces."}],
        },
        "contents": [
            {
                "role": "user",
                "parts": [
                    file(PNG, "png"),
                    file(JPEG, "jpeg"),
                    file(WEBP, "webp"),
                    {"text": "How many legs?"},
                ],
            },
            {"role": "model", "parts": [{"text": "{2}"}]},
            {"role": "user", "parts": [{"text": "Are you sure?"}]},
        ],
        "generationConfig": {},
    }


def test_parameters_are_fields_of_the_configuration(server, ask):
    parameters = {
        "temperature": 0.5,
        "thinking_config": {"thinking_budget": 0},
        "safety_settings": [{"category": "HARM_CATEGORY_HARASSMENT", "threshold": "OFF"}],
    }
    ask(gemini(server, parameters=parameters), WRITE)
    assert sent(server) == {
        "contents": [{"role": "user", "parts": [{"text": "Write."}]}],
        "generationConfig": {"temperature": 0.5, "thinkingConfig": {"thinkingBudget": 0}},
        "safetySettings": [{"category": "HARM_CATEGORY_HARASSMENT", "threshold": "OFF"}],
    }


@pytest.mark.parametrize(
    ("parameters", "where"),
    [({"temprature": 1}, "temprature"), ({"image_config": {"size": "1K"}}, "image_config.size")],
)
def test_a_parameter_that_gemini_does_not_take_is_named(parameters, where):
    with pytest.raises(ModelUnavailable) as caught:
        Gemini(entry("gemini", "http://unused", parameters=parameters), KEY, STORE.__getitem__)
    assert str(caught.value) == (
        f"some has the parameter {where} in models.yaml, which Gemini does not take: Extra inputs "
        "are not permitted. GenerateContentConfig of google-genai has their names."
    )


def test_a_schema_is_sent_as_json_schema(server, ask):
    ask(gemini(server), WriteRequest((Turn("user", "Write."),), schema=json.dumps(SCHEMA)))
    assert sent(server)["generationConfig"] == {
        "responseMimeType": "application/json",
        "responseJsonSchema": SCHEMA,
    }


def test_a_prompt_is_painted(server, ask):
    parameters = {"image_config": {"aspect_ratio": "3:2"}}
    reply = ask(gemini(server, PAINTER, parameters=parameters), PaintRequest("A hen", seed=7))
    assert sent(server) == {
        "contents": [{"role": "user", "parts": [{"text": "A hen"}]}],
        "generationConfig": {"imageConfig": {"aspectRatio": "3:2"}, "seed": 7},
    }
    assert isinstance(reply, ModelReply)
    assert reply.pictures[0].data.startswith(b"\x89PNG")
    assert reply.pictures[0].media_type == "image/png"
    assert reply.served_model == PAINTER
    assert reply.usage == Usage(2, 1000)


def test_pictures_are_edited(server, ask):
    ask(gemini(server, PAINTER), EditRequest("Join them", (ONE, TWO)))
    assert sent(server) == {
        "contents": [
            {
                "role": "user",
                "parts": [file(PNG, "png"), file(JPEG, "jpeg"), {"text": "Join them"}],
            }
        ],
        "generationConfig": {},
    }


def test_only_what_models_yaml_says_is_used(server, ask, monkeypatch):
    for name, value in {
        "GEMINI_API_KEY": "other",
        "GOOGLE_API_KEY": "other",
        "GOOGLE_CLOUD_LOCATION": "europe-west1",
        "GOOGLE_CLOUD_PROJECT": "project-1",
        "GOOGLE_GEMINI_BASE_URL": "http://127.0.0.1:1",
        "GOOGLE_GENAI_API_VERSION": "v1",
        "GOOGLE_GENAI_CLIENT_MODE": "replay",
        "GOOGLE_GENAI_USE_ENTERPRISE": "true",
        "GOOGLE_GENAI_USE_VERTEXAI": "true",
    }.items():
        monkeypatch.setenv(name, value)
    model = gemini(server, family="made with these variables")
    ask(model, LOOK)
    ask(model, LOOK, key=None)
    with_key, without_key = (dict(received.headers) for received in server.received)
    assert with_key.pop("x-goog-api-key") == KEY
    common = {"host", "accept", "accept-encoding", "connection", "content-type", "content-length"}
    assert set(with_key) == set(without_key) == common | {"user-agent"}
    assert {received.path for received in server.received} == {
        "/v1beta/models/some-model:generateContent"
    }


def test_google_itself_is_asked_at_its_own_address(ask, monkeypatch):
    monkeypatch.setenv("GOOGLE_GEMINI_BASE_URL", "http://127.0.0.1:1")
    with proxy() as (address, asked):
        monkeypatch.setenv("HTTPS_PROXY", address)
        end = ask(entry("gemini", "", base_url=None), WRITE)
    assert type(end) is Interrupted
    assert asked == ["CONNECT generativelanguage.googleapis.com:443 HTTP/1.1"]


def test_no_more_connections_than_the_entry_allows(server, asker):
    server.held = lambda _: server.count < 4
    turns = [LookRequest((Turn("user", f"Question {i}"),)) for i in range(8)]
    ends = asker.ask_all(gemini(server, concurrency=4), turns)
    assert all(isinstance(end, ModelReply) for end in ends)
    assert server.most_in_flight == 4


def test_a_model_id_that_cannot_be_one(server, ask):
    end = ask(gemini(server, "a?b"), LOOK)
    assert type(end) is ModelUnavailable
    assert str(end) == "some in models.yaml: invalid model parameter."


# What comes back


def test_an_answer(server, ask):
    server.answer = lambda _: "{5}"
    server.served = {"some-model": "some-model-001"}
    reply = ask(gemini(server), LOOK)
    assert reply == ModelReply(text="{5}", served_model="some-model-001", usage=Usage(103, 1))


def test_thoughts_are_no_answer_but_are_paid_for(server, ask):
    server.answer = lambda _: json_response(
        {
            "candidates": [
                {
                    "content": {
                        "parts": [{"text": "Hm.", "thought": True}, {"text": "{5"}, {"text": "}"}]
                    },
                    "finishReason": "STOP",
                }
            ],
            "usageMetadata": {
                "promptTokenCount": 9,
                "candidatesTokenCount": 2,
                "thoughtsTokenCount": 30,
            },
        }
    )
    assert ask(gemini(server), LOOK) == ModelReply(
        text="{5}",
        usage=Usage(9, 32),
        provenance={"thought_tokens": 30, "thoughts_cut": "by provider", "thought_characters": 3},
    )


def test_a_picture_comes_with_words_and_after_drafts(server, ask):
    draft = {**gemini_wire.picture_part(JPEG, "image/jpeg"), "thought": True}
    words = gemini_wire.text_part("Here is your hen.")
    server.answer = said([draft, words, gemini_wire.picture_part(WEBP, "image/webp")])
    reply = ask(gemini(server, PAINTER), PAINT)
    assert isinstance(reply, ModelReply)
    assert reply.pictures == (ImageFile(WEBP, "image/webp"),)
    assert reply.text is None


def test_a_reply_that_is_to_be_continued_is_not_sent_on(server, ask):
    parts = [gemini_wire.text_part("There are")]
    server.answer = lambda _: json_response(
        {
            "candidates": [
                {
                    "content": {"role": "model", "parts": parts},
                    "finishReason": "CONTINUATION",
                    "continuationToken": "dG9rZW4=",
                }
            ]
        }
    )
    assert ask(gemini(server), LOOK) == ModelReply(text="There are")
    assert server.count == 1


def test_an_answer_that_is_cut_off_is_an_answer_and_one_that_is_cut_off_at_once_is_not(server, ask):
    server.answer = said([gemini_wire.text_part("There are")], "MAX_TOKENS")
    reply = ask(gemini(server), LOOK)
    assert isinstance(reply, ModelReply)
    assert reply.text == "There are"
    server.answer = said([], "MAX_TOKENS")
    for request_ in (LOOK, PAINT):
        end = ask(gemini(server, of(request_)), request_)
        assert isinstance(end, UnacceptableRequest)
        assert str(end) == (
            "some used up its limit of tokens before it answered: raise max_output_tokens in its "
            "parameters in models.yaml"
        )


BLOCKED = {
    "SAFETY": "content filter",
    "OTHER": "content filter",
    "BLOCKLIST": "content filter",
    "PROHIBITED_CONTENT": "content filter",
    "IMAGE_SAFETY": "image safety",
}
FINISHED = {
    "SAFETY": "content filter",
    "RECITATION": "content filter",
    "PROHIBITED_CONTENT": "content filter",
    "BLOCKLIST": "content filter",
    "SPII": "content filter",
    "IMAGE_SAFETY": "image safety",
    "IMAGE_PROHIBITED_CONTENT": "image safety",
    "IMAGE_RECITATION": "image safety",
    "IMAGE_OTHER": "no image",
    "NO_IMAGE": "no image",
}
REFUSALS = [
    *(
        (faults.PROMPT_BLOCKED[reason], request_, kind, f"blockReason: {reason}.")
        for reason, kind in BLOCKED.items()
        for request_ in (LOOK, PAINT)
    ),
    *(
        (
            faults.FINISHED[reason],
            request_,
            kind,
            f"finishReason: {reason}. The model stopped: {reason}.",
        )
        for reason, kind in FINISHED.items()
        for request_ in (LOOK, EDIT)
    ),
    (faults.FINISHED["OTHER"], LOOK, "content filter", "finishReason: OTHER. The model stopped"),
    (faults.FINISHED["OTHER"], PAINT, "no image", "finishReason: OTHER. The model stopped"),
    (faults.TEXT_FOR_PICTURE, PAINT, "no image", "I cannot draw that, but here is a description."),
]


@pytest.mark.parametrize(
    ("fault", "request_", "kind", "reason"),
    REFUSALS,
    ids=[f"{fault.name}-{type(request_).__name__}" for fault, request_, *_ in REFUSALS],
)
def test_a_refusal_is_a_reply_with_its_kind_and_the_provider_s_words(
    server, ask, fault, request_, kind, reason
):
    server.script([fault])
    reply = ask(gemini(server, of(request_)), request_)
    assert isinstance(reply, ModelReply)
    assert isinstance(reply.refusal, Refusal)
    assert reply.refusal.kind == kind
    assert reply.refusal.reason.startswith(reason)
    assert reply.text is None
    assert reply.pictures == ()
    assert reply.served_model == of(request_)
    assert reply.usage.input_tokens
    assert server.count == 1


def test_what_was_said_before_a_filter_stopped_it_is_no_answer(server, ask):
    server.answer = said([gemini_wire.text_part("There")], "SAFETY")
    reply = ask(gemini(server), LOOK)
    assert isinstance(reply, ModelReply)
    assert reply.text is None
    assert reply.refusal == Refusal(
        "content filter", "finishReason: SAFETY. The model stopped: SAFETY."
    )


def test_a_picture_without_words_or_reason_is_no_image(server, ask):
    server.answer = said([])
    reply = ask(gemini(server, PAINTER), PAINT)
    assert isinstance(reply, ModelReply)
    assert reply.refusal == Refusal("no image", "The reply holds no picture.")


def test_a_reason_that_is_new_is_a_refusal_where_there_is_no_answer(server, ask):
    server.answer = said([], "SOMETHING_NEW")
    reply = ask(gemini(server), LOOK)
    assert isinstance(reply, ModelReply)
    assert reply.refusal
    assert reply.refusal.kind == "content filter"
    server.answer = said([gemini_wire.text_part("{5}")], "SOMETHING_NEW")
    reply = ask(gemini(server), LOOK)
    assert isinstance(reply, ModelReply)
    assert (reply.text, reply.refusal) == ("{5}", None)


# Faults

FAULTS: list[tuple[faults.Fault, type[RequestFault], str]] = [
    (faults.DROPPED, Interrupted, "RemoteProtocolError: "),
    (faults.RESET, Interrupted, "Error: [a-zA-Z]"),
    (faults.HALF_HEADERS, Interrupted, "RemoteProtocolError: "),
    (faults.HALF_BODY, Interrupted, "without sending complete message body"),
    (
        faults.REDIRECTED,
        ModelUnavailable,
        "HTTP 307: the server redirects to /elsewhere/.*set base_url",
    ),
    (faults.RATE_LIMITED, Overloaded, "HTTP 429: Resource has been exhausted."),
    (faults.SERVER_ERROR, Interrupted, "HTTP 500: An internal error"),
    (faults.OVERLOADED, Overloaded, "HTTP 503: The model is overloaded"),
    (faults.BAD_GATEWAY, Interrupted, "HTTP 502: .*Bad Gateway"),
    (faults.INVALID_KEY, ModelUnavailable, "HTTP 400: API key not valid"),
    (faults.FORBIDDEN, ModelUnavailable, "HTTP 403: Your API key was reported as leaked"),
    (faults.UNKNOWN_MODEL, ModelUnavailable, "HTTP 404: models/.* is not found"),
    (faults.INVALID_REQUEST, UnacceptableRequest, "HTTP 400: Invalid value at 'generation_config"),
    (faults.TOO_LARGE, UnacceptableRequest, "HTTP 413: .*Request Entity Too Large"),
    (faults.MALFORMED_JSON, UnparsableReply, "not what this API sends: the body: no JSON"),
    (faults.OTHER_SHAPE, NoAnswer, "not what this API sends: it holds no candidate"),
    (faults.WEB_PAGE, UnparsableReply, "not what this API sends: the body: no JSON"),
    (faults.NO_CANDIDATES, NoAnswer, "not what this API sends: it holds no candidate"),
]


@pytest.mark.parametrize("request_", [LOOK, PAINT], ids=["look", "paint"])
@pytest.mark.parametrize(("fault", "kind", "words"), FAULTS, ids=[f[0].name for f in FAULTS])
def test_a_fault_says_what_to_do_in_the_provider_s_words(server, ask, fault, kind, words, request_):
    server.script([fault])
    end = ask(gemini(server, of(request_)), request_)
    assert type(end) is kind
    assert re.search(words, str(end))
    assert server.count == 1


def test_a_reply_without_any_text_is_unreadable_and_an_empty_one_is_an_answer(server, ask):
    server.script([faults.NO_TEXT])
    end = ask(gemini(server), LOOK)
    assert type(end) is NoAnswer
    assert str(end) == "The reply holds no text (finishReason: STOP)."
    server.answer = said([gemini_wire.text_part("")])
    reply = ask(gemini(server), LOOK)
    assert isinstance(reply, ModelReply)
    assert reply.text == ""


@pytest.mark.parametrize(
    ("reason", "kind"),
    [("MALFORMED_RESPONSE", NoAnswer), ("PUP_LIMITED_DISABLED", ModelUnavailable)],
)
def test_reasons_that_are_no_refusal(server, ask, reason, kind):
    server.answer = said([], reason)
    end = ask(gemini(server), LOOK)
    assert type(end) is kind
    assert str(end) == f"finishReason: {reason}. The model stopped: {reason}."


QUOTA = "You exceeded your current quota, please check your plan and billing details."


def violated(quota: str) -> dict[str, Any]:
    return {
        "@type": "type.googleapis.com/google.rpc.QuotaFailure",
        "violations": [{"quotaId": quota}],
    }


def wait(delay: str) -> dict[str, Any]:
    return {"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": delay}


@pytest.mark.parametrize(
    ("code", "status", "words", "details", "kind", "retry_after"),
    [
        (429, "RESOURCE_EXHAUSTED", QUOTA, [wait("34.07s")], Overloaded, 34.07),
        (429, "RESOURCE_EXHAUSTED", QUOTA, [violated("PerMinute"), wait("5s")], Overloaded, 5),
        (429, "RESOURCE_EXHAUSTED", "Too many.", [wait("soon")], Overloaded, None),
        (
            429,
            "RESOURCE_EXHAUSTED",
            QUOTA,
            [violated("RequestsPerDay"), wait("5s")],
            ModelUnavailable,
            None,
        ),
        (429, "RESOURCE_EXHAUSTED", QUOTA, [], ModelUnavailable, None),
        (
            429,
            "RESOURCE_EXHAUSTED",
            "Your prepayment credits are depleted.",
            [],
            ModelUnavailable,
            None,
        ),
        (400, "FAILED_PRECONDITION", "User location is not supported.", [], ModelUnavailable, None),
        (409, "ABORTED", "Aborted.", [], Interrupted, None),
        (504, "DEADLINE_EXCEEDED", "Too slow.", [], Interrupted, None),
    ],
)
def test_other_errors(server, ask, code, status, words, details, kind, retry_after):
    server.answer = lambda _: gemini_wire.error(code, status, words, details)
    end = ask(gemini(server), LOOK)
    assert type(end) is kind
    assert str(end) == f"HTTP {code}: {words}"
    assert getattr(end, "retry_after", None) == retry_after


@pytest.mark.parametrize(
    "fault", [faults.RETRY_AFTER, faults.RETRY_AFTER_MS, faults.RETRY_AFTER_DATE, faults.RETRY_INFO]
)
def test_the_wait_that_a_provider_asks_for(server, ask, fault):
    server.script([fault.for_seconds(9_000)])
    end = ask(gemini(server), LOOK)
    assert isinstance(end, Overloaded)
    assert end.retry_after == pytest.approx(9_000, abs=600)


def test_the_key_is_struck_out_of_what_a_server_echoes(server, ask):
    server.answer = lambda received: gemini_wire.error(
        403, "PERMISSION_DENIED", f"No access for {received.key}, that is {received.key[:6]}****x."
    )
    end = ask(gemini(server), LOOK)
    assert str(end) == "HTTP 403: No access for [key], that is [key]"


def test_a_server_that_is_not_there(ask):
    end = ask(entry("gemini", "http://127.0.0.1:1"), LOOK)
    assert type(end) is Interrupted
    assert str(end).startswith("ConnectError: ")
