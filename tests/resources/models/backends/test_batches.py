"""Batches of OpenAI and of Gemini over real HTTP: what both of them promise."""

import asyncio
import json
from dataclasses import replace
from math import inf

import pytest

from resources.models.backends import openai_batches as batched_openai
from resources.models.backends.base import BatchState
from resources.models.replies import (
    Interrupted,
    ModelReply,
    ModelUnavailable,
    NoAnswer,
    Overloaded,
    UnacceptableRequest,
    UnparsableReply,
    Usage,
)
from resources.models.requests import LookRequest, PaintRequest, Turn, WriteRequest
from tests.providers import Course, faults, openai_batches
from tests.providers.http import json_response
from tests.resources.models.backends.asking import (
    EDIT,
    KEY,
    LOOK,
    ONE,
    PAINT,
    PNG,
    STORE,
    THREE,
    TWO,
    WRITE,
    entry,
)
from tests.resources.models.backends.batching import answered, collected, submitted, used

SCHEMA = json.dumps(
    {
        "type": "object",
        "properties": {"name": {"type": "string"}},
        "required": ["name"],
        "additionalProperties": False,
    }
)
TO_SCHEMA = WriteRequest((Turn("system", "Be brief."), Turn("user", "Write.")), schema=SCHEMA)
MANY = LookRequest((Turn("user", 'How many "legs"?\n\u2028 ü 🐓', (ONE, TWO, THREE)),))
KINDS = {"look": LOOK, "many": MANY, "write": WRITE, "schema": TO_SCHEMA, "paint": PAINT}
PAINTER = "some-image-model"
SETTINGS = {"openai": {"temperature": 0.5}, "gemini": {"temperature": 0.5, "seed": 7}}


@pytest.fixture(params=["openai", "gemini"])
def provider(request):
    return request.param


@pytest.fixture
def model(provider, server):
    """A model at a provider."""
    return at(provider, server)


def at(provider, server, **fields):
    url = server.openai_url if provider == "openai" else server.url
    return entry(provider, url, **fields)


def many(count, start=0):
    return {
        f"n{i}": LookRequest((Turn("user", f"Question {i}"),)) for i in range(start, start + count)
    }


def tasks(server):
    return [received.task for received in server.received if not received.batch]


# What is sent, and what comes back


@pytest.mark.parametrize("kind", KINDS)
def test_one_request_has_one_body_and_one_reply_online_and_in_a_batch(
    server, asker, provider, kind
):
    fields = {"model": PAINTER} if kind == "paint" else {"parameters": SETTINGS[provider]}
    model = at(provider, server, **fields)
    online = asker.ask(model, KINDS[kind])
    (alone,) = server.received
    sent = answered(asker, model, {"name": KINDS[kind]})
    (in_batch,) = [received for received in server.received if received.batch]
    assert sent == {"name": online}
    assert isinstance(online, ModelReply)
    assert online.usage.total
    assert json.loads(in_batch.body) == json.loads(alone.body)
    assert in_batch.path == alone.path
    assert in_batch.digest == alone.digest
    (*_, file, _) = server.batches.files.values()
    assert alone.body in file
    assert file.count(b"\n") == 1


def test_pictures_are_edited(server, asker, provider):
    sent = answered(asker, at(provider, server, model=PAINTER), {"name": EDIT})
    (received,) = [received for received in server.received if received.batch]
    assert received.images == (STORE[ONE],)
    assert received.texts == ("Add a leg",)
    assert sent["name"].pictures[0].data.startswith(b"\x89PNG")
    assert sent["name"].usage == Usage(103, 1000)


