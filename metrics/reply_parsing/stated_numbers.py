"""The one number that a reply in plain words gives as its answer.

Several numbers are no answer, unless the reply says which is meant:

- It concludes: `so 5 in total`, `the answer is 5`, `3 + 2 = 5`, `… and one behind: 5`.
- It totals: `a total of 5 stripes`, where it does not speak of what is usual.
- It adds up: the others come after a colon or in later sentences and sum to it
  (`5 stripes: 3 red and 2 white`), or each is a mere "one" (`2 squares: one small, one large`).
- It denies the others: `5, not 4`, `51 instead of the usual 50`, `rather than 4`.

What makes a number inexact (`about 5`, `4 or 5`, `4-5`, `at least`, `possibly`), denied (`it does
not have 5`) or unseen (`not visible`) leaves no answer, and so do words of correction (`actually`,
`wait`) beside two numbers.
An ordinal, a year, a percentage, a size (`19x19`), a label (`C5`, `Step 2:`) and "one" where it
stands for a thing (`each one`, `one of them`) count nothing; `once` and `twice` count where nothing
else does.
"""

import re
from collections.abc import Iterator, Sequence
from decimal import Decimal
from typing import NamedTuple

from metrics.reply_parsing.written_numbers import NUMBER_WORDS, parse_single_number

_WORDS = "|".join(sorted(NUMBER_WORDS, key=len, reverse=True))
_SPELLED = rf"(?:an? hundred|(?:{_WORDS}))(?:[- ](?:and )?(?:{_WORDS}))*\b"
_NUMBER = re.compile(
    rf"(?<![\w.])(?:[-−]?\d+(?:,\d{{3}})*(?:\.\d+)?(?![\w%])|\b{_SPELLED}(?:\s+dozen\b)?"
    r"|\ba dozen\b)",
    re.IGNORECASE,
)
_TIMES = {"once": 1, "twice": 2, "thrice": 3}
_TIMES_WORD = re.compile(rf"\b(?:{'|'.join(_TIMES)})\b", re.IGNORECASE)
_NONE = re.compile(
    r"^(?:in (?:the|this) (?:image|picture),? )?there are no \w"
    r"|^no \w+ (?:are|is) (?:visible|present|shown)\b|^(?:none|zero)\W*$",
    re.IGNORECASE,
)

_USUAL = r"usual(?:ly)?|normal(?:ly)?|typical(?:ly)?|standard|traditional(?:ly)?|original(?:ly)?"
_IS_USUAL = re.compile(
    rf"\b(?:{_USUAL}|official|supposed|should|would|expected|if)\b", re.IGNORECASE
)
_CONTRAST = re.compile(
    r"\b(?:however|although|though|whereas|while|unlike|compared|but|except)\b", re.IGNORECASE
)
_CORRECTION = re.compile(
    r"\b(?:actually|wait|correction|recount(?:ing)?|on second thought|let me"
    r"|looking (?:again|closer|closely))\b",
    re.IGNORECASE,
)
_INEXACT_BEFORE = re.compile(
    r"(?:\b(?:about|almost|approximately|around|close to|nearly|roughly|at least|at most|up to"
    r"|(?:more|less|fewer|greater|larger|smaller) than|over|under|between|either|or|maybe|perhaps"
    rf"|possibly|(?:\d|{_WORDS}) to)\s+|[~≈<>≥≤±/]\s*|\d\s*[-–—]\s*)$",
    re.IGNORECASE,
)
_INEXACT_AFTER = re.compile(
    r"\s*(?:\+|[-–—]\s*\d|/\s*\d|°|or (?:so|more|fewer|less)\b|(?:or|to) (?:\d|(?:"
    + _WORDS
    + r")\b)|and a half\b|point\b|hundred|thousand|million)",
    re.IGNORECASE,
)
_NEGATED_BEFORE = re.compile(r"(?:\b(?:not|never|without)|n't)\b(?:(?!\bbut\b)[^,;:.(])*$", re.I)
_NEARBY = 40
"""Characters around a number that may make it inexact."""
_UNSEEN = re.compile(
    r"\b(?:not (?:visible|shown|clear)|hidden|cannot|can't|unable|unclear"
    r"|possibly|perhaps|maybe)\b",
    re.IGNORECASE,
)
_DENIED = re.compile(
    r"(?:\b(?:rather than|instead of|and not|but not|not)|n't)\s+(?:the |a |its )?"
    rf"(?:(?:{_USUAL}) )?(?={_NUMBER.pattern})",
    re.IGNORECASE,
)
_COUNTS_NOTHING = re.compile(
    r"\b\d+(?:st|nd|rd|th)\b|\b\d+(?:\.\d+)?\s*%|\b\d+\s*[x×]\s*\d+\b|\b\d+-?(?:d|mm|px|k)\b"
    r"|\b(?:in|of|from|since|by|until) (?:1[5-9]|20)\d\d\b"
    r"|^\w+ \d{1,2}:(?=\s*\S)|(?<=[.!:;] )(?:step|stripe|row|column|part) \d{1,2}:"
    r"|(?<=this|that) one\b"
    r"|\b(?:each|another|no|every|any|which|the|other|usual|next|last|first|\w{2,}(?:er|est))"
    r" ones?\b(?! (?:hundred|time)\b)"
    r"|\bone (?:\w+ )?(?:inside|within|in|on|above|below|beside|after) (?:the )?(?:an)?other\b"
    r"|\bone another\b|\bone of\b|^one (?:is|has|lies|sits)\b",
    re.IGNORECASE,
)
_ENUMERATION = re.compile(r"\b1(?:,\s*\d+){2,}(?:,?\s*and\s+\d+)?\b")

