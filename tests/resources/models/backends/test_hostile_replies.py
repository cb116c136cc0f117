"""Whatever a provider sends, or is stored of it, ends as an outcome of its own row."""

import asyncio
import gzip
import json
from importlib import import_module

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from resources.calls.call import StoredAnswer
from resources.models.backends.batch_files import read_results, split_lines
from resources.models.backends.http_client import MAX_ERROR_BYTES, MAX_REPLY_BYTES
from resources.models.backends.openai_batches import _OpenAIResultLine
from resources.models.backends.reply_schemas import parse_reply
from resources.models.catalog import Model
from resources.models.outcomes import (
    AnsweredOutcome,
    MalformedOutcome,
    RefusedOutcome,
    build_repair_request,
    read_outcome,
)
from resources.models.recording import record_answer
from resources.models.replies import (
    Interrupted,
    ModelReply,
    NoAnswer,
    Refusal,
    RequestFault,
    UnacceptableRequest,
)
from resources.models.requests import (
    LookRequest,
    PaintRequest,
    ScoreRequest,
    Turn,
    WriteRequest,
    compute_call_keys,
)
from resources.storage.image_store import ImageStore
from resources.untrusted_input.json_text import MAX_TEXT_LENGTH
from tests.providers.http import Response
from tests.resources.models.backends.asking import LOOK, entry

ANY_TEXT = st.text(st.characters(codec=None), max_size=20)
WORDS = st.sampled_from(
    [
        *("outcome", "answered", "refused", "malformed", "text", "images", "score", "kind"),
        *("reason", "reason", "choices", "message", "content", "type", "candidates", "parts"),
    ]
)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | ANY_TEXT | WORDS,
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(WORDS | ANY_TEXT, inner, max_size=6)
    ),
    max_leaves=12,
)
MODEL = Model(name="j", backend="openai", model="m", family="f", roles=("judge",))
SCHEMA = json.dumps({"type": "object", "required": ["text"]})
TURNS = (Turn("user", "?"),)
REQUESTS = [
    WriteRequest(TURNS, SCHEMA),
    WriteRequest(TURNS),
    LookRequest(TURNS),
    PaintRequest("A dog"),
    ScoreRequest("x", "0" * 64),
]
quick = settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)


def ends_well(answer):
    """How each kind of request ends with such an answer in the store; its text can be sent."""
    for request in REQUESTS:
        outcome = read_outcome(StoredAnswer("k", answer, "m", 1, 1), request)
        assert isinstance(outcome, AnsweredOutcome | RefusedOutcome | MalformedOutcome)
        json.dumps(getattr(outcome, "data", None), allow_nan=False, ensure_ascii=False).encode()
        if isinstance(outcome, MalformedOutcome) and isinstance(request, WriteRequest):
            assert len(compute_call_keys(MODEL, [build_repair_request(request, outcome)])) == 1


@quick
@given(JSON)
def test_whatever_is_stored_is_read(answer):
    ends_well(answer)


@quick
@given(ANY_TEXT | JSON.map(json.dumps))
def test_whatever_a_model_says_is_stored_and_read(tmp_path, text):
    reply = ModelReply(text=text)
    ends_well(record_answer(reply, ImageStore(root=str(tmp_path))))
    ends_well({"outcome": "answered", "text": text, "images": [], "score": None})


@quick
@given(JSON.map(lambda value: json.dumps(value).encode()) | st.binary())
@pytest.mark.parametrize(
    ("module", "name"),
    [
        *(("reply_schemas", name) for name in ("ChatCompletion", "OpenAIImages", "GeminiResponse")),
        ("anthropic", "_Message"),
    ],
)
def test_whatever_a_provider_sends_has_a_shape_or_a_fault(module, name, body):
    """Imported here, for every process that collects tests would import the SDK, which is large."""
    shape = getattr(import_module(f"resources.models.backends.{module}"), name)
    try:
        assert parse_reply(shape, body)
    except RequestFault as fault:
        str(fault).encode()