def test_a_batch_is_found_by_its_tag_among_250(server, asker, provider, model):
    ids = {}
    for number in (0, 100, 248, 249):
        others = number - len(server.batches.latest(provider))
        first = submitted(asker, model, many(1), f"tag-{number}-before")
        known = server.batches.all[first]
        for i in range(others - 1):
            name = f"{first}x{number}x{i}"
            server.batches.all[name] = replace(known, id=name, tag=name)
        ids[number] = submitted(asker, model, many(1), f"tag-{number}")
    assert len(server.batches.latest(provider)) >= 250
    server.received.clear()
    for number, batch in ids.items():
        assert used(asker, model, lambda b, n=number: b.find(f"tag-{n}")) == batch
    assert used(asker, model, lambda backend: backend.find("tag-1")) is None
    assert set(tasks(server)) == {"list batches"}
    assert len(tasks(server)) > 4 * 2


def test_a_tag_is_found_nowhere_where_there_is_no_batch(server, asker, model):
    server.batches.all.clear()
    assert used(asker, model, lambda backend: backend.find("tag")) is None


def test_a_batch_stands_as_its_provider_says(server, asker, provider, model):
    server.batches.course = lambda _: Course(polls=1)
    batch = submitted(asker, model, many(2))

    def state():
        return used(asker, model, lambda backend: backend.state(batch))

    running, ended = {
        "openai": ("in_progress", "completed"),
        "gemini": ("BATCH_STATE_RUNNING", "BATCH_STATE_SUCCEEDED"),
    }[provider]
    assert state() == BatchState("running", running)
    assert state() == BatchState("ended", ended)
    assert {r.batch for r in server.received} == {"", batch}


def test_a_batch_is_cancelled_and_one_that_is_over_stays_as_it_is(server, asker, model):
    server.batches.course = lambda _: Course(polls=inf)
    batch = submitted(asker, model, many(4))

    def cancelled():
        return used(asker, model, lambda backend: backend.cancel(batch))

    assert cancelled() is None
    assert used(asker, model, lambda backend: backend.state(batch)).status == "cancelled"
    assert cancelled() is None
    server.when(lambda received: received.task == "cancel batch", faults.SERVER_ERROR)
    assert cancelled() is None
    running = submitted(asker, model, many(4))
    end = used(asker, model, lambda backend: backend.cancel(running))
    assert type(end) is Interrupted


# Results in every state


def test_results_come_in_any_order_twice_or_not_at_all(server, asker, model):
    def muddled(lines):
        return [*lines[:0:-1], lines[3], b"", lines[5]]

    server.batches.course = lambda _: Course(lines=muddled)
    requests = many(8)
    ends = answered(asker, model, requests)
    assert list(ends) == [f"n{i}" for i in range(7, 0, -1)]
    for name, end in ends.items():
        online = asker.ask(model, requests[name])
        assert (end.text, end.usage) == (online.text, online.usage)


def test_of_two_results_of_one_request_the_first_counts(server, asker, model):
    def twice(lines):
        return [lines[0], lines[0].replace(b"{5}", b"{7}")]

    server.answer = lambda _: "{5}"
    server.batches.course = lambda _: Course(lines=twice)
    assert answered(asker, model, many(1))["n0"].text == "{5}"


@pytest.mark.parametrize(
    "torn", [b"<html>", b"[]", b'{"response": {}}', b'{"custom_id": "n', b'{"key": 7}']
)
def test_a_line_that_cannot_be_read_spoils_no_other(server, asker, model, torn):
    server.batches.course = lambda _: Course(lines=lambda lines: [torn, *lines[1:], torn])
    ends, fault = collected(asker, model, submitted(asker, model, many(3)))
    assert {name: type(end) for name, end in ends.items()} == {"n1": ModelReply, "n2": ModelReply}
    assert type(fault) is UnparsableReply
    assert str(fault) == (
        "2 of the lines in the results of the batch cannot be read; 2 can. Collect it once more: "
        "if they stay unreadable, ask those requests again."
    )


def test_results_none_of_which_can_be_read_are_to_be_fetched_again(server, asker, model):
    batch = submitted(asker, model, many(3))
    server.when(lambda received: received.task == "download", faults.WEB_PAGE, times=1)
    ends, fault = collected(asker, model, batch)
    assert (ends, type(fault)) == ({}, Interrupted)
    ends, fault = collected(asker, model, batch)
    assert (len(ends), fault) == (3, None)


