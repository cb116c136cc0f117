"""A rating, read from the JSON that a judge was asked for: `{"score": 3}`.

The rules, each for its reason:

- JSON with a `score` is the answer, in a fence or not, whatever the prose around it says; so is
  what nearly is JSON (`{score: 3}`, `{'score': '3/4'}`), and a reply that is a number and nothing
  else. A reply begins after its thinking.
- A rating is whole. `3.5`, `null`, `"3 or 4"` and a reply that was cut off within its JSON, where
  another digit may have followed, are none.
- One out of range is no rating, and is never moved to the nearest one: a judge that answers 7 of 4
  has not understood the scale.
- Several that differ are no rating: which one is meant is not ours to choose. The scale's own
  words (`{"score": <integer 1–4>}`), repeated, are no rating beside another.
- A refusal declines to help, in a reply without a rating.
"""

import json
import re
from collections.abc import Iterable, Iterator
from textwrap import shorten
from typing import Any, Literal, NamedTuple

from metrics.reply_parsing.reply_text import is_refusal, strip_thinking

_PAIR = r"""['"“]?score['"”]?\s*+:\s*+['"“]?([^{}'"“”,]*+)['"”]?"""
_NEARLY_JSON = re.compile(rf"\{{\s*+{_PAIR}\s*+,?\s*+\}}", re.IGNORECASE)
_SCALE = re.compile(r"<.*\d+\s*(?:[-–—]|to)\s*\d+.*>")
_LONGEST_SCALE = 100
_MOST_TRIES = 1000
"""Brackets of one reply that may open JSON: trying each takes up to its whole length."""
_WHOLE = re.compile(
    r"<?\s*([+-]?\d{1,30})(?:\.0*)?(?:\s*(?:/|out of)\s*(\d{1,30}))?\s*>?", re.IGNORECASE
)


class Rating(NamedTuple):
    """A rating, or why there is none."""

    score: int | None
    outcome: Literal["scored", "unparsed", "refused"]
    reason: str | None = None
    """The reason why there is no score; None where there is one."""


def read_rating(response: str, low: int, high: int) -> Rating:
    """The whole number from `low` to `high` that `response` gives as its score.

    >>> read_rating('Both cones are there. {"score": 4}', 1, 4).score
    4
    """
    reply = strip_thinking(response).strip()
    stated_scores = list(_find_scores(reply))
    stated_scores = [value for value in stated_scores if not _is_scale(value)] or stated_scores
    if not stated_scores and is_refusal(reply):
        return Rating(None, "refused", "It declines in words.")
    if not stated_scores:
        return Rating(None, "unparsed", 'It holds no JSON with a "score".')
    rating, *others = {_parse_whole(value, high) for value in stated_scores}
    if others:
        return Rating(None, "unparsed", f"It gives several scores: {_format_list(stated_scores)}.")
    if rating is None:
        return Rating(
            None, "unparsed", f"Its score is no whole number: {_format_list(stated_scores)}."
        )
    if not low <= rating <= high:
        return Rating(None, "unparsed", f"Its score is {rating}, not from {low} to {high}.")
    return Rating(rating, "scored")


def _find_scores(reply: str) -> Iterator[str]:
    """Yield the scores that the reply states, as written, except those of nested parts."""
    if _WHOLE.fullmatch(reply):
        yield reply
    index, tries = reply.find("{"), 0
    while index >= 0 and (tries := tries + 1) <= _MOST_TRIES:
        try:
            pairs, end = _JSON.raw_decode(reply, index)
        except RecursionError:
            return
        except ValueError:
            near_match = _NEARLY_JSON.match(reply, index)
            scores = [near_match[1].strip()] if near_match else []
            end = near_match.end() if near_match else index + 1
        else:
            scores = [_format_value(value) for name, value in pairs if name.lower() == "score"]
        yield from scores
        index = reply.find("{", end if scores else index + 1)


def _format_value(value: Any) -> str:
    """A value as it is written, of an array or object the brackets alone."""
    return "[…]" if isinstance(value, list) else str(value)


def _is_scale(value: str) -> bool:
    return len(value) <= _LONGEST_SCALE and _SCALE.fullmatch(value) is not None


_JSON = json.JSONDecoder(object_pairs_hook=list, parse_int=str, parse_float=str)
"""Keeps every pair of an object, also two of one name, and numbers as they are written."""


def _parse_whole(value: str, high: int) -> int | None:
    """The whole number that is written as `3`, `3.0` or, of the highest, `3/4`, `3 out of 4`."""
    match = _WHOLE.fullmatch(value)
    if match is None or (match[2] is not None and int(match[2]) != high):
        return None
    return int(match[1])


def _format_list(values: Iterable[str]) -> str:
    return shorten(", ".join(values), 80, placeholder="…")