_CONCLUSION = re.compile(
    r"\b(?:final (?:answer|count|score)|overall score)\b"
    r"|(?:^|[,;:.]\s*|\band\s+)(?:so|therefore|thus|hence|overall|in conclusion|making|which makes"
    r"|(?:the |my )?(?:final )?answer(?: is)?|the count is"
    r"|but (?:this|here|in this))\b",
    re.IGNORECASE,
)
_RESULT = re.compile(
    rf"^((?:\S+\s+){{3,}}[^\s:]+):(?=\s*\(?{_NUMBER.pattern}[\s.!\"')]*$)", re.IGNORECASE
)
"""Some words, and a colon before the number that a reply ends in."""
_TOTAL = re.compile(r"\b(?:total|altogether|in all)\b", re.IGNORECASE)
_MAIN_CLAUSE_END = re.compile(r"[:;(]|,(?!\d{3})|\.(?=\s|$)")


class StatedNumber(NamedTuple):
    """A number in a sentence; its value is None where it is inexact or no whole number."""

    value: int | None
    start: int
    end: int
    is_one: bool
    """Whether it is the word "one"."""


def find_stated_number(sentences: Sequence[str]) -> int | None:
    """The whole number that these sentences give as their answer; None if they leave it open.

    >>> find_stated_number(["There are 5 stripes: 3 red and 2 white."])
    5
    """
    cleaned = [_strip_denied(_COUNTS_NOTHING.sub(" ", sentence)) for sentence in sentences]
    cleaned = [_ENUMERATION.sub(" ", sentence) for sentence in cleaned]
    numbers = [[*_iterate_numbers(sentence)] for sentence in cleaned]
    values = [number.value for line in numbers for number in line]
    if not values:
        return _find_without_number(cleaned)
    if len(set(values)) > 1 and any(map(_CORRECTION.search, cleaned)):
        return None
    last = max(place for place, line in enumerate(numbers) if line)
    cleaned[last] = _RESULT.sub(r"\1=", cleaned[last])
    for find in (_conclude, _total):
        candidates = {value for line in zip(cleaned, numbers, strict=True) for value in find(*line)}
        is_contrasted = find is _total and any(map(_IS_USUAL.search, cleaned))
        if candidates and not is_contrasted:
            return candidates.pop() if len(candidates) == 1 else None
    if len(set(values)) == 1:
        is_doubtful = any(
            _IS_USUAL.search(sentence) or _UNSEEN.search(sentence)
            for sentence, line in zip(cleaned, numbers, strict=True)
            if line
        )
        return None if is_doubtful else values[0]
    return _find_sum(cleaned, numbers)