def test_two_batches_of_one_model_are_submitted_at_once(server, asker, model):
    async def both(backend):
        return await asyncio.gather(
            backend.submit(many(20), "one"), backend.submit(many(20, 20), "two")
        )

    for start, batch in zip((0, 20), used(asker, model, both), strict=True):
        asked = [(name, received.texts) for name, received in server.batches.all[batch].requests]
        names = [name.rpartition(":")[2] for name, _ in asked]
        assert names == list(many(20, start))
        assert [texts for _, texts in asked] == [(f"Question {n[1:]}",) for n in names]


def test_text_may_hold_all_that_ends_a_line_elsewhere(server, asker, model):
    said = "a\u2028b\u2029c\x85d\x0be\x1cf\rg\nh"
    server.answer = lambda _: said

    def raw(lines):
        return [json.dumps(json.loads(line), ensure_ascii=False).encode() for line in lines]

    server.batches.course = lambda _: Course(lines=raw)
    ends = answered(asker, model, many(2))
    assert [end.text for end in ends.values()] == [said, said]


def test_each_request_ends_as_it_would_online(server, asker, model):
    by_name = {
        "busy": faults.RATE_LIMITED,
        "down": faults.SERVER_ERROR,
        "wrong": faults.INVALID_REQUEST,
        "filtered": faults.FILTERED,
        "blocked": faults.PROMPT_FILTERED,
        "garbled": faults.OTHER_SHAPE,
        "page": faults.WEB_PAGE,
        "gone": faults.UNKNOWN_MODEL,
        "fine": faults.NORMAL,
    }
    if model.backend == "gemini":
        by_name["filtered"] = faults.FINISHED["SAFETY"]
        by_name["blocked"] = faults.PROMPT_BLOCKED["OTHER"]
    requests = {name: LookRequest((Turn("user", name),)) for name in by_name}
    for name, fault in by_name.items():
        server.when(lambda received, name=name: received.texts == (name,), fault)
    ends = answered(asker, model, requests)
    assert ends.keys() == requests.keys()
    for name, request in requests.items():
        online = asker.ask(model, request)
        # A page that comes in a line, which is JSON, did come from the provider.
        assert type(ends[name]) is (NoAnswer if name == "page" else type(online)), name
        if isinstance(online, ModelReply):
            assert ends[name] == online
        elif name != "page":  # Which is no JSON online, and in a line is JSON of another shape.
            assert str(ends[name]) == str(online)


def test_the_key_is_struck_out_of_what_a_line_repeats(server, asker, model):
    server.when(lambda received: received.task == "text", faults.INVALID_KEY)
    ends = answered(asker, model, many(1))
    assert "API key" in str(ends["n0"]) or "[key]" in str(ends["n0"])


@pytest.mark.parametrize("end", ["expired", "cancelled"])
def test_what_was_answered_before_a_batch_ended_is_kept(server, asker, provider, model, end):
    server.batches.course = lambda _: Course(ends=end, answered=0.5)
    batch = submitted(asker, model, many(4))
    ends, fault = collected(asker, model, batch)
    assert fault is None
    assert used(asker, model, lambda backend: backend.state(batch)).status == end
    if provider == "gemini":
        assert ends == {}
        return
    assert [type(each) for each in ends.values()] == [
        ModelReply,
        ModelReply,
        Interrupted,
        Interrupted,
    ]
    assert str(ends["n3"]) == (
        f"batch_{end}: This request could not be executed before the batch had ended."
    )
    assert not ends["n3"].possibly_paid


