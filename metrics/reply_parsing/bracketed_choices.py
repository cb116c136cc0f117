"""One of a few choices, as people write it: B, (B), B. six fingers, the six fingers."""

import re
import unicodedata
from collections.abc import Mapping, Sequence
from functools import partial

from metrics.reply_parsing.bracketed_answers import ParsedAnswer, read_brackets
from metrics.reply_parsing.written_names import BETWEEN_NAMES

_UNSAID = frozenset(("an", "the", "answer", "choice", "is", "option"))
_WORD = re.compile(r"[^\W_]+")
_ARTICLE = re.compile(r"\ba[^\S\n]+(?=['’]?\w)(?!(?:[a-z]|\d+)(?![\w'’-])|(?:is|option)\b)")
"""An `a` before a word; before a mark, a single letter, a number or `is` it is a letter itself."""
_KIND_OF_ANSWER = re.compile(r"\b(?:(?:my|final|correct)\s+){1,2}(?=(?:answer|choice|option)\b)")


def read_choice(response: str, choices: Mapping[str, Sequence[str]]) -> ParsedAnswer:
    """The one of `choices` that `response` gives in curly brackets, by any of its phrases.

    Something else is unparsed. Articles and "the answer is" need not be among the phrases.

    >>> read_choice("{four} feet, so {B}", {"A": ["A", "five"], "B": ["B", "four"]}).answer
    'B'
    """
    parsed = read_brackets(response, partial(match_choice, choices=choices))
    is_another = parsed.outcome == "answered" and parsed.answer not in choices
    return ParsedAnswer(None, "unparsed") if is_another else parsed


def match_choice(phrase: str, choices: Mapping[str, Sequence[str]]) -> str | None:
    """The choice that `phrase` means, else what it is, normalized; None where it leaves it open.

    `choices` has the phrases for each. Open is what holds two of them, or one beside anything else.

    >>> match_choice("the six fingers (B)", {"A": ["A", "five fingers"], "B": ["B", "six fingers"]})
    'B'
    """
    by_phrase = {
        _normalize(accepted): choice
        for choice, accepted_phrases in choices.items()
        for accepted in accepted_phrases
    }
    normalized = _normalize(phrase)
    if normalized in by_phrase:
        return by_phrase[normalized]
    parts = [part for text in BETWEEN_NAMES.split(phrase) if (part := _normalize(text))]
    meant = {by_phrase.get(part) for part in parts}
    if meant <= {None}:
        return normalized or None
    return meant.pop() if len(meant) == 1 else None


def _normalize(text: str) -> str:
    """The words in lower case, without accents, articles and what need not be said."""
    letters = unicodedata.normalize("NFKD", text).casefold().replace("_", " ")
    bare = "".join(letter for letter in letters if not unicodedata.combining(letter))
    words = _WORD.findall(_ARTICLE.sub("", _KIND_OF_ANSWER.sub("", bare)))
    return " ".join([word for word in words if word not in _UNSAID] or words[-1:])