@quick
@given(st.lists(JSON.map(lambda value: json.dumps(value).encode()) | st.binary(), max_size=4))
def test_whatever_lines_a_batch_has_each_ends_for_itself(lines):
    async def read(line):
        return ModelReply(text=line.name)

    async def chunks():
        yield b"\n".join([*lines, b'{"custom_id": "mine"}'])

    async def ends():
        found = {}
        try:
            async for name, end in read_results(
                split_lines(chunks(), 1000), _OpenAIResultLine, read, 1000
            ):
                found[name] = end
        except Interrupted:
            pass
        return found

    assert asyncio.run(ends())["mine"].text == "mine"


def test_a_line_that_is_too_long_is_still_of_its_request():
    async def read(line):
        raise AssertionError

    async def chunks():
        yield b'{"custom_id": "long", "response": "' + b"x" * 900
        yield b"x" * 900 + b'"}\n{"custom_id": "odd", "custom_id": 7}\n{"custom_id": "torn'

    async def ends():
        return [
            end
            async for end in read_results(split_lines(chunks(), 500), _OpenAIResultLine, read, 500)
        ]

    async def first():
        async for end in read_results(split_lines(chunks(), 500), _OpenAIResultLine, read, 500):
            return end
        raise AssertionError

    name, end = asyncio.run(first())
    assert (name, str(end)) == ("long", "The reply has more than 500 bytes.")
    with pytest.raises(Interrupted, match="1 of the lines"):
        asyncio.run(ends())


STORED = [
    {"outcome": "answered", "text": "[" * 1000, "images": [], "score": None},
    {"outcome": "answered", "text": r'{"text": "\ud800"}', "images": [], "score": None},
    {"outcome": "answered", "text": None, "images": [], "score": None},
    {"outcome": "answered", "text": "x" * (MAX_TEXT_LENGTH + 1), "images": [], "score": None},
    {"outcome": "answered", "text": '{"text": %s}' % ("7" * 5000), "images": [], "score": None},
    {"outcome": "refused", "kind": "model", "reason": None},
    {"outcome": "refused"},
    {},
]


@pytest.mark.parametrize("answer", STORED, ids=range(len(STORED)))
def test_what_stopped_every_run_before_is_malformed(answer):
    ends_well(answer)


def test_what_is_too_long_is_malformed_and_what_is_odd_is_plain(tmp_path):
    images = ImageStore(root=str(tmp_path))
    told = record_answer(ModelReply(text="x" * (MAX_TEXT_LENGTH + 1)), images)
    assert told["outcome"] == "malformed"
    assert "at most 1,000,000 are taken" in told["reason"]
    assert record_answer(ModelReply(text="a\ud800\0"), images)["text"] == "a\ufffd\ufffd"
    refused = record_answer(ModelReply(refusal=Refusal("model", "\ud800" * 20_000)), images)
    assert refused["reason"] == "\ufffd" * 10_000


@pytest.mark.parametrize("backend", ["openai", "gemini", "anthropic"])
class TestOverHttp:
    def at(self, server, backend):
        url = server.openai_url if backend == "openai" else server.url
        return entry(backend, url, parameters={"max_tokens": 9} if backend == "anthropic" else {})

    def test_a_small_reply_that_unfolds_is_read_to_its_limit(self, server, ask, backend):
        packed = gzip.compress(b"x" * (4 * MAX_REPLY_BYTES))
        server.answer = lambda _: Response(packed, headers={"Content-Encoding": "gzip"})
        end = ask(self.at(server, backend), LOOK)
        assert type(end) is NoAnswer
        assert str(end) == "The reply has more than 16,000,000 bytes."

    def test_of_a_long_error_the_beginning_is_read(self, server, ask, backend):
        packed = gzip.compress(b"no " * MAX_ERROR_BYTES * 50)
        server.answer = lambda _: Response(packed, 400, {"Content-Encoding": "gzip"})
        end = ask(self.at(server, backend), LOOK)
        assert type(end) is UnacceptableRequest
        assert len(str(end)) < 600

    @pytest.mark.parametrize(
        "body", [b"[" * 1000 + b"]" * 1000, b'{"a": %s}' % (b"7" * 5000), b'{"choices": ["x"]}']
    )
    def test_odd_json_is_no_answer_and_in_an_error_a_fault(self, server, ask, backend, body):
        server.answer = lambda _: Response(body)
        assert type(ask(self.at(server, backend), LOOK)) is NoAnswer
        server.answer = lambda _: Response(body, 400)
        assert isinstance(ask(self.at(server, backend), LOOK), RequestFault)
