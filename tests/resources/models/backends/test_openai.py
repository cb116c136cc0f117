"""OpenAI's API over real HTTP: what is sent, what comes back, and what is never said."""

import base64
import json
import re
from typing import Any
from urllib.parse import urlsplit

import pytest

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
from tests.providers import faults, openai_wire
from tests.providers.http import json_response
from tests.resources.models.backends.asking import (
    EDIT,
    JPEG,
    KEY,
    LOOK,
    ONE,
    PAINT,
    PNG,
    THREE,
    TWO,
    WEBP,
    WRITE,
    entry,
    proxy,
)

CLOSED_OBJECT = {
    "type": "object",
    "properties": {
        "name": {"type": "string"},
        "tags": {"type": "array", "items": {"type": "string"}, "minItems": 1},
    },
    "required": ["name", "tags"],
    "additionalProperties": False,
}


def gpt(server, **fields: Any):
    return entry("openai", server.openai_url, **fields)


def url_of(data: bytes, kind: str) -> str:
    return f"data:image/{kind};base64,{base64.b64encode(data).decode()}"


def sent(server) -> dict[str, Any]:
    (received,) = server.received
    return json.loads(received.body)


# What is sent


def test_pictures_precede_the_text_of_their_turn(server, ask):
    turns = (
        Turn("system", "Count with care."),
        Turn("user", "How many legs?", (ONE, TWO, THREE)),
        Turn("assistant", "{2}"),
        Turn("user", "Are you sure?"),
    )
    ask(gpt(server, model="gpt-5-mini"), LookRequest(turns, sample=3))
    assert server.received[0].path == "/v1/chat/completions"
    assert sent(server) == {
        "model": "gpt-5-mini",
        "messages": [
            {"role": "system", "content": "Count with care."},
            {
                "role": "user",
                "content": [
                    {"type": "image_url", "image_url": {"url": url_of(PNG, "png")}},
                    {"type": "image_url", "image_url": {"url": url_of(JPEG, "jpeg")}},
                    {"type": "image_url", "image_url": {"url": url_of(WEBP, "webp")}},
                    {"type": "text", "text": "How many legs?"},
                ],
            },
            {"role": "assistant", "content": "{2}"},
            {"role": "user", "content": "Are you sure?"},
        ],
    }


def test_parameters_go_as_they_are_also_those_that_openai_does_not_have(server, ask):
    parameters = {
        "temperature": 0.5,
        "top_k": 3,
        "chat_template_kwargs": {"enable_thinking": False},
    }
    ask(entry("openai_compatible", server.openai_url, parameters=parameters), WRITE)
    assert sent(server) == {
        "model": "some-model",
        "messages": [{"role": "user", "content": "Write."}],
        **parameters,
    }


@pytest.mark.parametrize(
    ("schema", "strict"),
    [
        (CLOSED_OBJECT, True),
        ({**CLOSED_OBJECT, "additionalProperties": True}, False),
        ({**CLOSED_OBJECT, "required": ["name"]}, False),
        ({**CLOSED_OBJECT, "properties": {"name": {"type": "object"}, "tags": {}}}, False),
        ({**CLOSED_OBJECT, "$defs": {"loose": {"type": "object", "properties": {}}}}, False),
        ({**CLOSED_OBJECT, "$defs": {"closed": CLOSED_OBJECT}}, True),
        ({**CLOSED_OBJECT, "type": ["object", "null"], "required": []}, False),
        ({**CLOSED_OBJECT, "if": {"type": "object"}}, False),
        ({"type": "array", "items": CLOSED_OBJECT}, False),
        ({"anyOf": [CLOSED_OBJECT]}, False),
    ],
)
def test_a_schema_is_strict_where_openai_takes_it_as_strict(server, ask, schema, strict):
    ask(gpt(server), WriteRequest((Turn("user", "Write."),), schema=json.dumps(schema)))
    assert sent(server)["response_format"] == {
        "type": "json_schema",
        "json_schema": {"name": "answer", "strict": strict, "schema": schema},
    }


def test_a_prompt_is_painted(server, ask):
    model = gpt(server, model="gpt-image-1.5", parameters={"size": "32x16", "quality": "low"})
    reply = ask(model, PaintRequest("A hen", seed=7))
    assert server.received[0].path == "/v1/images/generations"
    assert sent(server) == {
        "model": "gpt-image-1.5",
        "prompt": "A hen",
        "size": "32x16",
        "quality": "low",
    }
    assert isinstance(reply, ModelReply)
    assert reply.pictures[0].data.startswith(b"\x89PNG")
    assert reply.pictures[0].media_type == "image/png"
    assert reply.usage == Usage(2, 1000)


