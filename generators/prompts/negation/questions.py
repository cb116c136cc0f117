"""The one yes/no question that a text asks, with the sentences around it."""

import re
from collections.abc import Sequence
from typing import NamedTuple

from generators.prompts.negation.lexicon import AUXILIARIES


class NotNegatable(ValueError):
    """A question that cannot be negated by rule; the message says why."""


class ParsedQuestion(NamedTuple):
    """A yes/no question in its text: `before` and `after` it stand other sentences."""

    before: str
    intro: tuple[str, ...]
    """Words before the auxiliary, as in "In the picture,"."""
    auxiliary_text: str
    """The auxiliary as it is written."""
    words: tuple[str, ...]
    """The words after the auxiliary, without the question mark."""
    after: str

    @property
    def auxiliary(self) -> str:
        """The auxiliary in small letters."""
        return self.auxiliary_text.lower()


_START = re.compile(r"(?<=[.!:;])\s+(?=[A-Z])|\n+")
_EDGES = "\"'“”‘’()[]{}.,;:!?"
_CONTRACTED = re.compile(r"(?:n't|n’t)$")


def normalise_word(word: str) -> str:
    """A word in small letters without punctuation around it, but for that of a genitive."""
    bare = word.strip(_EDGES).lower().replace("’", "'")
    return f"{bare}'" if word.rstrip('".,;:!?').endswith(("s'", "s’")) else bare


MAX_CHARACTERS = 2_000
"""Characters of a text that is read."""


def parse_yes_no_question(text: str) -> ParsedQuestion:
    """The one question that a text asks. Raises `NotNegatable`."""
    if len(text) > MAX_CHARACTERS:
        raise NotNegatable(f"It is longer than {MAX_CHARACTERS:,} characters.")
    core, mark, after = text.strip().partition("?")
    if not mark:
        raise NotNegatable("It does not end with a question mark.")
    if "?" in after:
        raise NotNegatable("It asks several questions.")
    starts = [0, *(match.end() for match in _START.finditer(core))]
    for start in reversed(starts):
        words = core[start:].split()
        match = _find_auxiliary(words)
        if match is not None:
            intro = tuple(words[:match])
            rest = tuple(words[match + 1 :])
            return ParsedQuestion(
                before=core[:start],
                intro=intro,
                auxiliary_text=words[match],
                words=rest,
                after=after,
            )
    raise NotNegatable(_describe_no_question(core[starts[-1] :].split()))


def _find_auxiliary(words: Sequence[str]) -> int | None:
    """The index of the auxiliary: at the beginning, or after a comma."""
    for place, word in enumerate(words[:-1]):
        if word.lower() in AUXILIARIES and (place == 0 or words[place - 1].endswith(",")):
            return place
    return None


def _describe_no_question(words: Sequence[str]) -> str:
    first = words[0] if words else ""
    if _CONTRACTED.search(first):
        return f"It begins with {first}, which asks for agreement and is no plain question."
    return f"It begins with {first!r}, and is no yes/no question." if first else "It is empty."