def _iterate_numbers(sentence: str) -> Iterator[StatedNumber]:
    for match in _NUMBER.finditer(sentence):
        start, end = match.span()
        before, after = sentence[max(0, start - _NEARBY) : start], sentence[end : end + _NEARBY]
        is_inexact = _INEXACT_BEFORE.search(before) or _INEXACT_AFTER.match(after)
        is_inexact = is_inexact or _NEGATED_BEFORE.search(before)
        text = match[0].lower()
        value = None if is_inexact else _parse_whole(text)
        yield StatedNumber(value, start, end, is_one=text == "one")


def _parse_whole(text: str) -> int | None:
    """The whole number that is written, from 0 on; `5.0` is one and `1.000` is not."""
    if text.endswith("dozen"):
        count = parse_single_number(text.removesuffix("dozen").replace("a ", "1 "))
        return None if count is None else int(count) * 12
    if "." in text and not re.fullmatch(r"\d+\.0", text):
        return None
    number: Decimal | None = parse_single_number(text)
    return int(number) if number is not None and number >= 0 else None


def _strip_denied(sentence: str) -> str:
    """The sentence without the numbers that it denies."""
    pieces, end = [], 0
    for match in _DENIED.finditer(sentence):
        if match.start() < end:
            continue
        pieces.append(sentence[end : match.start()])
        denied_number = _NUMBER.match(sentence, match.end())
        end = denied_number.end() if denied_number else match.end()
    return " ".join([*pieces, sentence[end:]])


def _find_without_number(sentences: Sequence[str]) -> int | None:
    times = {
        _TIMES[match[0].lower()]
        for sentence in sentences
        for match in _TIMES_WORD.finditer(sentence)
    }
    if len(times) == 1:
        return times.pop()
    return 0 if not times and sentences and _NONE.search(sentences[0]) else None


def _conclude(sentence: str, numbers: Sequence[StatedNumber]) -> Iterator[int | None]:
    """Yield the number that a sentence concludes with; None where its conclusion has several."""
    starts = [match.end() for match in _CONCLUSION.finditer(sentence)]
    if sentence.count("=") == 1:
        starts.append(sentence.index("=") + 1)
    if not starts:
        return
    start = max(starts)
    values = {number.value for number in numbers if number.start >= start}
    if values:
        yield values.pop() if len(values) == 1 else None


def _total(sentence: str, numbers: Sequence[StatedNumber]) -> Iterator[int | None]:
    """Yield the number of the clause that speaks of a total."""
    match = _TOTAL.search(sentence)
    if match is None:
        return
    start = max((m.end() for m in _MAIN_CLAUSE_END.finditer(sentence, 0, match.start())), default=0)
    stops = [m.start() for m in _MAIN_CLAUSE_END.finditer(sentence, match.end())]
    for end in (*stops, len(sentence)):
        values = {number.value for number in numbers if start <= number.start < end}
        if values:
            yield values.pop() if len(values) == 1 else None
            return


def _find_sum(sentences: Sequence[str], numbers: Sequence[Sequence[StatedNumber]]) -> int | None:
    """The first number, where all others come after it as its parts."""
    index = next(place for place, line in enumerate(numbers) if line)
    sentence, (first, *others) = sentences[index], numbers[index]
    end = _MAIN_CLAUSE_END.search(sentence, first.end)
    clause_end = end.start() if end else len(sentence)
    parts = [*others, *(number for line in numbers[index + 1 :] for number in line)]
    if first.value is None or any(part.start < clause_end for part in others):
        return None
    if any(_CONTRAST.search(text) or _IS_USUAL.search(text) for text in sentences):
        return None
    values = [part.value for part in parts]
    if None in values:
        return None
    is_sum = sum(value for value in values if value is not None) == first.value
    is_colon = end is not None and end[0] in ":;" and len(parts) == len(others)
    return first.value if is_sum or (is_colon and all(part.is_one for part in parts)) else None
