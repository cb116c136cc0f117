"""What comes from outside is plain values, or is not taken, whatever it is."""

import json
import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from resources.untrusted_input.json_text import (
    MAX_DEPTH,
    MAX_VALUES,
    BadJson,
    IncompleteJson,
    clean_json,
    clean_text,
    parse_untrusted,
    replace_surrogates,
)

ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(st.characters(codec=None)),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(st.characters(codec=None)), inner),
    max_leaves=20,
)
"""Any JSON that Python writes: with NaN, infinite numbers, NUL and halves of surrogate pairs."""


def is_plain(value):
    """Whether a value can be written as strict JSON in UTF-8, and has no NUL in it."""
    text = json.dumps(value, ensure_ascii=False, allow_nan=False)
    return "\\u0000" not in text.replace("\\\\", "") and text.encode().decode() == text


@settings(max_examples=100, deadline=None)
@given(ANYTHING)
def test_any_json_becomes_plain(value):
    assert is_plain(parse_untrusted(json.dumps(value)))
    assert is_plain(clean_json(value))


@settings(max_examples=100, deadline=None)
@given(st.binary() | st.text(st.characters(codec=None)))
def test_anything_else_is_plain_or_not_taken(data):
    try:
        assert is_plain(parse_untrusted(data))
    except BadJson as problem:
        str(problem).encode()


@pytest.mark.parametrize("text", ["", "{5} 🦵", "é\ue000\uffff", "a\nb\t\x01"])
def test_what_is_text_stays_as_it_is(text):
    assert clean_text(text) == replace_surrogates(text) == text


def test_what_is_no_text_is_one_sign_each():
    assert clean_text("a\ud83db\udcffc\0d") == "a\ufffdb\ufffdc\ufffdd"
    assert replace_surrogates("a\ud83d\0") == "a\ufffd\0"
    assert parse_untrusted(rb'{"\ud800": ["\u0000", "\ud83e\uddb5"]}') == {
        "\ufffd": ["\ufffd", "🦵"]
    }
    assert parse_untrusted(b'"\xff"'.join([b"[", b"]"])) == ["\ufffd"]


def test_numbers_that_are_none_are_left_out():
    assert parse_untrusted("[NaN, -Infinity, 1e999, 1.5, %s]" % ("7" * 5000)) == [
        *(None, None, None, 1.5, None)
    ]
    assert clean_json([math.inf, 2.0]) == [None, 2.0]


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b" ",
        b"<html>Log in</html>",
        b'{"a": [1, {"b',
        b'{"a": "x',
        b"[" * MAX_DEPTH,
        b"\xff\xfe",
    ],
)
def test_what_did_not_come_whole_is_told_apart(body):
    with pytest.raises(IncompleteJson, match="no JSON"):
        parse_untrusted(body)


@pytest.mark.parametrize("body", ["{a: 1}", "[1]]", '{"a" 1}', "{} x", "[01]"])
def test_what_came_whole_and_is_no_json(body):
    with pytest.raises(BadJson, match="no JSON") as raised:
        parse_untrusted(body)
    assert type(raised.value) is BadJson


@pytest.mark.parametrize("depth", [MAX_DEPTH + 1, 900, 100_000])
def test_what_is_nested_too_deeply_is_not_taken(depth):
    with pytest.raises(BadJson, match=f"nested more than {MAX_DEPTH} deep"):
        parse_untrusted("[" * depth + "]" * depth)
    assert parse_untrusted("[" * MAX_DEPTH + "]" * MAX_DEPTH)


def test_what_would_fill_the_memory_is_not_parsed():
    with pytest.raises(BadJson, match=f"at most {MAX_VALUES:,} are taken"):
        parse_untrusted("[" + "{}," * MAX_VALUES + "{}]")
