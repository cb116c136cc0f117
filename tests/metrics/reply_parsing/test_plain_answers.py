"""Answers in plain words, held to replies of real models and their labels."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from metrics import (
    ParsedAnswer,
    read_count,
    read_name,
    read_pick,
    read_plain_count,
    read_plain_name,
    read_plain_pick,
    read_plain_rating,
    read_plain_yes_no,
    read_rating,
    read_yes_no,
)

SET = json.loads(Path(__file__).with_name("awkward_replies.json").read_text("utf-8"))
PICKS = {1.0: "first", 0.5: "tie", 0.0: "second", None: None}


def read_rating_text(reply: dict[str, Any]) -> str | None:
    score = read_plain_rating(reply["reply"], *reply["scale"]).score
    return None if score is None else str(score)


READERS: dict[str, Callable[[dict[str, Any]], str | None]] = {
    "count": lambda reply: read_plain_count(reply["reply"]).answer,
    "yes_no": lambda reply: read_plain_yes_no(reply["reply"]).answer,
    "name": lambda reply: read_plain_name(reply["reply"], reply["accepted"]).answer,
    "rating": read_rating_text,
    "pick": lambda reply: PICKS[read_plain_pick(reply["reply"]).first],
}


@pytest.fixture
def readings() -> list[tuple[dict[str, Any], str | None]]:
    """Each reply with what is read from it: by each test, so that all notice a changed reader."""
    return [(reply, READERS[reply["kind"]](reply)) for reply in SET["replies"]]


def test_the_set_is_of_real_models_for_the_most_part(readings):
    real = [reply for reply, _ in readings if reply["source"] != "written for this set"]
    assert len(real) >= 300
    assert {reply["source"] for reply, _ in readings} == set(SET["sources"])


def test_no_reply_is_read_as_another_answer(readings):
    wrong = [
        (reply["reply"], answer)
        for reply, answer in readings
        if answer is not None and answer not in (reply["label"], reply["second"])
    ]
    assert wrong == []


def test_what_is_read_changes_with_the_version_alone(readings):
    """Else `VERSION` tells nobody why a number has moved."""
    unread = {reply["reply"] for reply, answer in readings if reply["label"] and not answer}
    assert unread == {reply["reply"] for reply, _ in readings if reply.get("unread")}


def test_nearly_every_readable_reply_is_read(readings):
    for kind in READERS:
        readable = [
            answer
            for reply, answer in readings
            if reply["kind"] == kind and reply["label"] == reply["second"] is not None
        ]
        assert len(readable) >= 20
        assert sum(answer is not None for answer in readable) >= 0.95 * len(readable)


def test_an_answer_in_brackets_or_json_stays_as_it_is(readings):
    for text in {reply["reply"] for reply, _ in readings}:
        assert read_count(text).answer in (None, read_plain_count(text).answer)
        assert read_yes_no(text).answer in (None, read_plain_yes_no(text).answer)
        assert read_name(text, ["Go"]).answer in (None, read_plain_name(text, ["Go"]).answer)
        assert read_rating(text, 0, 10).score in (None, read_plain_rating(text, 0, 10).score)
        assert read_pick(text).first in (None, read_plain_pick(text).first)


@pytest.mark.parametrize(
    "reply",
    ["{4} or {5}, so 5", "{maybe} Yes, it is.", '{"score": 3} or {"score": 4}. Score: 4'],
)
def test_brackets_that_leave_the_answer_open_are_none_in_words_either(reply):
    assert read_plain_count(reply).answer is None
    assert read_plain_yes_no(reply).answer is None
    assert read_plain_rating(reply, 1, 5).score is None
    assert read_plain_pick(f"{reply} The second image is better.").first is None


@pytest.mark.parametrize(
    "reply",
    [
        "I do not see 5 legs.",
        "So it doesn't have 5 legs.",
        "It never had 5.",
        "A dog without 5 legs.",
    ],
)
def test_a_denied_number_is_no_answer(reply):
    assert read_plain_count(reply).answer is None


def test_doubt_in_another_clause_denies_nothing():
    assert read_plain_count("I'm not sure, but I count 5.").answer == "5"


@pytest.mark.parametrize(
    ("reply", "answer"),
    [
        ("I looked at it. Yes! It is there.", "Yes"),
        ("I looked. 'No'. It is gone.", "No"),
        ('I looked at it. "Yes." It is there.', "Yes"),
    ],
)
def test_a_sentence_that_is_the_answer_may_stand_anywhere(reply, answer):
    assert read_plain_yes_no(reply).answer == answer


def test_an_answer_opens_the_reply():
    assert read_plain_yes_no("They look alike. No, they are not.").answer is None


@pytest.mark.parametrize(
    ("reply", "answer"),
    [
        ("Actually, there are 5.", "5"),
        ("There are 4. Actually, the total is 5.", None),
        ("5 in total, 3 of them red.", "5"),
        ("A total of 5 dogs and 3 cats.", None),
        ("There are 5 stripes. 3 are red. 2 are white.", "5"),
        ("10 legs and 6 feet and 4 hands.", None),
        ("In the picture, 5 dogs and 3 cats and 2 birds.", None),
        ("3 squares, one small and one large.", None),
        ("It has 5, not 4 and not 6.", "5"),
        ("So 5", "5"),
        ("In all, 5 dogs; the 2 cats are outside.", "5"),
    ],
)
def test_a_number_is_the_answer_where_the_reply_says_so(reply, answer):
    assert read_plain_count(reply).answer == answer


@pytest.mark.parametrize(
    ("reply", "answer"),
    [
        ("Yes, not exactly.", None),
        ("No, not exactly.", "No"),
        ("No. Some would say yes, for it is close.", None),
        ("Yes. Some would say no, for it is close.", None),
    ],
)
def test_yes_and_no_are_not_taken_back(reply, answer):
    assert read_plain_yes_no(reply).answer == answer


@pytest.mark.parametrize(
    ("reply", "answer"),
    [
        ("{chess} or {draughts}. This is Go.", None),
        ("This is Go. Or is it like chess?", None),
        ("Is it like chess?\nThis is Go.", "Go"),
        ("This is one of some five words", "one of some five words"),
        ("This is one of some six words now", None),
        ("Flag of the Cocos (Keeling) Islands", "cocos keeling islands"),
        ("I am not sure.", None),
        ("This is one of seven words for once", None),
    ],
)
def test_a_name_is_short_and_without_doubt(reply, answer):
    assert read_plain_name(reply, ["Go"]).answer == answer


def test_a_share_of_another_scale_is_no_rating():
    assert read_plain_rating("I give it 4 out of 5.", 1, 5).score == 4
    assert read_plain_rating("I give it 4 out of 10.", 1, 5).score is None


def test_what_is_read_is_answered_or_scored():
    assert read_plain_name("This is Go.", ["Go"]) == ParsedAnswer("Go", "answered")
    assert read_plain_count("There are 5.") == ParsedAnswer("5", "answered")
    assert read_plain_rating("I give it 4 out of 5.", 1, 5).outcome == "scored"
    assert read_plain_pick("The second image is better.").outcome == "scored"


@given(st.integers(0, 10**6), st.integers(0, 10**6))
def test_of_two_numbers_none_is_chosen(first, second):
    answer = read_plain_count(f"I see {first} legs and {second} ears.").answer
    assert answer == (str(first) if first == second else None)


@given(st.text())
def test_any_text_is_answered_unparsed_or_refused(reply):
    name = read_plain_name(reply, ["Go"])
    for parsed in (read_plain_count(reply), read_plain_yes_no(reply), name):
        assert (parsed.answer is not None) == (parsed.outcome == "answered")
    rating, pick = read_plain_rating(reply, 0, 5), read_plain_pick(reply)
    assert (rating.score is not None) == (rating.outcome == "scored")
    assert (pick.first is not None) == (pick.outcome == "scored")


@pytest.mark.parametrize("reply", ["I'm sorry, I can't help with that.", "No. I can't assist."])
def test_a_refusal_stays_one(reply):
    assert read_plain_yes_no(reply) == ParsedAnswer(None, "refused")
