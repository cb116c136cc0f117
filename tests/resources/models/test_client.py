"""The client, the call store and the real SDKs against a provider that makes trouble."""

import json
import logging
import re
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from time import monotonic

import pytest

from resources.faults import KeyNotSet, MissingItem, RequestsStopped, UnsupportedRequest
from resources.models import request_progress as progress
from resources.models.adaptive_concurrency import AdaptiveConcurrency
from resources.models.outcomes import (
    AnsweredOutcome,
    FailedOutcome,
    MalformedOutcome,
    RefusedOutcome,
)
from resources.models.requests import (
    EditRequest,
    LookRequest,
    PaintRequest,
    ScoreRequest,
    Turn,
    WriteRequest,
)
from resources.models.stop_rule import StopRule
from tests.providers import Response, closed_port, faults
from tests.resources.models.conftest import CANARY, LOG, client_at, closed, looks, model, png
from tests.waiting import wait_for

SCHEMA = json.dumps(
    {
        "type": "object",
        "properties": {"legs": {"type": "integer"}},
        "required": ["legs"],
        "additionalProperties": False,
    }
)


RETRY_AFTER = faults.RETRY_AFTER.for_seconds(1)


def texts(asked):
    assert all(isinstance(outcome, AnsweredOutcome) for outcome in asked.outcomes), asked.outcomes
    return [outcome.text for outcome in asked.outcomes]


def numbers(received):
    """The number at the end of what was asked, as its answer."""
    return f"{{{received.texts[-1].split()[-1].strip('?')}}}"


# Nothing is paid for twice


def test_a_re_run_sends_nothing_and_an_edited_row_sends_one(server, client):
    server.answer = numbers
    requests = looks(200)
    first = client.ask(model(server), requests, LOG)
    assert texts(first) == [f"{{{place}}}" for place in range(200)]
    assert (first.already_stored, first.sent, server.count) == (0, 200, 200)
    again = client.ask(model(server), requests, LOG)
    assert (again.already_stored, again.sent, server.count) == (200, 0, 200)
    assert texts(again) == texts(first)
    requests[100] = LookRequest((Turn("user", "How many wings has animal 7777?"),))
    edited = client.ask(model(server), requests, LOG)
    assert (edited.already_stored, edited.sent, server.count) == (199, 1, 201)
    assert texts(edited)[100] == "{7777}"


def test_another_client_finds_what_the_first_has_paid_for(server, client, tmp_path):
    client.ask(model(server), looks(20), LOG)
    other = client_at(tmp_path)
    assert texts(other.ask(model(server), looks(25), LOG))
    assert server.count == 25
    closed(other)


def test_threads_may_share_a_client(server, client):
    server.latency_s = 0.02
    with ThreadPoolExecutor(4) as threads:
        asking = [threads.submit(client.ask, model(server), looks(60), LOG) for _ in range(4)]
        assert all(len(texts(each.result())) == 60 for each in asking)
    assert server.count == 60


def test_twins_are_sent_once_and_samples_each(server, client):
    one = looks(1)[0]
    asked = client.ask(model(server), [one, one, replace(one, sample=1), one], LOG)
    assert len(asked.outcomes) == 4
    assert server.count == 2


@pytest.mark.parametrize(
    "change",
    [
        {"parameters": {"temperature": 0.5}},
        {"model": "test-2"},
        {"backend": "gemini"},
        {"backend": "openai_compatible", "roles": ["judge"]},
    ],
)
def test_what_an_answer_depends_on_is_asked_anew(server, client, change):
    client.ask(model(server), looks(3), LOG)
    client.ask(model(server, **change), looks(3), LOG)
    assert server.count == 6


@pytest.mark.parametrize(
    "change",
    [
        {"name": "renamed"},
        {"concurrency": 2},
        {"key": "ANOTHER_KEY"},
        {"price": {"input_per_million": 3.0}},
        {"requests_per_minute": 9e9},
        {"deadline_s": 12.0},
        {"family": "cousin"},
    ],
)
def test_what_an_answer_does_not_depend_on_is_not(server, client, monkeypatch, change):
    client.ask(model(server), looks(3), LOG)
    monkeypatch.setenv("ANOTHER_KEY", "another")
    client.ask(model(server, **change), looks(3), LOG)
    assert server.count == 3


