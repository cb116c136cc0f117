"""The words of questions, and how two lists of them differ."""

import re
from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

from generators.prompts.negation.questions import (
    NotNegatable,
    ParsedQuestion,
    parse_yes_no_question,
)

_WORD = re.compile(r"[^\W_]+(?:['’.\-/:][^\W_]+)*|[^\w\s\"'“”‘’`.,;:!?()\[\]]")


class QuestionWords(NamedTuple):
    """Words as they are written, and in small letters; signs such as + are words as well."""

    written: list[str]
    lower_case: list[str]


def split_words(text: str) -> QuestionWords:
    """The words of a text, without punctuation."""
    written = [word.replace("’", "'") for word in _WORD.findall(text)]
    return QuestionWords(written=written, lower_case=[word.lower() for word in written])


class OriginalQuestion(NamedTuple):
    """A question that is to be negated."""

    text: str
    words: QuestionWords
    question: ParsedQuestion | None
    """The parsed question; None where it cannot be parsed."""

    @property
    def start(self) -> int:
        """The index of the question's first word; sentences may stand before it."""
        return len(split_words(self.question.before).lower_case) if self.question else 0

    @property
    def auxiliary(self) -> str:
        """Its auxiliary; of one that is not understood the first word."""
        return self.question.auxiliary if self.question else self.words.lower_case[0]


def parse_original(text: str) -> OriginalQuestion:
    """A question with its words."""
    try:
        question = parse_yes_no_question(text)
    except NotNegatable:
        question = None
    return OriginalQuestion(text=text, words=split_words(text), question=question)


def count_differences(
    before: Sequence[str], after: Sequence[str]
) -> tuple[Counter[str], Counter[str]]:
    """The words that are missing after, and those that are new."""
    counts_before, counts_after = Counter(before), Counter(after)
    return counts_before - counts_after, counts_after - counts_before


def find_recased_word(original: OriginalQuestion, after: Sequence[str]) -> str | None:
    """A word that is written in other letters than it was, but for the question's first one."""
    start = original.words.written[original.start]
    allowed_words = {*original.words.written, start[:1].lower() + start[1:], original.auxiliary}
    allowed_words |= {"no", "not"}
    known_words = set(original.words.lower_case)
    return next(
        (word for word in after if word.lower() in known_words and word not in allowed_words), None
    )