def test_a_batch_that_failed_says_why_and_has_no_results(server, asker, provider, model):
    server.batches.course = lambda _: Course(ends="failed")
    batch = submitted(asker, model, many(2))
    assert collected(asker, model, batch) == ({}, None)
    state = used(asker, model, lambda backend: backend.state(batch))
    assert state.status == "failed"
    assert (
        state.provider_status
        == {
            "openai": "failed. token_limit_exceeded: Enqueued token limit reached for this model. "
            "Limit: 2,000,000 enqueued tokens. Please try again once some in_progress batches have "
            "been completed.",
            "gemini": "BATCH_STATE_FAILED. The batch failed for an internal error.",
        }[provider]
    )


# Faults of the calls about a batch

NOT_CREATED = [
    (faults.INVALID_KEY, ModelUnavailable, "may create them"),
    (faults.FORBIDDEN, ModelUnavailable, "may create them"),
    (faults.UNKNOWN_MODEL, ModelUnavailable, "has batches of some-model"),
    (faults.RATE_LIMITED, Overloaded, "submit once others have ended"),
    (faults.TOO_LARGE, UnacceptableRequest, "submit fewer requests at once"),
    (faults.INVALID_REQUEST, UnacceptableRequest, "submit fewer requests at once"),
    (faults.SERVER_ERROR, Interrupted, "HTTP 500"),
    (faults.DROPPED, Interrupted, "RemoteProtocolError"),
    (faults.RESET, Interrupted, "Error"),
    (faults.REDIRECTED, ModelUnavailable, "redirects are not followed"),
]


@pytest.mark.parametrize("task", ["upload", "create batch"])
@pytest.mark.parametrize(
    ("fault", "kind", "words"), NOT_CREATED, ids=[fault.name for fault, *_ in NOT_CREATED]
)
def test_a_batch_that_cannot_be_created_says_what_to_do(
    server, asker, model, task, fault, kind, words
):
    server.when(lambda received: received.task == task, fault)
    before = len(server.batches.all)
    end = submitted(asker, model, many(2))
    assert type(end) is kind
    assert words in str(end)
    assert end.__context__ is None
    assert tasks(server).count("create batch") == (task == "create batch")
    assert tasks(server)[-1] == task
    assert len(tasks(server)) <= 3
    if kind is Interrupted:
        assert end.possibly_paid == (task == "create batch")
    assert len(server.batches.all) - before == (task == "create batch" and fault in UNHEARD)


UNHEARD = (faults.DROPPED, faults.RESET)


def test_the_wait_that_a_provider_asks_for_is_handed_on(server, asker, model):
    server.when(lambda r: r.task == "create batch", faults.RETRY_AFTER.for_seconds(90))
    assert submitted(asker, model, many(1)).retry_after == 90


def test_a_batch_that_was_created_unheard_is_found_by_its_tag(server, asker, model):
    server.batches.course = lambda _: Course(heard=False)
    end = submitted(asker, model, many(2), "a-tag-of-its-own")
    assert type(end) is Interrupted
    assert end.possibly_paid
    found = used(asker, model, lambda backend: backend.find("a-tag-of-its-own"))
    ends, fault = collected(asker, model, found)
    assert (ends.keys(), fault) == ({"n0", "n1"}, None)


ASKED = {
    "get batch": lambda batch: lambda backend: backend.state(batch),
    "list batches": lambda _: lambda backend: backend.find("tag"),
}
FAULTS = [
    (faults.INVALID_KEY, ModelUnavailable),
    (faults.RATE_LIMITED, Overloaded),
    (faults.SERVER_ERROR, Interrupted),
    (faults.DROPPED, Interrupted),
    (faults.HALF_BODY, Interrupted),
    (faults.MALFORMED_JSON, Interrupted),
    (faults.WEB_PAGE, Interrupted),
    (faults.REDIRECTED, ModelUnavailable),
]


@pytest.mark.parametrize("task", ASKED)
@pytest.mark.parametrize(("fault", "kind"), FAULTS, ids=[fault.name for fault, _ in FAULTS])
def test_a_question_about_a_batch_has_the_faults_of_a_request(
    server, asker, model, task, fault, kind
):
    batch = submitted(asker, model, many(1))
    server.when(lambda received: received.task == task, fault)
    end = used(asker, model, ASKED[task](batch))
    assert type(end) is kind
    assert end.__context__ is None
    assert tasks(server).count(task) == 1