def test_pictures_count_by_their_bytes(server, client):
    red, blue = client.images.put(png("red")), client.images.put(png("blue"))
    client.ask(model(server), looks(1, red) + looks(1, blue) + looks(1, red, blue), LOG)
    assert [received.images for received in sorted(server.received, key=lambda r: r.at)]
    assert {received.images for received in server.received} == {
        (png("red"),),
        (png("blue"),),
        (png("red"), png("blue")),
    }
    client.ask(model(server), looks(1, red) + looks(1, blue), LOG)
    assert server.count == 3


# Faults


TROUBLE = {
    faults.RATE_LIMITED: 0.05,
    faults.RETRY_AFTER_MS.for_seconds(0.02): 0.05,
    faults.SERVER_ERROR: 0.05,
    faults.DROPPED: 0.02,
    faults.RESET: 0.02,
    faults.HALF_HEADERS: 0.01,
    faults.HALF_BODY: 0.03,
    faults.MALFORMED_JSON: 0.01,
    faults.BAD_GATEWAY: 0.02,
    faults.OVERLOADED: 0.01,
}


@pytest.mark.parametrize("backend", ["openai", "gemini"])
def test_trouble_changes_nothing_but_the_time_it_takes(server, client, backend):
    server.answer = numbers
    server.shares(TROUBLE)
    asked = client.ask(model(server, backend), looks(200), LOG)
    assert texts(asked) == [f"{{{place}}}" for place in range(200)]
    assert asked.sent == server.count > 240
    assert server.drawn == TROUBLE.keys()


def test_retry_after_is_obeyed_by_all(server, client, monkeypatch):
    told, record_overload = [], AdaptiveConcurrency.record_overload

    def and_tell(*arguments):
        told.append(monotonic())
        return record_overload(*arguments)

    def held(received):
        """The sixth is turned away while three others are on their way, and they wait for that."""
        place = server.received.index(received)
        return place >= 5 and (server.count < 9 if place == 5 else not told)

    monkeypatch.setattr(AdaptiveConcurrency, "record_overload", and_tell)
    server.held = held
    server.when(lambda received: server.received.index(received) == 5, RETRY_AFTER, times=1)
    asked = client.ask(model(server, concurrency=4), looks(40), LOG)
    assert len(texts(asked)) == 40
    (turned_away,) = told
    assert server.count == 41
    assert min(received.at for received in server.received[9:]) >= turned_away + 1


def test_requests_on_their_way_never_exceed_the_concurrency(server, client):
    server.held = lambda received: server.count < 7
    client.ask(model(server, concurrency=7), looks(60), LOG)
    assert server.most_in_flight == 7


def test_a_reply_that_drips_for_ever_ends_at_the_deadline(server, client, dripping):
    server.when(lambda received: "animal 3?" in received.texts[-1], dripping)
    asked = client.ask(model(server, deadline_s=90, concurrency=1), looks(6), LOG)
    failed = asked.outcomes[3]
    assert isinstance(failed, FailedOutcome)
    assert (failed.kind, failed.attempts) == ("deadline", 2)
    assert "90 s" in failed.error
    assert asked.sent == 7
    server.clear()
    assert len(texts(client.ask(model(server), looks(6), LOG))) == 6
    assert server.count == 8


@pytest.mark.parametrize("backend", ["openai", "gemini"])
@pytest.mark.parametrize("fault", [faults.WEB_PAGE, faults.MALFORMED_JSON])
def test_replies_that_did_not_come_are_not_paid_for_again_and_again(server, client, backend, fault):
    server.when(lambda received: "animal 3?" in received.texts[-1], fault)
    asked = client.ask(model(server, backend), looks(6), LOG)
    failed = asked.outcomes[3]
    assert isinstance(failed, FailedOutcome)
    assert (failed.kind, failed.attempts, server.count) == ("unreadable", 3, 8)


