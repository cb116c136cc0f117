"""Anthropic's API over real HTTP: what is sent, what comes back, and what is never said."""

import base64
import json
import re
import subprocess
import sys
from typing import Any

import pytest

from resources.models.replies import (
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
from resources.models.requests import LookRequest, Turn, WriteRequest
from tests.providers import anthropic_wire, faults
from tests.providers.anthropic_wire import text_block
from tests.providers.http import json_response
from tests.resources.models.backends.asking import (
    JPEG,
    KEY,
    LOOK,
    ONE,
    PNG,
    THREE,
    TWO,
    WEBP,
    WRITE,
    entry,
    proxy,
)

LIMIT = {"max_tokens": 100}
SCHEMA = {
    "type": "object",
    "properties": {"legs": {"type": "integer", "maximum": 100}},
    "required": ["legs"],
}


def claude(server, **fields: Any):
    return entry("anthropic", server.url, **{"parameters": LIMIT, **fields})


def picture_of(data: bytes, kind: str) -> dict[str, Any]:
    encoded = base64.b64encode(data).decode()
    source = {"type": "base64", "media_type": f"image/{kind}", "data": encoded}
    return {"type": "image", "source": source}


def sent(server) -> dict[str, Any]:
    (received,) = server.received
    return json.loads(received.body)


def said(*content, **more):
    return lambda received: anthropic_wire.message(received, received.model, [*content], **more)


# What is sent


def test_pictures_precede_the_text_of_their_turn_and_the_system_stands_apart(server, ask):
    turns = (
        Turn("system", "Count with care."),
        Turn("user", "How many legs?", (ONE, TWO, THREE)),
        Turn("assistant", "{2}"),
        Turn("user", "Are you sure?"),
    )
    ask(claude(server, model="claude-sonnet-5-5"), LookRequest(turns, sample=3))
    assert server.received[0].path == "/v1/messages"
    assert sent(server) == {
        "model": "claude-sonnet-5-5",
        "max_tokens": 100,
        "system": "Count with care.",
        "messages": [
            {
                "role": "user",
                "content": [
                    picture_of(PNG, "png"),
                    picture_of(JPEG, "jpeg"),
                    picture_of(WEBP, "webp"),
                    {"type": "text", "text": "How many legs?"},
                ],
            },
            {"role": "assistant", "content": "{2}"},
            {"role": "user", "content": "Are you sure?"},
        ],
    }


def test_a_schema_goes_along_beside_the_parameters(server, ask):
    parameters = {**LIMIT, "output_config": {"effort": "low"}}
    reply = ask(
        claude(server, parameters=parameters),
        WriteRequest((Turn("user", "Write."),), schema=json.dumps(SCHEMA)),
    )
    config = sent(server)["output_config"]
    assert config["effort"] == "low"
    assert config["format"]["type"] == "json_schema"
    schema = config["format"]["schema"]
    assert schema["additionalProperties"] is False
    assert schema["required"] == ["legs"]
    # A largest number is none of this API's words: it is told the model instead.
    assert schema["properties"]["legs"] == {"type": "integer", "description": "{maximum: 100}"}
    assert isinstance(reply, ModelReply)
    assert json.loads(str(reply.text)) == {"legs": 1}


def test_a_schema_that_says_nothing_is_not_acceptable(server, ask):
    end = ask(
        claude(server), WriteRequest((Turn("user", "Write."),), schema='{"description": "any"}')
    )
    assert type(end) is UnacceptableRequest
    assert str(end).startswith("some cannot be given the schema of this request: ")
    assert server.count == 0


def test_only_what_models_yaml_says_is_used(server, ask, monkeypatch, tmp_path):
    for name, value in {
        "ANTHROPIC_API_KEY": "sk-other",
        "ANTHROPIC_AUTH_TOKEN": "sk-token",
        "ANTHROPIC_BASE_URL": "http://127.0.0.1:1",
        "ANTHROPIC_CONFIG_DIR": str(tmp_path),
        "ANTHROPIC_CUSTOM_HEADERS": "Authorization: Bearer sk-evil\nX-Custom: 1",
        "ANTHROPIC_PROFILE": "somebody",
    }.items():
        monkeypatch.setenv(name, value)
    model = claude(server, family="made with these variables")
    ask(model, LOOK)
    ask(model, LOOK, key=None)
    with_key, without_key = (dict(received.headers) for received in server.received)
    assert with_key.pop("authorization") == f"Bearer {KEY}"
    assert with_key["anthropic-version"] == "2026-10-21"
    common = {"host", "accept", "accept-encoding", "connection", "content-type", "content-length"}
    assert set(with_key) == set(without_key) == common | {"user-agent", "anthropic-version"}


def test_anthropic_itself_is_asked_at_its_own_address(ask, monkeypatch):
    monkeypatch.setenv("ANTHROPIC_BASE_URL", "http://127.0.0.1:1")
    with proxy() as (address, asked):
        monkeypatch.setenv("HTTPS_PROXY", address)
        end = ask(entry("anthropic", "", base_url=None, parameters=LIMIT), WRITE)
    assert type(end) is Interrupted
    assert asked == ["CONNECT api.anthropic.com:443 HTTP/1.1"]


def test_no_more_connections_than_the_entry_allows(server, asker):
    server.held = lambda _: server.count < 4
    turns = [LookRequest((Turn("user", f"Question {i}"),)) for i in range(8)]
    ends = asker.ask_all(claude(server, concurrency=4), turns)
    assert all(isinstance(end, ModelReply) for end in ends)
    assert server.most_in_flight == 4


# What comes back


def test_an_answer(server, ask):
    server.answer = lambda _: "{5}"
    server.served = {"some-model": "some-model-2026-11-01"}
    reply = ask(claude(server), LOOK)
    assert reply == ModelReply(
        text="{5}", served_model="some-model-2026-11-01", usage=Usage(103, 1)
    )


def test_what_it_thought_is_not_what_it_says(server, ask):
    server.answer = said(anthropic_wire.thought("{4}, or"), text_block("{"), text_block("5}"))
    reply = ask(claude(server), LOOK)
    assert isinstance(reply, ModelReply)
    assert reply.text == "{5}"
    assert reply.provenance == {"thoughts_cut": "by provider", "thought_characters": 7}


def test_tokens_of_the_cache_went_in_as_well(server, ask):
    server.answer = said(
        text_block("{5}"), cache_creation_input_tokens=20, cache_read_input_tokens=300
    )
    reply = ask(claude(server), LOOK)
    assert isinstance(reply, ModelReply)
    assert reply.usage == Usage(423, 1)


def test_a_server_that_says_only_what_is_needed(server, ask):
    server.answer = lambda _: json_response({"content": [{"type": "text", "text": "{5}"}]})
    assert ask(claude(server), LOOK) == ModelReply(text="{5}")


def test_a_refusal_is_a_reply_with_its_category_and_who_served_it(server, ask):
    server.script([faults.REFUSED])
    reply = ask(claude(server), LOOK)
    assert reply == ModelReply(
        refusal=Refusal(
            "content filter", "stop_reason: refusal. general_harms This could do harm."
        ),
        served_model="some-model",
        usage=Usage(103, 0),
    )


def test_a_refusal_after_some_words_is_a_refusal(server, ask):
    server.answer = said(text_block("First, take"), stop="refusal")
    reply = ask(claude(server), LOOK)
    assert isinstance(reply, ModelReply)
    assert reply.text is None
    assert reply.refusal == Refusal("content filter", "stop_reason: refusal.")


def test_an_answer_that_is_cut_off_is_an_answer_and_one_that_is_cut_off_at_once_is_not(server, ask):
    server.answer = said(text_block("There are"), stop="max_tokens")
    reply = ask(claude(server), LOOK)
    assert isinstance(reply, ModelReply)
    assert reply.text == "There are"
    server.answer = said(anthropic_wire.thought("Let me see"), stop="max_tokens")
    end = ask(claude(server), LOOK)
    assert type(end) is UnacceptableRequest
    assert str(end) == (
        "some used up its limit of tokens before it answered: raise max_tokens in its parameters "
        "in models.yaml"
    )
    server.answer = said(stop="model_context_window_exceeded")
    end = ask(claude(server), LOOK)
    assert type(end) is UnacceptableRequest
    assert "no room to answer" in str(end)


# Faults

FAULTS: list[tuple[faults.Fault, type[RequestFault], str]] = [
    (faults.DROPPED, Interrupted, "RemoteProtocolError: "),
    (faults.RESET, Interrupted, "Error: [a-zA-Z]"),
    (faults.HALF_HEADERS, Interrupted, "RemoteProtocolError: "),
    (faults.HALF_BODY, Interrupted, "incomplete|without sending complete message body"),
    (
        faults.REDIRECTED,
        ModelUnavailable,
        "HTTP 307: the server redirects to /elsewhere/.*set base_url",
    ),
    (faults.RATE_LIMITED, Overloaded, "HTTP 429: This request would exceed"),
    (faults.SERVER_ERROR, Interrupted, "HTTP 500: Internal server error"),
    (faults.OVERLOADED, Overloaded, "HTTP 529: Overloaded"),
    (faults.BAD_GATEWAY, Interrupted, "HTTP 502: .*Bad Gateway"),
    (faults.NO_CREDIT, ModelUnavailable, "HTTP 400: Your credit balance is too low"),
    (faults.INVALID_KEY, ModelUnavailable, "HTTP 401: Invalid bearer token"),
    (faults.FORBIDDEN, ModelUnavailable, "HTTP 403: Your API key does not have permission"),
    (faults.UNKNOWN_MODEL, ModelUnavailable, "HTTP 404: model: some-model"),
    (
        faults.INVALID_REQUEST,
        UnacceptableRequest,
        "HTTP 400: messages.0.content.1.text: text content",
    ),
    (faults.TOO_LARGE, UnacceptableRequest, "HTTP 413: .*Request Entity Too Large"),
    (faults.MALFORMED_JSON, UnparsableReply, "not what this API sends: the body: no JSON"),
    (faults.OTHER_SHAPE, NoAnswer, "not what this API sends: content: Field required"),
    (faults.WEB_PAGE, UnparsableReply, "not what this API sends: the body: no JSON"),
    (faults.NO_TEXT, NoAnswer, r"The reply holds no text \(stop_reason: end_turn\)"),
]


@pytest.mark.parametrize("request_", [LOOK, WRITE], ids=["look", "write"])
@pytest.mark.parametrize(("fault", "kind", "words"), FAULTS, ids=[f[0].name for f in FAULTS])
def test_a_fault_says_what_to_do_in_the_provider_s_words(server, ask, fault, kind, words, request_):
    server.script([fault])
    end = ask(claude(server), request_)
    assert type(end) is kind
    assert re.search(words, str(end))
    assert server.count == 1


@pytest.mark.parametrize(
    ("status", "words", "code", "kind"),
    [
        (400, "You have reached your specified API usage limits.", None, ModelUnavailable),
        (400, "This organization has been disabled.", "organization_on_hold", ModelUnavailable),
        (402, "Payment required.", None, ModelUnavailable),
        (408, "Words.", None, Interrupted),
        (409, "Words.", None, Interrupted),
        (413, "Request exceeds the maximum size", None, UnacceptableRequest),
        (422, "Words.", None, UnacceptableRequest),
        (429, "Over the limit.", "contract_spend_limit_reached", ModelUnavailable),
        (429, "Over the limit.", "enforced_spend_limit_reached", ModelUnavailable),
        (429, "Too fast.", "ramp_limit_exceeded", Overloaded),
        (504, "Words.", None, Interrupted),
    ],
)
def test_other_statuses(server, ask, status, words, code, kind):
    server.answer = lambda _: anthropic_wire.error(status, words, code=code)
    end = ask(claude(server), LOOK)
    assert type(end) is kind
    assert str(end) == f"HTTP {status}: {words}"


def test_a_parameter_of_models_yaml_that_is_not_taken_closes_the_model(server, ask):
    server.answer = lambda _: anthropic_wire.error(400, "max_tokens: 900000 > 128000, which is …")
    end = ask(claude(server, parameters={"max_tokens": 900_000}), LOOK)
    assert type(end) is ModelUnavailable
    assert "max_tokens is set in models.yaml, for every request" in str(end)


@pytest.mark.parametrize(
    "fault", [faults.RETRY_AFTER, faults.RETRY_AFTER_MS, faults.RETRY_AFTER_DATE]
)
def test_the_wait_that_a_provider_asks_for(server, ask, fault):
    server.script([fault.for_seconds(9_000)])
    end = ask(claude(server), LOOK)
    assert isinstance(end, Overloaded)
    assert end.retry_after == pytest.approx(9_000, abs=600)


def test_an_error_that_repeats_the_key_does_not_tell_it(server, ask):
    server.answer = lambda _: anthropic_wire.error(401, f"Invalid bearer token: {KEY}")
    assert str(ask(claude(server), LOOK)) == "HTTP 401: Invalid bearer token: [key]"


def test_a_server_that_is_not_there(ask):
    end = ask(entry("anthropic", "http://127.0.0.1:1", parameters=LIMIT), LOOK)
    assert type(end) is Interrupted
    assert str(end).startswith("ConnectError: ")


def test_without_the_sdk_the_extra_is_named():
    """In a process of its own, where nothing has imported the SDK yet."""
    code = """
import sys
sys.modules["anthropic"] = None
from resources.models.backends import build_backend
from resources.models.catalog import Model
from resources.models.replies import ModelUnavailable
model = Model(name="a", backend="anthropic", model="m", family="f", roles=("judge",),
              parameters={"max_tokens": 1})
try:
    build_backend(model, "k", bytes.fromhex)
except ModelUnavailable as fault:
    print(fault)
"""
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "The backend anthropic needs its SDK" in run.stdout
    assert "pip install 'counterfactory[anthropic]'" in run.stdout


def test_models_are_listed_page_by_page(asker, server, monkeypatch):
    monkeypatch.setitem(server.models, "anthropic", ["claude-9", "claude-8", "claude-7"])
    for size in (None, 1, 2):
        monkeypatch.setattr(server, "models_on_a_page", size)
        listed = asker.use(claude(server), lambda backend: backend.list_models())
        assert [model.id for model in listed] == ["claude-9", "claude-8", "claude-7"]
    assert {request.task for request in server.received} == {"models"}
    assert {request.key for request in server.received} == {KEY}
