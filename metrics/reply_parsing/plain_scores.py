"""Ratings and preferences, read from a judge's words where it gave no JSON.

Beside the reading of JSON, never instead of it: the rules are those of `plain_answers`.
"""

import re
from collections.abc import Iterator

from metrics.reply_parsing.bracketed_answers import strip_typesetting
from metrics.reply_parsing.picks import Pick, read_pick
from metrics.reply_parsing.plain_text import split_english_sentences
from metrics.reply_parsing.ratings import Rating, read_rating
from metrics.reply_parsing.stated_numbers import find_stated_number

_SCORE = re.compile(
    r"\b(?:scor(?:e[sd]?\d?|ing)|rat(?:e[sd]?|ing)|grade[sd]?|overall|g[ia]ve)\b", re.IGNORECASE
)
_OUT_OF = re.compile(r"(?<=\d)\s*(?:/|out of|of)\s*(\d{1,9})\b(?!\s*[/.]\s*\d)", re.IGNORECASE)
_REASON = re.compile(r"\breason(?:ing)?\b", re.IGNORECASE)
_GIVES = re.compile(
    r"\b(?:I|we) (?:would|should) (?=(?:\w+ly |therefore )?(?:give|rate|score|grade)\b)"
    r"|\b(?:this|the) (?:response|answer|image|picture) should (?=(?:get|receive|score)\b)"
    r"|\b(?:score|rating|grade)(?: (?:for|of) (?:this|the) \w+)? (?:would|should) (?=be\b)",
    re.IGNORECASE,
)
"""A judge's polite `would` and `should`: its score, whatever happens."""
_CONDITION = re.compile(
    r"\b(?:if|unless|had|were|without|except|otherwise|ordinarily|perfect|ideal|but|to an?"
    r"|with (?:more|better|an?)|at (?:best|most)|hardly|scarcely|barely)\b",
    re.IGNORECASE,
)
_HYPOTHETICAL = re.compile(
    r"\b(?:if|unless)\b|\b(?:perfect|ideal) \w+ (?:would|should)\b", re.IGNORECASE
)
_WOULD_BE = re.compile(r"\b(?:would|should) be\b", re.IGNORECASE)
_CONCLUDES = re.compile(r"\b(?:so|therefore|thus|hence)\b", re.IGNORECASE)
_BOXED = re.compile(r"\\boxed\s*\{([^{}]*)\}(?:\$*(\s*(?:/|out of)\s*\d{1,9}))?", re.IGNORECASE)
_BARE = re.compile(r"[\W_]*(?:\d{1,9}|[a-z]+)[\W_]*", re.IGNORECASE)


def read_plain_rating(response: str, low: int, high: int) -> Rating:
    """The whole number from `low` to `high` that `response` gives as its score.

    >>> read_plain_rating("Two cones are missing. I give it a 2 out of 4.", 1, 4).score
    2
    """
    rating = read_rating(response, low, high)
    if rating.outcome != "unparsed":
        return rating
    if "{" in response:
        number = _find_boxed(response, low, high)
        return rating if number is None else Rating(number, "scored")
    scale = re.compile(rf"\b{low}\s*(?:[-–—]|to)\s*{high}\b")
    sentences = [
        scale.sub("", _REASON.split(sentence)[0]) for sentence in split_english_sentences(response)
    ]
    number = find_stated_number([*_iterate_scores(sentences, high)])
    return rating if number is None or not low <= number <= high else Rating(number, "scored")


def _find_boxed(response: str, low: int, high: int) -> int | None:
    r"""The score that all of a reply's `\boxed{…}` give, where no other brackets stand."""
    text = strip_typesetting(response)
    boxed = {f"{content}{total}" for content, total in _BOXED.findall(text)}
    scores = {read_rating(content, low, high).score for content in boxed}
    return scores.pop() if len(scores) == 1 and "{" not in _BOXED.sub("", text) else None


def _iterate_scores(sentences: list[str], high: int) -> Iterator[str]:
    """Yield the sentences about a score, `4 out of 5` as its number."""
    for sentence in sentences:
        shares = {int(total) for total in _OUT_OF.findall(sentence)}
        score = _SCORE.search(sentence)
        if shares:
            plain = sentence if _CONDITION.search(sentence) else _GIVES.sub("", sentence)
            yield _OUT_OF.sub("", plain) if shares == {high} else plain
        elif score and not _HYPOTHETICAL.search(sentence[: score.start()]):
            concludes = "so " if _CONCLUDES.search(sentence[: score.start()]) else ""
            yield concludes + _WOULD_BE.sub("is", sentence[score.start() :])
        elif len(sentences) == 1 and _BARE.fullmatch(sentence):
            yield sentence


_PICTURE = (
    r"(?:the )?(?:(first|second)(?: one| image| picture)?|(?:image|picture) ([12]|one|two))\b"
)
_PICKED = re.compile(
    rf"^\W*(?:(?:better|answer|final answer)\W+)?{_PICTURE}\W*$"
    rf"|{_PICTURE} (?:is (?:the )?better|(?:aligns?|follows?|matches?|fits?) better)\b"
    rf"|\bbe(?:tter|st) (?:one|image|picture) is {_PICTURE}"
    rf"|\b(?:prefer|choose|pick) {_PICTURE}",
    re.IGNORECASE,
)
_TIED = re.compile(
    r"^\W*(?:(?:it's|it is|the first and the second are) )?a? ?tie\W*$|^neither is better\W*$"
    r"|^both(?: images| pictures)? are equally (?:good|well aligned|aligned)\W*$",
    re.IGNORECASE,
)
_FIRST = {"first": 1.0, "1": 1.0, "one": 1.0, "second": 0.0, "2": 0.0, "two": 0.0}


def read_plain_pick(response: str) -> Pick:
    """The preference that `response` states, in JSON or in words.

    >>> read_plain_pick("The second image is better.").first
    0.0
    """
    pick = read_pick(response)
    if pick.outcome != "unparsed" or "{" in response:
        return pick
    picks = {
        value
        for sentence in split_english_sentences(response)
        for value in _iterate_picks(sentence)
    }
    return Pick(picks.pop(), "scored") if len(picks) == 1 else pick


def _iterate_picks(sentence: str) -> Iterator[float]:
    if _TIED.search(sentence):
        yield 0.5
    for match in _PICKED.finditer(sentence):
        yield _FIRST[next(filter(None, match.groups())).lower()]
