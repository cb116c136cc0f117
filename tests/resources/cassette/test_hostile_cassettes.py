"""Cassettes made to do harm: refused by line, or cleaned, and never a lot of memory."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import resources
from resources.calls import CallStore
from resources.cassette import BadCassette, export_cassette, import_cassette
from resources.cassette.archive_format import decode_call, encode_call
from resources.models.outcomes import (
    AnsweredOutcome,
    MalformedOutcome,
    RefusedOutcome,
    read_outcome,
)
from resources.storage.image_store import ImageStore
from resources.untrusted_input.json_text import MAX_DEPTH, MAX_TEXT_LENGTH, MAX_VALUES
from tests.resources.cassette.cassettes import edited, looked, parts_of, refused, rewritten
from tests.resources.models.backends.asking import LOOK
from tests.resources.models.backends.test_hostile_replies import JSON

REFUSED = {"outcome": "refused", "kind": "model"}
WROTE = {"outcome": "answered", "images": [], "score": None}


@pytest.fixture
def store(tmp_path):
    calls = CallStore(url=f"sqlite:///{tmp_path}/calls.sqlite")
    yield calls
    calls.close()


@pytest.fixture
def path(tmp_path, store):
    """A cassette of three calls that `store` has forgotten again."""
    store.keep([looked(1), looked(2), refused(3)])
    keys = list(store.iterate_keys())
    path = tmp_path / "made.cassette"
    export_cassette(path, keys, store, ImageStore(root=str(tmp_path)), {})
    store.forget(keys)
    return path


def with_line(path, change):
    """Write the cassette again with its second line as `change` makes it."""
    parts = parts_of(path)
    lines = parts["calls.jsonl"].splitlines(keepends=True)
    lines[1] = change(lines[1])
    rewritten(path, parts | {"calls.jsonl": b"".join(lines)})


def taken(path, store):
    return import_cassette(path, store, ImageStore(root=str(path.parent)), path.parent / "reviews")


def answer(**changes):
    return lambda line: edited(line, answer=changes)


def nested(depth):
    return lambda line: line.replace(b'"answer":', b'"x":%s,"answer":' % (b"[" * depth), 1)


def numbered(digits):
    return lambda line: line.replace(b'"input_tokens":12', b'"input_tokens":' + b"9" * digits)


def made_of(steps):
    """A change that adds something to what is said of how an answer was made."""
    return answer(**WROTE, text="{8}", made={"steps": steps})


HOSTILE = {
    "no text": (answer(**WROTE, text=None), "it has no text"),
    "text that is a list": (answer(**WROTE, text=["{8}"]), "text is expected"),
    "too long a text": (answer(**WROTE, text="x" * (MAX_TEXT_LENGTH + 1)), "1,000,001 characters"),
    "no reason": (answer(**REFUSED, reason=None), "reason: "),
    "a reason that is a number": (answer(**REFUSED, reason=7), "reason: "),
    "a reason that is a list": (answer(**REFUSED, reason=["no"]), "reason: "),
    "deeper than is taken": (made_of(json.loads("[" * MAX_DEPTH + "]" * MAX_DEPTH)), "nested more"),
    "deeper than Python reads": (nested(100_000), "holds what no call does"),
    "a long number": (numbered(5000), "Exceeds the limit"),
    "too many values": (made_of([0] * MAX_VALUES), "at most 500,000 are taken"),
}


@pytest.mark.parametrize(("change", "says"), HOSTILE.values(), ids=HOSTILE)
def test_a_hostile_line_is_named_and_nothing_is_imported(store, path, change, says):
    with_line(path, change)
    with pytest.raises(BadCassette) as raised:
        taken(path, store)
    assert "calls.jsonl, line 2: it is not what was exported" in str(raised.value)
    assert says in str(raised.value)
    assert "nothing was imported" in str(raised.value)
    assert not list(store.iterate_keys())


def test_half_a_character_is_replaced_as_in_a_reply(store, path):
    with_line(path, answer(**WROTE, text="{\ud800}"))
    assert taken(path, store).new == 3
    texts = {call.answer.get("text") for call in store.iterate_calls(store.iterate_keys())}
    assert "{\ufffd}" in texts


@settings(max_examples=60, deadline=None)
@given(st.sampled_from(["key", "request", "answer", "served_model", "seconds", "mode"]), JSON)
def test_whatever_a_line_says_it_is_a_call_or_none(field, value):
    end_of(edited(encode_call(looked(1)), **{field: value}))


@settings(max_examples=60, deadline=None)
@given(
    st.sampled_from(["outcome", "text", "images", "score", "provenance", "kind", "reason"]), JSON
)
def test_whatever_an_answer_says_it_is_one_that_can_be_read_or_none(field, value):
    told = json.loads(encode_call(looked(1)))
    end_of(edited(encode_call(looked(1)), answer=told["answer"] | {field: value}))


@settings(max_examples=60, deadline=None)
@given(JSON.map(lambda value: json.dumps(value).encode()) | st.binary())
def test_whatever_a_line_is_it_is_a_call_or_none(line):
    end_of(line)


def end_of(line):
    """A line is a call whose answer ends as one of the four outcomes, or a ValueError says why."""
    try:
        call = decode_call(line)
    except ValueError as error:
        str(error).encode()
        return
    assert isinstance(read_outcome(call, LOOK), AnsweredOutcome | RefusedOutcome | MalformedOutcome)
    encode_call(call)


IMPORTING = """
import sys
from pathlib import Path

