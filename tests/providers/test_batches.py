"""Batches as the real SDKs see them: files, batches, pages, ends, and what a test decides."""

import asyncio
import io
import json
from math import inf

import openai
import pytest
from google.genai import errors, types

from tests.providers import Course, Provider, faults, provider_process
from tests.providers.clients import with_gemini, with_openai


@pytest.fixture
def server():
    with Provider(answer=lambda received: f"Not {received.texts[0]}") as server:
        yield server


def line(name, **changes):
    body = {"model": "m", "messages": [{"role": "user", "content": name}]}
    asked = {"custom_id": name, "method": "POST", "url": "/v1/chat/completions", "body": body}
    return {**asked, **changes}


async def created(client, lines, tag="tag"):
    data = "\n".join(map(json.dumps, lines)).encode()
    file = await client.files.create(file=("batch.jsonl", io.BytesIO(data)), purpose="batch")
    return await client.batches.create(
        input_file_id=file.id,
        endpoint="/v1/chat/completions",
        completion_window="24h",
        metadata={"counterfactory": tag},
    )


async def read(client, file):
    text = (await client.files.content(file)).text
    return [json.loads(each) for each in text.splitlines()]


def test_openai_answers_a_batch_by_and_by(server):
    server.batches.course = lambda batch: Course(polls=1 if batch.tag == "tag" else inf)
    server.when(lambda received: received.texts == ("b",), faults.OVERLOADED)

    async def use(client):
        batch = await created(client, [line("a"), line("b")])
        shown = [batch, await client.batches.retrieve(batch.id)]
        shown.append(await client.batches.retrieve(batch.id))
        assert [each.status for each in shown] == ["validating", "in_progress", "completed"]
        assert shown[-1].metadata == {"counterfactory": "tag"}
        (good,) = await read(client, shown[-1].output_file_id)
        (bad,) = await read(client, shown[-1].error_file_id)
        assert (good["custom_id"], bad["custom_id"]) == ("a", "b")
        message = good["response"]["body"]["choices"][0]["message"]
        assert (message["content"], good["response"]["body"]["usage"]["total_tokens"]) == (
            "Not a",
            3,
        )
        assert bad["response"]["status_code"] == 503
        never = await created(client, [line("c")], "never")
        for _ in range(3):
            assert (await client.batches.retrieve(never.id)).output_file_id is None
        return batch.id

    batch = with_openai(server, use)
    asked = [(received.texts, received.batch) for received in server.received if received.batch]
    assert asked == [(("a",), batch), (("b",), batch)]


def test_openai_shows_batches_in_pages_the_latest_first(server):
    async def use(client):
        ids = [(await created(client, [line("a")])).id for _ in range(5)]
        page = await client.batches.list(limit=2)
        assert ([batch.id for batch in page.data], page.has_more) == (ids[:2:-1], True)
        assert [batch.id async for batch in client.batches.list(limit=2)] == ids[::-1]

    with_openai(server, use)


@pytest.mark.parametrize(
    ("lines", "code"),
    [
        ([], "empty_file"),
        ([line("a"), line("a")], "duplicate_custom_id"),
        ([line("a", url="/v1/images/generations")], "invalid_url"),
        ([line("a"), line("b", body={"model": "n", "messages": []})], "mismatched_model"),
    ],
)
def test_openai_refuses_a_file_that_is_none_of_requests_of_one_kind(server, lines, code):
    async def use(client):
        batch = await created(client, lines)
        batch = await client.batches.retrieve(batch.id)
        assert (batch.status, batch.errors.data[0].code) == ("failed", code)

    with_openai(server, use)
    assert not any(received.batch for received in server.received)


@pytest.mark.parametrize("end", ["expired", "cancelled"])
def test_openai_keeps_what_was_answered_before_the_end(server, end):
    server.batches.course = lambda _: Course(ends="expired", polls=0 if end == "expired" else inf)

    async def use(client):
        batch = await created(client, [line("a"), line("b")])
        if end == "cancelled":
            assert (await client.batches.cancel(batch.id)).status == "cancelling"
        batch = await client.batches.retrieve(batch.id)
        assert batch.status == end
        (good,) = await read(client, batch.output_file_id)
        (bad,) = await read(client, batch.error_file_id)
        assert good["response"]["status_code"] == 200
        assert (bad["response"], bad["error"]["code"]) == (None, f"batch_{end}")
        with pytest.raises(openai.ConflictError):
            await client.batches.cancel(batch.id)

    with_openai(server, use)


def test_openai_has_no_batch_and_no_file_that_nobody_made(server):
    async def use(client):
        for ask in (client.batches.retrieve, client.batches.cancel, client.files.content):
            with pytest.raises(openai.NotFoundError):
                await ask("none")

    with_openai(server, use)