@pytest.mark.parametrize("backend", ["openai", "gemini"])
@pytest.mark.parametrize("fault", [faults.NO_TEXT, faults.NO_CANDIDATES, faults.OTHER_SHAPE])
def test_a_reply_that_holds_no_answer_is_paid_for_once(server, client, backend, fault):
    server.when(lambda received: "animal 3?" in received.texts[-1], fault)
    for _ in range(2):
        asked = client.ask(model(server, backend), looks(6), LOG)
        bad = asked.outcomes[3]
        assert isinstance(bad, MalformedOutcome)
        assert bad.is_unreadable
        assert server.count == 6


def test_a_server_that_never_answers_is_left_once_ten_replies_hold_nothing(server, client):
    server.always(faults.OTHER_SHAPE)
    with pytest.raises(
        RequestsStopped, match="requests in a row failed, the last with: The reply is not"
    ):
        client.ask(model(server, concurrency=2), looks(100), LOG)
    assert 10 <= server.count < 20


@pytest.mark.parametrize(
    ("fault", "says"),
    [
        (faults.NOT_A_PICTURE, "no image"),
        (faults.TRUNCATED_PNG, "no image|cannot be decoded whole"),
        (faults.WIDE_PNG, "megapixels"),
        (faults.MISLABELLED, "is JPEG"),
    ],
)
@pytest.mark.parametrize("backend", ["openai", "gemini"])
def test_a_picture_that_is_none_is_paid_for_once_and_says_why(
    server, client, tmp_path, backend, fault, says
):
    requests = [PaintRequest(f"A dog with {legs} legs", sample=legs) for legs in range(3)]
    server.when(lambda received: "with 1 legs" in received.texts[-1], fault)
    painter = model(server, backend, model="test-image-1")
    asked = client.ask(painter, requests, LOG)
    bad = asked.outcomes[1]
    assert isinstance(bad, MalformedOutcome)
    assert re.search(says, bad.reason)
    assert server.count == 3
    good = [asked.outcomes[0], asked.outcomes[2]]
    assert all(client.images.holds(digest) for outcome in good for digest in outcome.images)
    assert len(list((tmp_path / "images").rglob("*.png"))) == 2
    server.clear()
    client.ask(painter, requests, LOG)
    assert server.count == 3


REFUSALS = [
    ("openai", faults.REFUSED, "look", "model"),
    ("openai", faults.FILTERED, "look", "content filter"),
    ("openai", faults.PROMPT_FILTERED, "look", "content filter"),
    ("openai", faults.INVALID_PROMPT, "look", "content filter"),
    ("openai", faults.NO_PICTURES, "paint", "no image"),
    ("openai", faults.CONTENT_POLICY, "paint", "content filter"),
    ("openai", faults.MODERATION, "paint", "image safety"),
    ("gemini", faults.TEXT_FOR_PICTURE, "paint", "no image"),
    ("gemini", faults.PROMPT_BLOCKED["SAFETY"], "look", "content filter"),
    ("gemini", faults.PROMPT_BLOCKED["OTHER"], "look", "content filter"),
    ("gemini", faults.PROMPT_BLOCKED["BLOCKLIST"], "look", "content filter"),
    ("gemini", faults.PROMPT_BLOCKED["PROHIBITED_CONTENT"], "look", "content filter"),
    ("gemini", faults.PROMPT_BLOCKED["IMAGE_SAFETY"], "look", "image safety"),
    ("gemini", faults.FINISHED["SAFETY"], "paint", "content filter"),
    ("gemini", faults.FINISHED["RECITATION"], "paint", "content filter"),
    ("gemini", faults.FINISHED["PROHIBITED_CONTENT"], "paint", "content filter"),
    ("gemini", faults.FINISHED["BLOCKLIST"], "paint", "content filter"),
    ("gemini", faults.FINISHED["SPII"], "paint", "content filter"),
    ("gemini", faults.FINISHED["OTHER"], "paint", "no image"),
    ("gemini", faults.FINISHED["IMAGE_SAFETY"], "paint", "image safety"),
    ("gemini", faults.FINISHED["IMAGE_PROHIBITED_CONTENT"], "paint", "image safety"),
    ("gemini", faults.FINISHED["IMAGE_RECITATION"], "paint", "image safety"),
    ("gemini", faults.FINISHED["IMAGE_OTHER"], "paint", "no image"),
    ("gemini", faults.FINISHED["NO_IMAGE"], "paint", "no image"),
]


