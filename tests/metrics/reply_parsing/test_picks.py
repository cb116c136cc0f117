"""Preferences between two pictures, as judges write them."""

import pytest

from metrics import read_pick


@pytest.mark.parametrize(
    ("reply", "first"),
    [
        ('{"better": "first"}', 1.0),
        ('The second one lacks a dog.\n```json\n{"better": "second"}\n```', 0.0),
        ("<think>{'better': 'first'}?</think> {'better': 'tie'}", 0.5),
        ("Second.", 0.0),
        ('{"Better": "First"} I said {"better": "first"}.', 1.0),
    ],
)
def test_a_preference_is_read(reply, first):
    assert read_pick(reply) == (first, "scored", None)


@pytest.mark.parametrize(
    ("reply", "outcome"),
    [
        ('{"better": "first"} or {"better": "second"}', "unparsed"),
        ('{"better": "neither"}', "unparsed"),
        ("", "unparsed"),
        ("I'm sorry, but I can't help with that.", "refused"),
    ],
)
def test_what_is_none_says_why(reply, outcome):
    found = read_pick(reply)
    assert (found.first, found.outcome) == (None, outcome)
    assert found.reason