async def created_by_gemini(client, tmp_path, names, tag="tag"):
    path = tmp_path / "batch.jsonl"
    lines = [
        {"key": name, "request": {"contents": [{"parts": [{"text": name}]}]}} for name in names
    ]
    path.write_text("\n".join(map(json.dumps, lines)))
    file = await client.files.upload(
        file=path, config=types.UploadFileConfig(mime_type="application/jsonl")
    )
    return await client.batches.create(model="m", src=file.name, config={"display_name": tag})


def test_gemini_answers_a_batch_by_and_by(server, tmp_path):
    server.batches.course = lambda _: Course(polls=1)
    server.when(lambda received: received.texts == ("b",), faults.OVERLOADED)

    async def use(client):
        batch = await created_by_gemini(client, tmp_path, "ab")
        shown = [batch, await client.batches.get(name=batch.name)]
        shown.append(await client.batches.get(name=batch.name))
        assert [each.state.name for each in shown] == [
            "JOB_STATE_PENDING",
            "JOB_STATE_RUNNING",
            "JOB_STATE_SUCCEEDED",
        ]
        assert shown[-1].display_name == "tag"
        data = await client.files.download(file=shown[-1].dest.file_name)
        good, bad = map(json.loads, data.splitlines())
        parts = good["response"]["candidates"][0]["content"]["parts"]
        assert (good["key"], parts) == ("a", [{"text": "Not a"}])
        assert (bad["key"], bad["error"]["code"]) == ("b", 14)

    with_gemini(server, use)


def test_gemini_takes_a_large_file_in_pieces(server, tmp_path, monkeypatch):
    monkeypatch.setattr("google.genai._api_client.CHUNK_SIZE", 100)

    async def use(client):
        names = [str(number) for number in range(20)]
        batch = await created_by_gemini(client, tmp_path, names)
        batch = await client.batches.get(name=batch.name)
        data = await client.files.download(file=batch.dest.file_name)
        assert [json.loads(each)["key"] for each in data.splitlines()] == names

    with_gemini(server, use)
    assert [received.task for received in server.received].count("upload") > 5


def test_gemini_shows_batches_in_pages_and_stops_them(server, tmp_path):
    server.batches.course = lambda _: Course(polls=inf)

    async def use(client):
        ids = [(await created_by_gemini(client, tmp_path, "a")).name for _ in range(5)]
        listed = await client.batches.list(config={"page_size": 2})
        assert [batch.name async for batch in listed] == ids[::-1]
        await client.batches.cancel(name=ids[0])
        batch = await client.batches.get(name=ids[0])
        assert (batch.state.name, batch.dest) == ("JOB_STATE_CANCELLED", None)
        with pytest.raises(errors.ClientError, match="over"):
            await client.batches.cancel(name=ids[0])

    with_gemini(server, use)


@pytest.mark.parametrize("end", ["failed", "expired"])
def test_gemini_has_no_results_where_the_batch_was_not_completed(server, tmp_path, end):
    server.batches.course = lambda _: Course(ends=end)

    async def use(client):
        batch = await created_by_gemini(client, tmp_path, "a")
        batch = await client.batches.get(name=batch.name)
        assert (batch.state.name, batch.dest) == (f"JOB_STATE_{end.upper()}", None)

    with_gemini(server, use)


def test_a_batch_may_be_created_unheard(server):
    server.batches.course = lambda _: Course(heard=False)

    async def use(client):
        with pytest.raises(openai.APIConnectionError):
            await created(client, [line("a")])
        assert [batch.status async for batch in client.batches.list()] == ["validating"]

    with_openai(server, use)


def test_a_test_may_do_anything_to_the_lines(server):
    server.batches.course = lambda _: Course(lines=lambda lines: [*lines[::-1], b"{", lines[0]])

    async def use(client):
        batch = await created(client, [line("a"), line("b")])
        batch = await client.batches.retrieve(batch.id)
        text = (await client.files.content(batch.output_file_id)).text.splitlines()
        assert [each[-9:] for each in text if each == "{"] == ["{"]
        names = [json.loads(each)["custom_id"] for each in text if each != "{"]
        assert names == ["b", "a", "a"]

    with_openai(server, use)


def test_rules_alone_reach_into_batches(server):
    async def use(client):
        batch = await created(client, [line("a")])
        server.always(faults.OVERLOADED)
        with pytest.raises(openai.InternalServerError):
            await client.batches.retrieve(batch.id)
        server.clear()
        batch = await client.batches.retrieve(batch.id)
        assert batch.error_file_id is None

    with_openai(server, use)


def test_a_process_of_its_own_takes_batches_and_is_told_how_they_go():
    with provider_process() as process:
        process.plan(course={"polls": 1, "ends": "expired"})

        async def use():
            async with openai.AsyncOpenAI(base_url=process.openai_url, api_key="k") as client:
                batch = await created(client, [line("a")])
                for status in ("in_progress", "expired"):
                    assert (await client.batches.retrieve(batch.id)).status == status

        asyncio.run(use())
        assert process.received()["batches"] == [["tag", "expired"]]