@pytest.mark.parametrize(
    ("fault", "kind"),
    [
        (faults.INVALID_KEY, ModelUnavailable),
        (faults.RATE_LIMITED, Overloaded),
        (faults.BAD_GATEWAY, Interrupted),
        (faults.DROPPED, Interrupted),
        (faults.HALF_BODY, Interrupted),
        (faults.REDIRECTED, ModelUnavailable),
    ],
    ids=lambda value: getattr(value, "name", None),
)
def test_what_came_before_a_download_broke_off_is_kept(server, asker, model, fault, kind):
    batch = submitted(asker, model, many(20))
    server.when(lambda received: received.task == "download", fault, times=1)
    ends, end = collected(asker, model, batch)
    assert type(end) is kind
    assert end.__context__ is None
    assert (len(ends) > 0) == (fault is faults.HALF_BODY)
    assert len(ends) < 20
    ends, end = collected(asker, model, batch)
    assert (len(ends), end) == (20, None)


def test_a_batch_that_is_not_there(server, asker, provider, model):
    name = "batch_none" if provider == "openai" else "batches/none"
    end = used(asker, model, lambda backend: backend.state(name))
    assert type(end) is ModelUnavailable
    assert "HTTP 404" in str(end)


def test_results_that_a_batch_has_lost_are_no_empty_results(server, asker, provider, model):
    batch = submitted(asker, model, many(1))
    shown = {"id": batch, "status": "completed", "endpoint": "/v1/chat/completions"}
    if provider == "gemini":
        shown = {"name": batch, "metadata": {"state": "BATCH_STATE_SUCCEEDED"}}
    server.when(
        lambda received: received.task == "get batch",
        faults.Fault("lost", {provider: lambda _: json_response(shown)}),
    )
    ends, fault = collected(asker, model, batch)
    assert ends == {}
    assert type(fault) is Interrupted
    assert "no file of results" in str(fault)


SHOWN = {
    "openai": lambda state: {
        **{"id": "b", "status": state, "endpoint": "/v1/chat/completions"},
        "output_file_id": "file-1",
    },
    "gemini": lambda state: {
        "name": "batches/b",
        "metadata": {"state": f"BATCH_STATE_{state}", "output": {"responsesFile": "files/1"}},
    },
}
"""A batch that has a file of results, in a state of the provider's."""
B = {"openai": "b", "gemini": "batches/b"}


def shows(server, provider, said):
    server.always(faults.Fault("shown", {provider: lambda _: json_response(said)}))


def test_a_state_that_is_new_is_no_end_and_has_no_results(server, asker, provider, model):
    shows(server, provider, SHOWN[provider]("resting"))
    ends, fault = collected(asker, model, B[provider])
    assert (ends, type(fault)) == ({}, Interrupted)
    assert fault.args == used(asker, model, lambda backend: backend.state(B[provider])).args
    assert "'resting', which is not known here. Its requests keep waiting" in str(fault)
    assert "download" not in tasks(server)


def test_a_batch_without_a_word_of_its_state_has_no_results(server, asker, provider, model):
    shows(server, provider, {"name": "batches/b", "id": "b"})
    ends, fault = collected(asker, model, B[provider])
    assert (ends, type(fault)) == ({}, Interrupted)


def test_a_batch_that_runs_again_has_no_results(server, asker, provider, model):
    running = {"openai": "finalizing", "gemini": "RUNNING"}[provider]
    shows(server, provider, SHOWN[provider](running))
    ends, fault = collected(asker, model, B[provider])
    assert (ends, type(fault)) == ({}, Interrupted)
    assert f"{running} now" in str(fault)