@pytest.mark.parametrize(
    ("images", "expected"),
    [
        ((ONE,), [("image", "image.png", PNG)]),
        (
            (ONE, TWO, THREE),
            [
                ("image[]", "image.png", PNG),
                ("image[]", "image.jpeg", JPEG),
                ("image[]", "image.webp", WEBP),
            ],
        ),
    ],
)
def test_pictures_are_edited_without_names_of_their_own(server, ask, images, expected):
    model = gpt(server, model="gpt-image-1.5", parameters={"size": "32x16"})
    ask(model, EditRequest("Add a leg", images))
    (received,) = server.received
    assert received.path == "/v1/images/edits"
    boundary = received.headers["content-type"].partition("boundary=")[2].encode()
    fields, files = {}, []
    for part in received.body.split(b"--" + boundary)[1:-1]:
        head, _, content = part.partition(b"\r\n\r\n")
        name = re.search(rb' name="([^"]+)"', head)[1].decode()
        file = re.search(rb'filename="([^"]+)"', head)
        if file:
            kind = file[1].decode().removeprefix("image.")
            assert f"Content-Type: image/{kind}".encode() in head
            files.append((name, file[1].decode(), content.removesuffix(b"\r\n")))
        else:
            fields[name] = content.removesuffix(b"\r\n").decode()
    assert fields == {"model": "gpt-image-1.5", "prompt": "Add a leg", "size": "32x16"}
    assert files == expected


def test_only_what_models_yaml_says_is_used(server, ask, monkeypatch):
    for name, value in {
        "OPENAI_ADMIN_KEY": "sk-admin",
        "OPENAI_API_KEY": "sk-other",
        "OPENAI_BASE_URL": "http://127.0.0.1:1/v1",
        "OPENAI_CUSTOM_HEADERS": "Authorization: Bearer sk-evil\nX-Custom: 1",
        "OPENAI_ORG_ID": "org-1",
        "OPENAI_PROJECT_ID": "project-1",
    }.items():
        monkeypatch.setenv(name, value)
    model = gpt(server, family="made with these variables")
    ask(model, LOOK)
    ask(model, LOOK, key=None)
    with_key, without_key = (dict(received.headers) for received in server.received)
    assert with_key.pop("authorization") == f"Bearer {KEY}"
    common = {"host", "accept", "accept-encoding", "connection", "content-type", "content-length"}
    assert set(with_key) == set(without_key) == common | {"user-agent"}


def test_openai_itself_is_asked_at_its_own_address(ask, monkeypatch):
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:1/v1")
    with proxy() as (address, asked):
        monkeypatch.setenv("HTTPS_PROXY", address)
        end = ask(entry("openai", "", base_url=None), WRITE)
    assert type(end) is Interrupted
    assert asked == ["CONNECT api.openai.com:443 HTTP/1.1"]


def test_no_more_connections_than_the_entry_allows(server, asker):
    server.held = lambda _: server.count < 4
    turns = [LookRequest((Turn("user", f"Question {i}"),)) for i in range(8)]
    ends = asker.ask_all(gpt(server, concurrency=4), turns)
    assert all(isinstance(end, ModelReply) for end in ends)
    assert server.most_in_flight == 4


# What comes back


def test_an_answer(server, ask):
    server.answer = lambda _: "{5}"
    server.served = {"some-model": "some-model-2026-11-01"}
    reply = ask(gpt(server), LOOK)
    assert reply == ModelReply(
        text="{5}", served_model="some-model-2026-11-01", usage=Usage(103, 1)
    )


def test_a_server_that_says_only_what_is_needed(server, ask):
    server.answer = lambda _: json_response({"choices": [{"message": {"content": ""}}]})
    assert ask(gpt(server), LOOK) == ModelReply(text="")


def test_a_picture_by_its_address_is_fetched_without_the_key(server, ask):
    server.answer = lambda _: PNG
    reply = ask(gpt(server, model="dall-e-3"), PAINT)
    assert reply == ModelReply(pictures=(ImageFile(PNG, "image/png"),))
    (download,) = server.downloads
    assert KEY not in str(download.headers)
    assert "authorization" not in download.headers


def test_a_picture_that_cannot_be_fetched_is_interrupted_and_its_address_not_told(server, ask):
    addresses = iter([f"{server.url}/v1/models", "http://127.0.0.1:1/?sig=secret"])
    server.answer = lambda _: json_response({"created": 1, "data": [{"url": next(addresses)}]})
    server.when(lambda received: received.task == "models", faults.REDIRECTED)
    for why in ("HTTP 307", "ConnectError"):
        end = ask(gpt(server, model="dall-e-3"), PAINT)
        assert isinstance(end, Interrupted)
        assert str(end) == (
            f"{why}: the picture could not be fetched from 127.0.0.1 (response_format: b64_json in "
            "models.yaml avoids fetching it)"
        )