@pytest.mark.parametrize(
    ("backend", "fault", "task", "kind"), REFUSALS, ids=lambda value: getattr(value, "name", None)
)
def test_a_refusal_costs_one_request_and_is_kept(server, client, backend, fault, task, kind):
    server.always(fault)
    request = looks(1)[0] if task == "look" else PaintRequest("A dog")
    asked = model(server, backend, model="test-1" if task == "look" else "test-image-1")
    for _ in range(2):
        (outcome,) = client.ask(asked, [request], LOG).outcomes
        assert isinstance(outcome, RefusedOutcome), outcome
        assert outcome.kind == kind
        assert outcome.reason
        server.clear()
    assert server.count == 1


# What stops a run


@pytest.mark.parametrize(
    ("backend", "fault", "says"),
    [
        ("openai", faults.INVALID_KEY, "Incorrect API key"),
        ("openai", faults.NO_CREDIT, "quota"),
        ("openai", faults.UNKNOWN_MODEL, "does not exist"),
        ("openai", faults.FORBIDDEN, "not supported"),
        ("gemini", faults.INVALID_KEY, "API key not valid"),
        ("gemini", faults.FORBIDDEN, "leaked"),
        ("gemini", faults.UNKNOWN_MODEL, "is not found"),
    ],
)
def test_a_closed_door_stops_at_once_and_loses_nothing(server, client, backend, fault, says):
    server.answer = numbers
    server.latency_s = 0.002
    server.script([faults.NORMAL] * 20)
    server.always(fault)
    entry = model(server, backend, concurrency=8)
    with pytest.raises(
        RequestsStopped, match=rf"judge.*{says}.*Of 60 requests, 20 are answered and kept"
    ) as stopped:
        client.ask(entry, looks(60), LOG)
    assert CANARY not in str(stopped.value)
    is_about_key = fault in (faults.INVALID_KEY, faults.FORBIDDEN)
    assert ("Its key is read from" in str(stopped.value)) == is_about_key
    assert server.count <= 20 + 8
    before = server.count
    server.clear()
    asked = client.ask(entry, looks(60), LOG)
    assert (asked.already_stored, server.count - before) == (20, 40)
    assert texts(asked) == [f"{{{place}}}" for place in range(60)]


def test_answers_on_their_way_when_a_run_stops_are_taken(server, client, called):
    stopped = called(StopRule, "stop")

    def held(received):
        return server.count < 8 if "animal 0?" in received.texts[-1] else not stopped.is_set()

    server.held = held
    server.when(lambda received: "animal 0?" in received.texts[-1], faults.INVALID_KEY, times=1)
    with pytest.raises(RequestsStopped, match="Of 100 requests, 7 are answered"):
        client.ask(model(server, concurrency=8), looks(100), LOG)
    assert server.count == 8


def test_a_server_that_is_not_there_is_not_tried_for_long(server, client, caplog):
    caplog.set_level(logging.INFO, logger="asking")
    client.ask(model(server), looks(5), LOG)
    told = pytest.raises(RequestsStopped, match=r"3\d attempts failed before any answer")
    with closed_port() as port, told as stopped:
        gone = model(server, concurrency=4, base_url=f"http://127.0.0.1:{port}/v1")
        client.ask(gone, looks(1000), LOG)
    assert f"Check that {gone.base_url} is right and can be reached" in str(stopped.value)
    assert "Of 1,000 requests, 5 are answered and kept" in str(stopped.value)
    assert "spent unknown (no price)" in caplog.messages[-1]