NO_LISTS = {
    "openai": [
        {},
        {"data": [], "has_more": True},
        {"data": [SHOWN["openai"]("running")], "has_more": True},
        {"error": {"message": "Busy"}},
        {"error": {"message": "Busy"}, "data": []},
        {"error": {"message": "Busy"}, "data": None},
    ],
    "gemini": [
        {"batches": []},
        {"error": {"message": "Busy"}},
        {"operations": [{"name": "batches/b"}]},
    ],
}


def test_what_is_no_list_of_batches_lacks_none(server, asker, provider, model):
    for said in NO_LISTS[provider]:
        shows(server, provider, said)
        end = used(asker, model, lambda backend: backend.find("tag"))
        assert type(end) is Interrupted, said
        assert str(end)


@pytest.mark.parametrize("provider", ["openai"])
def test_a_list_that_says_nothing_of_more_is_read_to_its_end(server, asker, model, monkeypatch):
    """As the SDK does, whose type has `has_more` optional; also of a server that has one page."""
    whole = openai_batches._list
    for one_page in (True, False):
        pages = []

        def listed(query, batches, one_page=one_page, pages=pages):
            pages.append(query)
            shown = {} if one_page else query
            said = json.loads(whole(shown, batches).body)
            return json_response({"data": said["data"]})

        with monkeypatch.context() as patch:
            patch.setattr(openai_batches, "_list", listed)
            patch.setattr(batched_openai, "_PAGE", 2)
            first = submitted(asker, model, many(1), f"first {one_page}")
            for number in range(4):
                submitted(asker, model, many(1), f"{number} {one_page}")
            found = used(asker, model, lambda backend, n=one_page: backend.find(f"first {n}"))
            assert found == first
            assert len(pages) == (1 if one_page else 3)
            assert used(asker, model, lambda backend: backend.find("none")) is None


# What leaves, and how much of it


def test_nothing_but_the_key_and_its_own_headers_leaves(server, asker, provider, model):
    batch = submitted(asker, model, many(1))
    collected(asker, model, batch)
    used(asker, model, lambda backend: backend.find("tag"))
    used(asker, model, lambda backend: backend.cancel(batch))
    own = {
        "host",
        "accept",
        "accept-encoding",
        "connection",
        "content-type",
        "content-length",
        "user-agent",
    }
    key = "authorization" if provider == "openai" else "x-goog-api-key"
    assert len(set(tasks(server))) == 6
    for received in server.received:
        assert received.key == KEY
        more = {name for name in received.headers if name.startswith("x-goog-upload-")}
        assert received.task == "upload" or not more
        assert set(received.headers) - more <= own | {key}


def test_a_line_is_never_larger_than_was_said(server, asker, provider, monkeypatch):
    monkeypatch.setitem(STORE, "large", PNG + bytes(99_999))
    large = LookRequest((Turn("user", "How many legs?", ("large", "large")),))
    everything = {**KINDS, "edit": EDIT, "long": PaintRequest("ü" * 500, seed=9), "large": large}
    parameters = {**SETTINGS[provider], "stop_sequences": ['"\u2028"'] * 20}
    if provider == "openai":
        parameters = {"temperature": 1, "stop": ['"\u2028"'] * 20}
    model = at(provider, server, parameters=parameters)
    for name, request in everything.items():
        known = set(server.batches.files)
        submitted(asker, model, {name.ljust(64): request})
        (file,) = set(server.batches.files) - known
        taken = len(server.batches.files[file])
        said = asker.use(model, lambda backend, r=request: line_size(backend, r))
        assert taken <= said < taken + 2_000 + 2 * len(str(parameters))


async def line_size(backend, request):
    return backend.line_size(request)


def test_batches_have_sizes_that_providers_take(asker, model):
    async def largest(backend):
        return backend.largest_batch

    count, size = asker.use(model, largest)
    assert count == 50_000
    assert size < {"openai": 200_000_000, "gemini": 2_000_000_000}[model.backend]
