"""The words of questions, and how two lists of them differ."""

import re
from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

from generators.prompts.negation.questions import NotUnderstood, Question, question_in

_WORD = re.compile(r"[^\W_]+(?:['’.\-/:][^\W_]+)*|[^\w\s\"'“”‘’`.,;:!?()\[\]]")


class Words(NamedTuple):
    """Words as they are written, and in small letters; signs such as + are words as well."""

    written: list[str]
    low: list[str]


def words_of(text: str) -> Words:
    """The words of a text, without punctuation."""
    written = [word.replace("’", "'") for word in _WORD.findall(text)]
    return Words(written, [word.lower() for word in written])


class Original(NamedTuple):
    """A question that is to be negated."""

    text: str
    words: Words
    question: Question | None
    """None where it is not understood."""

    @property
    def first(self) -> int:
        """Which of its words the question begins with; sentences may stand before it."""
        return len(words_of(self.question.before).low) if self.question else 0

    @property
    def auxiliary(self) -> str:
        """Its auxiliary; of one that is not understood the first word."""
        return self.question.auxiliary if self.question else self.words.low[0]


def original_of(text: str) -> Original:
    """A question with its words."""
    try:
        question = question_in(text)
    except NotUnderstood:
        question = None
    return Original(text, words_of(text), question)


def apart(before: Sequence[str], after: Sequence[str]) -> tuple[Counter[str], Counter[str]]:
    """The words that are missing after, and those that are new."""
    counts_before, counts_after = Counter(before), Counter(after)
    return counts_before - counts_after, counts_after - counts_before


def rewritten(original: Original, after: Sequence[str]) -> str | None:
    """A word that is written in other letters than it was, but for the question's first one."""
    start = original.words.written[original.first]
    allowed_words = {*original.words.written, start[:1].lower() + start[1:], original.auxiliary}
    allowed_words |= {"no", "not"}
    known_words = set(original.words.low)
    return next(
        (word for word in after if word.lower() in known_words and word not in allowed_words), None
    )