def test_a_server_that_goes_away_stops_the_run(server, client):
    server.script([faults.NORMAL] * 20)
    server.always(faults.SERVER_ERROR)
    with pytest.raises(
        RequestsStopped, match=r"10 requests in a row failed.*20 are answered and kept"
    ):
        client.ask(model(server, concurrency=4), looks(1000), LOG)


def test_a_single_row_is_enough_for_an_outage(server, client):
    server.always(faults.SERVER_ERROR)
    with pytest.raises(RequestsStopped, match="Of 1 requests, 0 are answered"):
        client.ask(model(server), looks(1), LOG)
    assert server.count == 8


def test_a_stop_waits_for_nothing_that_is_not_on_its_way(server, client, called):
    """Neither for the end of a pause that the provider asked for, nor for another attempt."""
    paused, stopped = called(AdaptiveConcurrency, "record_overload"), called(StopRule, "stop")

    def held(received):
        """Four are on their way, the first begins the pause, the second stops the run."""
        waits = {"animal 0?": server.count < 4, "animal 1?": not paused.is_set()}
        (end,) = re.findall(r"animal \d+\?", received.texts[-1])
        return waits.get(end, not stopped.is_set())

    server.held = held
    server.when(lambda received: "animal 0?" in received.texts[-1], RETRY_AFTER.for_seconds(600))
    server.when(lambda received: "animal 1?" in received.texts[-1], faults.INVALID_KEY)
    with pytest.raises(RequestsStopped, match=r"Incorrect API key.*Of 20 requests, 2 are answered"):
        client.ask(model(server, concurrency=4), looks(20), LOG)
    assert server.count == 4


def test_a_pause_of_hours_stops_the_run_and_is_told(server, client):
    server.always(faults.RETRY_AFTER.for_seconds(7200))
    with pytest.raises(RequestsStopped, match="asks to wait for 120 min 0 s"):
        client.ask(model(server, concurrency=1), looks(20), LOG)
    assert server.count == 1


def test_rows_that_are_not_accepted_fail_alone(server, client):
    server.when(lambda received: "animal 1" in received.texts[-1], faults.INVALID_REQUEST)
    asked = client.ask(model(server, concurrency=4), looks(120), LOG)
    failed = [place for place, end in enumerate(asked.outcomes) if isinstance(end, FailedOutcome)]
    assert failed == [place for place in range(120) if str(place).startswith("1")]
    assert asked.outcomes[1] == FailedOutcome("unacceptable", asked.outcomes[1].error, 1)
    assert "Invalid value" in asked.outcomes[1].error


def test_a_request_that_nobody_would_accept_is_not_sent_a_thousand_times(server, client):
    server.always(faults.INVALID_REQUEST)
    with pytest.raises(RequestsStopped, match=r"in a row failed.*Invalid value"):
        client.ask(model(server, concurrency=4), looks(1000), LOG)
    assert server.count < 20


def test_a_missing_picture_is_named(server, client):
    with pytest.raises(MissingItem, match=r"0000.* is gone"):
        client.ask(model(server), looks(30) + looks(1, "0" * 64), LOG)
    client.ask(model(server), looks(30), LOG)
    assert server.count == 30


@pytest.mark.parametrize("value", [None, "", "  "])
def test_a_key_that_is_not_set_is_named_before_the_first_request(
    server, client, monkeypatch, value
):
    known = client.ask(model(server), looks(3), LOG)
    monkeypatch.delenv("OPENAI_API_KEY")
    if value is not None:
        monkeypatch.setenv("OPENAI_API_KEY", value)
    with pytest.raises(KeyNotSet, match=r"(?s)OPENAI_API_KEY is not set.*judge.*Nothing was sent"):
        client.ask(model(server), looks(4), LOG)
    assert server.count == 3
    assert client.ask(model(server), looks(3), LOG).outcomes == known.outcomes


def test_an_entry_that_no_backend_takes_is_named_before_the_first_request(server, client):
    wrong = model(server, "gemini", parameters={"temprature": 1.0})
    with pytest.raises(
        RequestsStopped, match=r"judge cannot be asked.*temprature.*Nothing was sent"
    ):
        client.ask(wrong, looks(3), LOG)
    assert server.count == 0