from resources.calls import CallStore
from resources.cassette import BadCassette, import_cassette
from resources.storage.image_store import ImageStore

path = Path(sys.argv[1])
calls = CallStore(url=f"sqlite:///{path.parent}/others.sqlite")
try:
    print(import_cassette(path, calls, ImageStore(root=str(path.parent)), path.parent).new, "new")
except BadCassette as error:
    print(error)
(peak,) = [line for line in open("/proc/self/status") if line.startswith("VmHWM")]
print(int(peak.split()[1]) // 1000)
"""


def imported_apart(path):
    """What comes of an import in a process of its own, and the most memory that it took, in MB."""
    ran = subprocess.run(
        [sys.executable, "-c", IMPORTING, path],
        capture_output=True,
        text=True,
        check=True,
        cwd=Path(resources.__file__).parents[1],
    )
    said, peak = ran.stdout.strip().rsplit("\n", 1)
    return said, int(peak)


def with_calls(path, lines):
    parts = parts_of(path)
    manifest = json.loads(parts["manifest.json"]) | {"calls": len(lines)}
    calls = b"".join(line for _, line in sorted(lines.items()))
    rewritten(path, parts | {"manifest.json": json.dumps(manifest).encode(), "calls.jsonl": calls})


def with_steps(call, steps):
    """The line of a call that was made in so many steps, written as they are."""
    provenance = b'"images":[],"provenance":{"steps":[%s]}' % steps
    return encode_call(call).replace(b'"images":[]', provenance)


@pytest.mark.slow
def test_a_line_of_thirteen_megabytes_of_brackets_is_refused_before_it_is_read(path):
    call = looked(1)
    with_calls(path, {call.key: with_steps(call, b"[]," * 4_400_000 + b"0")})
    said, peak = imported_apart(path)
    assert "calls.jsonl, line 1" in said
    assert "at most 500,000 are taken" in said
    assert peak < 250


@pytest.mark.slow
def test_lines_of_the_most_values_are_imported_a_few_at_a_time(path):
    steps = b'{"":0},' * 249_000 + b"0"
    lines = {call.key: with_steps(call, steps) for call in map(looked, range(4))}
    with_calls(path, lines)
    said, peak = imported_apart(path)
    assert said == "4 new"
    assert peak < 400