@pytest.mark.parametrize(
    ("address", "said"),
    [
        ("http://127.0.0.2:{port}/v1/models", "127.0.0.2, which is not a public address"),
        ("http://[::1]:{port}/v1/models", "::1, which is not a public address"),
        ("http://169.254.169.254/latest/meta-data", "169.254.169.254, which is not a public"),
        ("http://[::ffff:10.0.0.1]/", "::ffff:10.0.0.1, which is not a public address"),
        ("http://[64:ff9b::7f00:1]/", "64:ff9b::7f00:1, which is not a public address"),
        ("file:///etc/passwd", "a URL that is not http or https"),
        ("http://x:y/", "an invalid URL"),
        ("http://nowhere.invalid/", "nowhere.invalid, an unknown host"),
    ],
)
def test_a_picture_is_fetched_from_public_addresses_or_the_provider_alone(
    server, ask, address, said
):
    url = address.format(port=urlsplit(server.url).port)
    server.answer = lambda _: json_response({"created": 1, "data": [{"url": url}]})
    end = ask(gpt(server, model="dall-e-3"), PAINT)
    assert isinstance(end, NoAnswer)
    assert str(end).startswith(f"The picture was not fetched from {said}")
    assert len(server.received) == 1


def test_a_format_other_than_png_is_what_is_claimed(server, ask):
    reply = ask(gpt(server, parameters={"output_format": "webp"}), PAINT)
    assert isinstance(reply, ModelReply)
    assert reply.pictures[0].media_type == "image/webp"


def test_a_picture_that_is_not_base64(server, ask):
    server.answer = lambda _: json_response({"created": 1, "data": [{"b64_json": "AAAA*AAA"}]})
    assert "not base64" in str(ask(gpt(server), PAINT))


REFUSALS = [
    (faults.REFUSED, LOOK, "model", "I'm sorry, I can't help with that."),
    (faults.FILTERED, LOOK, "content filter", "finish_reason: content_filter."),
    (faults.PROMPT_FILTERED, LOOK, "content filter", "content management policy"),
    (faults.PROMPT_FILTERED, PAINT, "content filter", "content management policy"),
    (faults.INVALID_PROMPT, WRITE, "content filter", "violating our usage policy"),
    (faults.CONTENT_POLICY, PAINT, "content filter", "as a result of our safety system"),
    (faults.MODERATION, PAINT, "image safety", "safety_violations=[violence]"),
    (faults.MODERATION, EDIT, "image safety", "safety_violations=[violence]"),
    (faults.NO_PICTURES, PAINT, "no image", "The reply holds no picture."),
]


@pytest.mark.parametrize(("fault", "request_", "kind", "reason"), REFUSALS)
def test_a_refusal_is_a_reply_with_its_kind_and_the_provider_s_words(
    server, ask, fault, request_, kind, reason
):
    server.script([fault])
    reply = ask(gpt(server), request_)
    assert isinstance(reply, ModelReply)
    assert isinstance(reply.refusal, Refusal)
    assert reply.refusal.kind == kind
    assert reason in reply.refusal.reason
    assert reply.text is None
    assert reply.pictures == ()
    assert server.count == 1


def test_a_refusal_says_who_served_it_and_what_it_cost(server, ask):
    server.script([faults.REFUSED])
    reply = ask(gpt(server), LOOK)
    assert isinstance(reply, ModelReply)
    assert (reply.served_model, reply.usage) == ("some-model", Usage(103, 7))


def test_an_answer_that_is_cut_off_is_an_answer_and_one_that_is_cut_off_at_once_is_not(server, ask):
    def cut_off(text):
        return lambda r: openai_wire.completion(r, r.model, text, finish="length")

    server.answer = cut_off("There are")
    reply = ask(gpt(server), LOOK)
    assert isinstance(reply, ModelReply)
    assert reply.text == "There are"
    server.answer = cut_off("")
    end = ask(gpt(server), LOOK)
    assert isinstance(end, UnacceptableRequest)
    assert str(end) == (
        "some used up its limit of tokens before it answered: raise max_completion_tokens (or "
        "max_tokens) in its parameters in models.yaml"
    )


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
    (faults.RATE_LIMITED, Overloaded, "HTTP 429: Rate limit reached for some-model"),
    (faults.SERVER_ERROR, Interrupted, "HTTP 500: The server had an error"),
    (faults.OVERLOADED, Overloaded, "HTTP 503: The engine is currently overloaded"),
    (faults.BAD_GATEWAY, Interrupted, "HTTP 502: .*Bad Gateway"),
    (faults.NO_CREDIT, ModelUnavailable, "HTTP 429: You exceeded your current quota"),
    (faults.INVALID_KEY, ModelUnavailable, r"HTTP 401: Incorrect API key provided: \[key\]\."),
    (faults.FORBIDDEN, ModelUnavailable, "HTTP 403: Country, region, or territory not supported"),
    (faults.UNKNOWN_MODEL, ModelUnavailable, "HTTP 404: The model `some-model` does not exist"),
    (faults.INVALID_REQUEST, UnacceptableRequest, "HTTP 400: Invalid value: 'enormous'"),
    (faults.TOO_LARGE, UnacceptableRequest, "HTTP 413: .*Request Entity Too Large"),
    (faults.MALFORMED_JSON, UnparsableReply, "not what this API sends: the body: no JSON"),
    (faults.OTHER_SHAPE, NoAnswer, "not what this API sends: (choices|created): Field required"),
    (faults.WEB_PAGE, UnparsableReply, "not what this API sends: the body: no JSON"),
]