def test_a_model_without_the_role_is_named(server, client):
    with pytest.raises(
        UnsupportedRequest,
        match=r"judge is writer in models.*captioner or detector or judge to look",
    ):
        client.ask(model(server, roles=["writer"]), looks(1), LOG)
    assert server.count == 0


def test_a_whole_number_is_the_same_however_it_is_written(server, client):
    client.ask(model(server, parameters={"temperature": 1}), looks(1), LOG)
    client.ask(model(server, parameters={"temperature": 1.0}), looks(1), LOG)
    assert server.count == 1


def test_a_backend_that_cannot_is_named(server, client):
    # No entry says so: hosted models are no metrics.
    clip = model(server, backend="gemini").model_copy(update={"roles": ("metric",)})
    with pytest.raises(UnsupportedRequest, match=r"judge cannot score.*gemini does not offer that"):
        client.ask(clip, [ScoreRequest("A dog", "0" * 64)], LOG)


# Schemas


def test_text_to_a_schema_is_read_and_what_misses_it_is_asked_once_more(server, client):
    replies = iter(['```json\n{"legs": 4}\n```', '{"legs": "four"}', '{"legs": 5}'])
    server.answer = lambda received: next(replies)
    requests = [WriteRequest((Turn("user", f"Legs of animal {n}"),), SCHEMA) for n in range(2)]
    entry = model(server, concurrency=1)
    asked = client.ask(entry, requests, LOG)
    assert [outcome.data for outcome in asked.outcomes] == [{"legs": 4}, {"legs": 5}]
    assert server.received[-1].texts == (
        "Legs of animal 1",
        '{"legs": "four"}',
        "That is not what was asked for: $.legs: 'four' is not of type 'integer'. Answer again, "
        "with JSON that follows the schema and nothing else.",
    )
    assert client.ask(entry, requests, LOG).outcomes == asked.outcomes
    assert server.count == 3


def test_a_repair_that_is_not_accepted_fails_alone(server, client):
    server.answer = lambda received: (
        '{"legs": "four"}' if "7" in received.texts[0] else '{"legs": 4}'
    )
    server.when(lambda received: len(received.texts) > 1, faults.INVALID_REQUEST)
    requests = [WriteRequest((Turn("user", f"Legs of animal {n}"),), SCHEMA) for n in range(9)]
    outcomes = client.ask(model(server), requests, LOG).outcomes
    assert isinstance(outcomes[7], FailedOutcome)
    assert all(
        isinstance(outcome, AnsweredOutcome) for outcome in outcomes if outcome != outcomes[7]
    )


@pytest.mark.parametrize("fault", [faults.PROSE, faults.OTHER_SCHEMA, faults.CUT_OFF])
def test_text_that_never_meets_its_schema_is_malformed_and_kept(server, client, fault):
    server.always(fault)
    request = WriteRequest((Turn("user", "Legs?"),), SCHEMA)
    for _ in range(2):
        (outcome,) = client.ask(model(server), [request], LOG).outcomes
        assert isinstance(outcome, MalformedOutcome)
        assert outcome.text
        assert outcome.reason
    assert server.count == 2


# What is seen and kept


def test_progress_is_told_while_a_run_goes_on(server, client, caplog, monkeypatch):
    monkeypatch.setattr(progress, "LOG_INTERVAL_S", 0.05)
    caplog.set_level(logging.INFO, logger="asking")
    server.held = lambda received: server.count > 20 and len(caplog.messages) < 3
    price = {"input_per_million": 1_000_000.0, "output_per_million": 0.0}
    client.ask(model(server, concurrency=4, price=price), looks(40), LOG)
    told = [message for message in caplog.messages if message.startswith("judge: ")]
    assert len(told) > 3
    assert "of 40" in told[0]
    assert " left" in told[0]
    assert told[-1].startswith("judge: 40 of 40 · 0 known before · ")
    assert "spent $" in told[-1]


