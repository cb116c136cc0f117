"""Ratings out of what judges say."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from metrics.reply_parsing.ratings import read_rating

GIVEN = {
    '{"score": 3}': 3,
    '{\n  "score": 3\n}': 3,
    '```json\n{"score": 4}\n```': 4,
    'Two cones are there, one is red. {"score": 2} I took off 2 points.': 2,
    '**{"Score": "3"}**': 3,
    '{"score": 3.0}': 3,
    '{"score": 3,}': 3,
    '{"score": "3/4"}': 3,
    '{"score": "3 out of 4"}': 3,
    "3 Out of 4": 3,
    '{"score": <3>}': 3,
    "{'score': 3}": 3,
    "{score: 1}": 1,
    "The {red} cone: {score: 2}.": 2,
    '{{"score": 3}}': 3,
    "3": 3,
    " 3.\n": 3,
    '{"reason": "the {red} cone", "score": 4}': 4,
    '{"rating": {"score": 2}}': 2,
    '{"score": 4, "parts": {"score": 2}}': 4,
    '{"score": 3} — to repeat: {"score": 3.0}': 3,
    'As asked, {"score": <integer 1–4>}: {"score": 2}': 2,
    '<think>{"score": 1}</think>{"score": 4}': 4,
}
UNPARSED = {
    "": "no JSON",
    "The image matches well.": "no JSON",
    "I cannot tell from this picture.": "no JSON",
    '{"score": 3': "no JSON",
    '<think>{"score": 3}': "no JSON",
    "score 3 of 4": "no JSON",
    '{"a":' * 1100: "no JSON",
    '{"score": <integer 1–4>}': "no whole number",
    '{"score": 3.5}': "no whole number",
    '{"score": null}': "no whole number",
    '{"score": [3]}': "no whole number: […]",
    '{"score": true}': "no whole number",
    '{"score": "3 or 4"}': "no whole number",
    '{"score": "3/5"}': "no whole number",
    '{"score": "3 out of 5"}': "no whole number",
    '{"score": "3 out of 4 or 5"}': "no whole number",
    '{"score": "3 of the 4 dogs"}': "no whole number",
    '{"score": 1e0}': "no whole number",
    '{"score": NaN}': "no whole number",
    '{"score": 0}': "is 0, not from 1 to 4",
    '{"score": 5}': "is 5, not from 1 to 4",
    '{"score": -3}': "is -3, not from 1 to 4",
    '{"score": 3} or {"score": 4}': "several scores: 3, 4",
    '{"score": 3, "score": 4}': "several scores: 3, 4",
    '{"score": 3} or {"score": 3.5}': "several scores: 3, 3.5",
    '{"main": {"score": 4}, "extra": {"score": 2}}': "several scores: 4, 2",
}


@pytest.mark.parametrize(("response", "score"), GIVEN.items())
def test_a_rating_is_read(response, score):
    assert read_rating(response, 1, 4) == (score, "scored", None)


@pytest.mark.parametrize(("response", "why"), UNPARSED.items(), ids=range(len(UNPARSED)))
def test_what_is_no_rating_is_unparsed_and_says_why(response, why):
    rating = read_rating(response, 1, 4)
    assert (rating.score, rating.outcome) == (None, "unparsed")
    assert why in str(rating.reason)


@pytest.mark.parametrize(
    ("response", "outcome"),
    {
        "I'm sorry, but I can't assist with that.": "refused",
        "I'm sorry, but I can't assist with that. {\"score\": 1}": "scored",
    }.items(),
)
def test_a_refusal_is_one_without_a_rating(response, outcome):
    rating = read_rating(response, 1, 4)
    assert rating.outcome == outcome
    assert (rating.reason is None) == (outcome == "scored")


def test_a_list_of_many_scores_is_shortened():
    reason = read_rating(" ".join(f'{{"score": {number}}}' for number in range(99)), 1, 4).reason
    assert reason.startswith("It gives several scores: 0, 1, 2,")
    assert reason.endswith("….")


@given(st.text(), st.integers(-3, 14), st.text())
def test_a_rating_is_never_moved_into_range(before, number, after):
    rating = read_rating(f'{before.replace("{", "")}{{"score": {number}}}{after}', 1, 10)
    assert rating.score in (None, number)
    assert (rating.score is None) == (rating.outcome != "scored") == (rating.reason is not None)
    if not 1 <= number <= 10:
        assert rating.outcome != "scored"
