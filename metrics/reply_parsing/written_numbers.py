"""Whole numbers as people write them: 5, 5.0, 1,000, five, one hundred and one."""

import re
from collections.abc import Iterator
from decimal import Decimal
from itertools import groupby

_ONES = (
    *("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine"),
    *("ten", "eleven", "twelve", "thirteen", "fourteen"),
    *("fifteen", "sixteen", "seventeen", "eighteen", "nineteen"),
)
_TENS = ("twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety")


def _spell_below_hundred(number: int) -> str:
    if number < 20:
        return _ONES[number]
    tens, ones = divmod(number, 10)
    return _TENS[tens - 2] + (f" {_ONES[ones]}" if ones else "")


def _spell(number: int) -> str:
    hundreds, rest = divmod(number, 100)
    if not hundreds:
        return _spell_below_hundred(rest)
    return f"{_ONES[hundreds]} hundred" + (f" {_spell_below_hundred(rest)}" if rest else "")


_VALUES = {_spell(number): number for number in range(1000)} | {"hundred": 100}
NUMBER_WORDS = frozenset((*_ONES, *_TENS, "hundred"))

# With one of these beside it, a number is a bound, an estimate or a part of another number.
_NOT_EXACTLY = frozenset(
    (
        *("about", "almost", "approximately", "around", "close", "nearly", "roughly"),
        *("least", "less", "fewer", "maximum", "minimum", "more", "most", "over", "than", "under"),
        *("between", "neither", "not", "or", "up"),
        *("dozen", "half", "million", "minus", "negative", "plus", "point", "quarter", "thousand"),
    )
)

_THOUSANDS = re.compile(r"(?<![\d.,])\d{1,3}(?:,\d{3})+(?![\d,])")
# A dash parts clauses where spaces stand around it; elsewhere it is a hyphen, a range or a minus.
_BETWEEN_CLAUSES = re.compile(r"(?<=\S)\s+[-–—]\s+|[,;:=()!?\"'“”‘*_`$]+|\.(?=\s|$)")
# No count has 30 digits; a reply that loops on one digit has thousands.
_DIGITS = re.compile(r"[+\-−]?\d{1,30}(?:\.\d{1,30})?")
_WORD = re.compile(r"[^\W\d_]+")


def parse_single_number(phrase: str) -> Decimal | None:
    """The one number that `phrase` states, however often; None if it states none, or several.

    Words around it are ignored (`5 stripes`, `"answer": 5`, `five (5)`), unless they make it
    inexact (`about 5`, `5 or 6`, `at least five`). Digits are never joined: `1 000` and `5 6` are
    two numbers, `C5`, `5th`, `5+` and `5/6` none.

    >>> parse_single_number("fifty-one stars")
    Decimal('51')
    """
    clauses = _clauses(phrase.lower())
    words = [word for clause in clauses for word in clause]
    if not all(_WORD.fullmatch(word) or _DIGITS.fullmatch(word) for word in words):
        return None
    if not _NOT_EXACTLY.isdisjoint(words):
        return None
    numbers = {number for clause in clauses for number in _numbers(clause)}
    return numbers.pop() if len(numbers) == 1 else None


def _clauses(phrase: str) -> list[list[str]]:
    """The words of each clause: `fifty-one` is two words of one, `fifty, one` two clauses."""
    phrase = _THOUSANDS.sub(lambda match: match[0].replace(",", ""), phrase)
    phrase = re.sub(r"(?<=[^\W\d_])-(?=[^\W\d_])", " ", phrase)
    phrase = re.sub(r"\ban? hundred\b", "one hundred", phrase)
    phrase = re.sub(r"\bhundred and\b", "hundred", phrase)
    return [clause.split() for clause in _BETWEEN_CLAUSES.split(phrase)]


def _numbers(clause: list[str]) -> Iterator[Decimal | None]:
    """Yield the numbers of a clause; None for words that make no number, as `five six`."""
    for is_word, run in groupby(clause, key=NUMBER_WORDS.__contains__):
        if is_word:
            value = _VALUES.get(" ".join(run))
            yield None if value is None else Decimal(value)
        else:
            yield from (
                Decimal(digits.replace("−", "-")) for digits in run if _DIGITS.fullmatch(digits)
            )