def test_what_another_process_has_asked_meanwhile_counts_as_known(server, client, tmp_path):
    """Its claim is waited for, and nothing is sent."""
    server.held = lambda received: server.count < 5
    other = client_at(tmp_path)
    with ThreadPoolExecutor(1) as thread:
        first = thread.submit(client.ask, model(server), looks(3), LOG)
        wait_for(lambda: server.count == 3)
        asked = other.ask(model(server), looks(5), LOG)
        first.result()
    closed(other)
    assert (asked.already_stored, asked.sent, server.count) == (3, 2, 5)


def test_what_is_paid_for_is_counted_whatever_it_is_worth(server, client):
    """A file that is no picture has its price."""
    server.when(lambda received: "no dog" in received.texts[-1], faults.NOT_A_PICTURE)
    price = {"input_per_million": 0.0, "output_per_million": 1.0}
    painter = model(server, model="test-image-1", price=price)
    good, bad = (
        client.ask(painter, [PaintRequest("A dog"), PaintRequest(words)], LOG)
        for words in ("A cat", "no dog")
    )
    assert good.sent == 2
    assert bad.sent == 1
    assert bad.spent == good.spent / 2 > 0


def test_edits_carry_their_pictures_and_give_new_ones(server, client):
    digest = client.images.put(png("green"))
    for backend in ("openai", "gemini"):
        editor = model(server, backend, model="test-image-1")
        (outcome,) = client.ask(editor, [EditRequest("Add a leg", (digest,))], LOG).outcomes
        assert isinstance(outcome, AnsweredOutcome)
        assert server.received[-1].images == (png("green"),)
        assert client.images.holds(outcome.images[0])


def test_text_in_parts_is_text(server, client):
    def in_parts(received):
        parts = [{"type": "text", "text": "I count {"}, {"type": "text", "text": "5}"}]
        message = {"role": "assistant", "content": parts}
        return Response(json.dumps({"choices": [{"message": message}]}).encode())

    server.answer = in_parts
    assert texts(client.ask(model(server), looks(1), LOG)) == ["I count {5}"]


def test_the_served_model_and_its_tokens_are_kept(server, client):
    server.served = {"test-1": "test-1-2026-11-21"}
    (outcome,) = client.ask(model(server), looks(1), LOG).outcomes
    assert outcome.served_model == "test-1-2026-11-21"
    assert outcome.usage.input_tokens
    assert outcome.usage.output_tokens


def test_the_key_is_found_nowhere(server, client, tmp_path, caplog):
    """Not even when the provider repeats it, in an error, in an answer or in a model's name."""
    caplog.set_level(logging.DEBUG)
    server.served = {"test-1": f"test-1 of {CANARY}"}
    server.script([faults.SERVER_ERROR, faults.RATE_LIMITED])
    server.answer = lambda received: f"Your key is {received.key}"
    assert texts(client.ask(model(server), looks(3), LOG)) == ["Your key is [key]"] * 3
    server.always(faults.INVALID_KEY)
    with pytest.raises(RequestsStopped) as stopped:
        client.ask(model(server), looks(9), LOG)
    said = [str(stopped.value), repr(stopped.value.__cause__), repr(stopped.value.__context__)]
    assert server.received[0].key == CANARY
    client.calls.close()
    files = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert any(path.name == "calls.sqlite" for path in files)
    assert not any(CANARY.encode() in path.read_bytes() for path in files)
    assert CANARY not in caplog.text + "".join(said)


@pytest.mark.parametrize(
    ("key", "said"),
    [("1", "{1}"), ("EMPTY", "It is EMPTY. {0}"), ("not-needed", "A count is not-needed. {0}")],
)
def test_a_placeholder_for_a_key_changes_no_answer(server, client, monkeypatch, key, said):
    monkeypatch.setenv("PLACEHOLDER", key)
    server.answer = lambda received: said
    entry = model(server, "openai_compatible", key="PLACEHOLDER")
    assert texts(client.ask(entry, looks(1), LOG)) == [said]
