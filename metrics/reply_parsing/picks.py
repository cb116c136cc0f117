"""A preference between two pictures, read from the JSON that a judge was asked for.

`{"better": "first"}`, `"second"` or `"tie"`. JSON is the answer whatever the prose around it says;
so is a reply of that one word. Several that differ are no preference: none of them may be chosen. A
reply begins after its thinking.
"""

import re
from typing import Literal, NamedTuple

from metrics.reply_parsing.reply_text import is_refusal, strip_thinking

_WORDS = {"first": 1.0, "tie": 0.5, "second": 0.0}
_STATED = re.compile(rf"['\"“]better['\"”]\s*:\s*['\"“]?({'|'.join(_WORDS)})\b", re.IGNORECASE)


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
    stated_words = {word.lower() for word in _STATED.findall(reply)}
    if not stated_words and reply.lower().strip(" .\"'") in _WORDS:
        stated_words = {reply.lower().strip(" .\"'")}
    if len(stated_words) == 1:
        return Pick(_WORDS[stated_words.pop()], "scored")
    if stated_words:
        return Pick(
            None, "unparsed", f"It gives several preferences: {', '.join(sorted(stated_words))}."
        )
    if is_refusal(reply):
        return Pick(None, "refused", "It declines in words.")
    return Pick(None, "unparsed", 'It holds no JSON with "better": "first", "second" or "tie".')
