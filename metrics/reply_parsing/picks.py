"""A preference between two pictures, read from the JSON that a judge was asked for.

`{"better": "first"}`, `"second"` or `"tie"`. JSON is the answer whatever the prose around it says;
so is what nearly is JSON (`{better: "first"}`, `"the first one"`), and a reply of that one word.
Several that differ are no preference, nor is one that is left open (`"first or second"`,
`"second-best"`): none of them may be chosen. The schema (`"first" | "second" | "tie"`), repeated,
is no preference beside another. A reply begins after its thinking.
"""

import re
from collections.abc import Iterator
from typing import Literal, NamedTuple

from metrics.reply_parsing.reply_text import is_refusal, strip_thinking

_WORDS = {"first": 1.0, "tie": 0.5, "second": 0.0}
_WORD = "|".join(_WORDS)
_KEY = re.compile(r"(?:['\"“*`]better['\"”*`]|[{,]\s*better)\s*[:：]", re.IGNORECASE)
_VALUE = re.compile(
    rf"[\s*`]*+(['\"“])?[*`]*+(?:the\s+)?(?P<word>{_WORD})"
    r"(?:\s+(?:response|one|answer|image|picture))?\.?[*`]*+(?(1)['\"”])[ \t*`]*+"
    r"(?:\n|\s*$|\s*\}|\s*,\s*(?:$|\}|(?:\w+|['\"“][^'\"“”\n]*['\"”])\s*[:：]))",
    re.IGNORECASE,
)
"""A preference up to its quotation mark, and then the end, a bracket, a line or another key."""
_VALUE_END = re.compile(r"[{}\n]")
_LONGEST_VALUE = 200
"""Most characters of a value that is no preference, for the schema and the message."""


class Pick(NamedTuple):
    """Preference for the first picture: 1, 0.5 for a tie, 0; None with the reason if unknown."""

    first: float | None
    outcome: Literal["scored", "unparsed", "refused"]
    reason: str | None = None


def read_pick(response: str) -> Pick:
    """The preference that `response` states.

    >>> read_pick('The dog is red in the first. {"better": "first"}').first
    1.0
    """
    reply = strip_thinking(response).strip()
    stated_values = {*_iterate_values(reply)} or {reply.lower().strip(" .\"'*`\n")} & set(_WORDS)
    if len(stated_values) > 1:
        return Pick(
            None, "unparsed", f"It gives several preferences: {', '.join(sorted(stated_values))}."
        )
    if stated_values and (preference := _WORDS.get(stated_values.pop())) is not None:
        return Pick(preference, "scored")
    if is_refusal(reply):
        return Pick(None, "refused", "It declines in words.")
    return Pick(None, "unparsed", 'It holds no JSON with "better": "first", "second" or "tie".')


def _iterate_values(reply: str) -> Iterator[str]:
    """Yield the preferences that the reply states, as written where they are open."""
    for key in _KEY.finditer(reply):
        if decided := _VALUE.match(reply, key.end()):
            yield decided["word"].lower()
            continue
        rest = reply[key.end() : key.end() + _LONGEST_VALUE].lstrip()
        text = _VALUE_END.split(rest, maxsplit=1)[0].strip()
        words = set(re.findall(r"\w+", text.lower()))
        if words and not words >= _WORDS.keys():
            yield text
