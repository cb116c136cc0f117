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
        ('{better: "first"}', 1.0),
        ('{"reason": "sharper", better: second}', 0.0),
        ('{"better"："first"}', 1.0),
        ("“better”: “tie”", 0.5),
        ("**first**", 1.0),
        ("`second`", 0.0),
        ("```\nfirst\n```", 1.0),
        ('{"better": "**first**"}', 1.0),
        *((f'{{"better": "first {noun}"}}', 1.0) for noun in ("response", "one", "answer")),
        *((f'{{"better": "The second {noun}"}}', 0.0) for noun in ("image", "picture")),
        ('{"better": "first", "reason": "The second or a tie is no option."}', 1.0),
        ('{"better": "first", "first": "red", "second": "blue"}', 1.0),
        ('{\n  "better": "second",\n}', 0.0),
        ('"better": "tie"\nNeither has a dog.', 0.5),
        ('{"better": "first"} It has the dog.', 1.0),
        ('{"better": "first", "main reason": "a dog"}', 1.0),
        ('{"better": "first",', 1.0),
        ('{"better": "first"', 1.0),
        ('"better": first.', 1.0),
        ('{"better": "First."}', 1.0),
        ('{"better": "first" | "second" | "tie"}: {"better": "second"}', 0.0),
        ('In the form {"better": "..."}: {"better": "second"}', 0.0),
    ],
)
def test_a_preference_is_read(reply, first):
    assert read_pick(reply) == (first, "scored", None)


@pytest.mark.parametrize(
    ("reply", "outcome"),
    [
        ('{"better": "first"} or {"better": "second"}', "unparsed"),
        ('{"better": "neither"}', "unparsed"),
        ('{"better": "first or second"}', "unparsed"),
        ('{"better": "first/second"}', "unparsed"),
        ('{"better": "first|second"}', "unparsed"),
        ('{"better": "first and second are equal"}', "unparsed"),
        ('{"better": "tie between the first and the second"}', "unparsed"),
        ('{"better": "second-best"}', "unparsed"),
        ('{"better": "first" | "second" | "tie"}', "unparsed"),
        ('{"better": "first", "second"}', "unparsed"),
        ('{"better": "first" or "second"}', "unparsed"),
        ('{"better": "first, or second"}', "unparsed"),
        ("{better: first or second}", "unparsed"),
        ('{"better": "first one or second one"}', "unparsed"),
        ('{"better": "first image of the second response"}', "unparsed"),
        ('{"better": "not first"}', "unparsed"),
        ('{"better": "first.second"}', "unparsed"),
        ('{"better": "tie, leaning to the first"}', "unparsed"),
        ('{"better": "first", no, "second"}', "unparsed"),
        ('"better": first. On second thought, tie.', "unparsed"),
        ('{"better": "first or second"} {"better": "first"}', "unparsed"),
        ("One is better: first has a dog.", "unparsed"),
        ("**first** or **second**", "unparsed"),
        ("", "unparsed"),
        ("I'm sorry, but I can't help with that.", "refused"),
    ],
)
def test_what_is_none_says_why(reply, outcome):
    found = read_pick(reply)
    assert (found.first, found.outcome) == (None, outcome)
    assert found.reason