@pytest.mark.parametrize("request_", [LOOK, PAINT, EDIT], ids=["look", "paint", "edit"])
@pytest.mark.parametrize(("fault", "kind", "words"), FAULTS, ids=[f[0].name for f in FAULTS])
def test_a_fault_says_what_to_do_in_the_provider_s_words(server, ask, fault, kind, words, request_):
    server.script([fault])
    end = ask(gpt(server), request_)
    assert type(end) is kind
    assert re.search(words, str(end))
    assert server.count == 1


@pytest.mark.parametrize(
    ("fault", "kind", "words"),
    [
        (faults.NO_CANDIDATES, NoAnswer, "choices: List should have at least 1 item"),
        (faults.NO_TEXT, NoAnswer, r"no text \(finish_reason: stop\)"),
    ],
)
def test_a_chat_without_an_answer_is_unreadable(server, ask, fault, kind, words):
    server.script([fault])
    end = ask(gpt(server), LOOK)
    assert type(end) is kind
    assert re.search(words, str(end))


@pytest.mark.parametrize(
    ("status", "code", "kind"),
    [
        (400, "billing_hard_limit_reached", ModelUnavailable),
        (400, "model_not_found", ModelUnavailable),
        (402, None, ModelUnavailable),
        (408, None, Interrupted),
        (409, None, Interrupted),
        (422, None, UnacceptableRequest),
        (504, None, Interrupted),
    ],
)
def test_other_statuses(server, ask, status, code, kind):
    server.answer = lambda _: openai_wire.error(status, "Words.", code=code)
    end = ask(gpt(server), LOOK)
    assert type(end) is kind
    assert str(end) == f"HTTP {status}: Words."


@pytest.mark.parametrize("request_", [LOOK, PAINT])
@pytest.mark.parametrize(
    ("code", "kind", "status"),
    [
        (402, ModelUnavailable, 402),
        (429, Overloaded, 429),
        (502, Interrupted, 502),
        ("server_error", Interrupted, 200),
        ([402], Interrupted, 200),
        (7, Interrupted, 200),
    ],
)
def test_an_error_with_a_status_of_success_is_the_one_that_it_names(
    server, ask, code, kind, status, request_
):
    server.answer = lambda _: json_response({"error": {"code": code, "message": f"No, {KEY}."}})
    end = ask(gpt(server), request_)
    assert type(end) is kind
    assert str(end) == f"HTTP {status}: No, [key]."
    assert kind is not Interrupted or end.possibly_paid


def test_a_parameter_of_models_yaml_that_is_not_taken_closes_the_model(server, ask):
    server.script([faults.INVALID_REQUEST])
    end = ask(gpt(server, parameters={"size": "enormous"}), PAINT)
    assert type(end) is ModelUnavailable
    assert "size is set in models.yaml, for every request" in str(end)


@pytest.mark.parametrize(
    "fault", [faults.RETRY_AFTER, faults.RETRY_AFTER_MS, faults.RETRY_AFTER_DATE]
)
def test_the_wait_that_a_provider_asks_for(server, ask, fault):
    server.script([fault.for_seconds(9_000)])
    end = ask(gpt(server), LOOK)
    assert isinstance(end, Overloaded)
    assert end.retry_after == pytest.approx(9_000, abs=600)
    server.script([faults.RATE_LIMITED])
    end = ask(gpt(server), LOOK)
    assert isinstance(end, Overloaded)
    assert end.retry_after is None


def test_a_server_that_is_not_there(ask):
    end = ask(entry("openai", "http://127.0.0.1:1/v1"), LOOK)
    assert type(end) is Interrupted
    assert str(end).startswith("ConnectError: ")
