"""Reader and scorer of Counterfactory's VLMBias, in one file for other harnesses.

Made from `metrics/reply_parsing` by `python -m tests.integrations.scorer_file`: change it there.
"""

import math
import re
import unicodedata
from collections.abc import Callable, Iterator, Mapping, Sequence
from decimal import Decimal
from functools import lru_cache, partial
from itertools import groupby
from typing import Any, Literal, NamedTuple

# Replies of judges: their text after the thinking, and refusals in words.

_THOUGHT = re.compile(r"\A.*</(?:think|thinking|reasoning)>", re.DOTALL | re.IGNORECASE)
_THOUGHT_CUT_OFF = re.compile(r"<(?:think|thinking|reasoning)>.*", re.DOTALL | re.IGNORECASE)
_REFUSAL = re.compile(
    r"(?:\b(?:I|we)\b[^.!?\n]{0,40}?\s|\bsorry,?\s+(?:but\s+)?|\A\W*)"
    r"(?:can't|cannot|can not|won't|will not|(?:\w+ )?unable to|not able to)\s+(?:\w+\s+)?"
    r"(?:help(?!\s+but)|assist|comply|fulfil|participate|engage|accommodate|discuss|do that"
    r"|provide (?:assistance|help|support)|(?:process|complete) (?:this|that|your) request"
    r"|identify (?:people|individuals|persons?|anyone))"
    r"|\bI (?:must |have to |will )?(?:respectfully )?(?:decline|refuse)\b"
    r"|\b(?:against|violates?) (?:my|our|the|\w+'s) (?:\w+ )?(?:guidelines|polic(?:y|ies)|terms)\b",
    re.IGNORECASE,
)


def strip_thinking(response: str) -> str:
    """The reply after its thinking (`<think>…</think>`); nothing where that was cut off."""
    return _THOUGHT_CUT_OFF.sub("", _THOUGHT.sub("", response))


def is_refusal(reply: str) -> bool:
    """True where the words decline to help. "I cannot tell from this picture" is no refusal."""
    return _REFUSAL.search(reply) is not None


# Whole numbers as people write them: 5, 5.0, 1,000, five, one hundred and one.

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


# Names as people write them: Flag of the United States, American flag, U.S.A.
#
# Two names are the same if their letters are, whatever their case, accents and marks, without the
# words that only say what kind of thing is named ("flag of the", "19x19", "illusion").

_KIND = frozenset(
    (
        *("a", "an", "the", "this", "is", "answer", "name"),
        *("country", "national", "flag"),
        *("board", "game", "puzzle", "set", "standard", "initial", "starting", "position"),
        *("optical", "illusion"),
    )
)
BETWEEN_NAMES = re.compile(
    r"[()\[\],;:=/|\n]|\s[-–—]\s|\b(?:or|and|aka|a\.k\.a\.|also|known as|called)(?!\w)",
    re.IGNORECASE,
)
_SIZE = re.compile(r"\d+(?:x\d+)?")
# What stands within a word, not between two: U.S.A., Greece's.
_WITHIN_A_WORD = re.compile(r"['’ʼ]s\b|['’ʼ.]")
_WORD_IN_WRITTEN_NAMES = re.compile(r"[^\W_]+")


@lru_cache(maxsize=4096)
def normalize_name(name: str) -> str:
    """The letters by which `name` is compared, in lower case; empty if it has none.

    >>> normalize_name("The Flag of the Cocos (Keeling) Islands")
    'cocos keeling islands'
    >>> normalize_name("Müller–Lyer illusion")
    'muller lyer'
    """
    letters = unicodedata.normalize("NFKD", unicodedata.normalize("NFKD", name).casefold())
    bare = "".join(letter for letter in letters if not unicodedata.combining(letter))
    words = [
        word
        for word in _WORD_IN_WRITTEN_NAMES.findall(_WITHIN_A_WORD.sub("", bare))
        if word not in _KIND and not _SIZE.fullmatch(word)
    ]
    start = next((index for index, word in enumerate(words) if word != "of"), len(words))
    while len(words) > start and words[-1] == "of":
        words.pop()
    return " ".join(words[start:])


def match_name(phrase: str, accepted: Sequence[str]) -> str | None:
    """The first of `accepted` if `phrase` means one of them, else the name that it is, normalized.

    None where it is no name, or leaves open which is meant: an accepted name beside anything
    else (`Chess or Shogi`, `Samoa (American)`). An accepted name beside another one is the
    same thing said twice (`Xiangqi (Chinese chess)`).

    >>> match_name("Weiqi, also known as Go", ["Go", "Weiqi"])
    'Go'
    >>> match_name("Checkers", ["Go", "Weiqi"])
    'checkers'
    """
    accepted_names = {normalize_name(name) for name in accepted}
    normalized = normalize_name(phrase)
    if normalized in accepted_names:
        return accepted[0]
    parts = {normalize_name(part) for part in BETWEEN_NAMES.split(phrase)} - {""}
    if parts and parts <= accepted_names:
        return accepted[0]
    return None if parts & accepted_names else normalized or None


# A judge's answer, read from the curly brackets of its reply.
#
# The rules, each for its reason:
#
# - What stands in brackets is the answer; the text around it is not read, so that "I count 5
#   stripes, not 4: {5}" is 5. A reply begins after its thinking (`<think>…</think>`).
# - Brackets that decide nothing are no answer: empty ones, `{5 or 6}`, `{about 5}`, `{C5}`, a
#   choice or list of brackets ("{Yes} or {No}", "{1}, {2}, {3}"), and examples ("e.g., {9}"),
#   which repeat the question's own instruction.
# - Brackets that do decide must all say the same. `{4} … wait, {5}` is unparsed: none of
#   them may be chosen. So is `{5.5}`, since no count is 5.5.
# - Brackets may hold more than the answer, if it is clear: `{5 stripes}`, `{"answer": 5}`,
#   `{five (5)}`, `{Yes, they are equal}`. A count is the only number inside; Yes or No stands
#   alone between marks (`{no difference}` may well mean Yes). `{1,000}` is a thousand; `{-5}` is
#   an answer, and wrong.
# - A name is the right one if it is among those that are accepted, whatever its case, accents and
#   marks, with or without "flag of", "illusion" and the like; no model judges it. `{Xiangqi
#   (Chinese chess)}` is one game twice. `{Chess or Shogi}` and `{Samoa (American)}` leave open
#   which is meant and are no answer; `{Shogi or checkers}` is a wrong one, whichever is.
# - Full-width signs and LaTeX are seen through: `｛５｝`, `$\{5\}$`, `\boxed{\text{Yes}}`; braces
#   that belong to typesetting (`\frac{10}{2}`, `x^{2}`) are no answer brackets.
# - A refusal declines to help, in a reply without an answer. "I cannot tell from this picture"
#   is not one: it saw the question, and gave no answer to it.

Outcome = Literal["answered", "unparsed", "refused", "failed"]


class ParsedAnswer(NamedTuple):
    """An answer in its normal form (a whole number, Yes or No, a name), or why there is none.

    `failed` means that there was no response; parsing never gives it.
    """

    answer: str | None
    outcome: Outcome


def read_count(response: str) -> ParsedAnswer:
    """The whole number that `response` gives in curly brackets.

    >>> read_count("I count 5 stripes, not 4: **{five}**").answer
    '5'
    """
    return read_brackets(response, _count)


def read_yes_no(response: str) -> ParsedAnswer:
    """The Yes or No that `response` gives in curly brackets.

    >>> read_yes_no("They differ, so {no}.").answer
    'No'
    """
    return read_brackets(response, _parse_yes_no)


def has_brackets(response: str) -> bool:
    """Whether anything stands in curly brackets that is no example of the prompt's."""
    return _BRACKETS.search(_strip_examples(strip_typesetting(response))) is not None


def read_name(response: str, accepted: Sequence[str]) -> ParsedAnswer:
    """The name that `response` gives in curly brackets: the first of `accepted` for any of them.

    Another name is an answer as well, given plainly: in lower case, without accents and marks.

    >>> read_name("It is {the flag of Cabo Verde}.", ["Flag of Cape Verde", "Cabo Verde"]).answer
    'Flag of Cape Verde'
    """
    return read_brackets(response, partial(match_name, accepted=accepted))


def score_answer(parsed: ParsedAnswer, ground_truth: str) -> float | None:
    """1.0 for the right answer, 0.0 for another or an unparsed one, None where none was given."""
    if parsed.outcome in ("refused", "failed"):
        return None
    return float(parsed.answer == ground_truth)


def read_brackets(response: str, read: Callable[[str], str | None]) -> ParsedAnswer:
    """The answer that `read` finds in the curly brackets of `response`, if all say the same."""
    reply = strip_typesetting(response)
    answers = {answer for content in _brackets(reply) if (answer := read(content)) is not None}
    if not answers:
        return ParsedAnswer(None, "refused" if is_refusal(reply) else "unparsed")
    answer = answers.pop()
    if answers or answer == _NOT_WHOLE:
        return ParsedAnswer(None, "unparsed")
    return ParsedAnswer(answer, "answered")


_NOT_WHOLE = "not a whole number"


def _count(content: str) -> str | None:
    number = parse_single_number(content)
    if number is None:
        return None
    return str(int(number)) if number == int(number) else _NOT_WHOLE


_YES_NO = {"yes": "Yes", "no": "No"}
_HEDGE = re.compile(r"(?:but|except|almost|nearly|not (?:exactly|quite|entirely))\b")


def _parse_yes_no(content: str) -> str | None:
    marked = re.split(r"[^\w\s]+", content.replace("_", " ").lower())
    clauses = [clause.strip() for clause in marked]
    answers = {_YES_NO[clause] for clause in clauses if clause in _YES_NO}
    hedged = any(_HEDGE.match(clause) for clause in clauses)
    return answers.pop() if len(answers) == 1 and not hedged else None


_TO_ASCII = {code: code - 0xFEE0 for code in range(0xFF01, 0xFF5F)} | {
    ord("﹛"): "{",
    ord("﹜"): "}",
    ord("’"): "'",
    ord("\u3000"): " ",
}

# A printed brace must not pass for the argument of the command before it (`\quad\{5\}`).
# A run of backslashes is looked at from its first one alone.
_PRINTED_BRACE = re.compile(r"(?:\\(?:left|right)\s*|(?<!\\))\\+([{}])")
_PRINTED = {"{": "\ue000", "}": "\ue001"}
_FROM_PRINTED = {ord(printed): brace for brace, printed in _PRINTED.items()}
_FONT = re.compile(r"\\(?:text\w*|math\w+|emph|underline|bm|boldsymbol|mbox)\s*\{([^{}]*)\}")
_DEEPEST_FONT = 20
"""The most nested font commands that are removed."""
_TYPESETTING = re.compile(
    r"(?:\\(?:[dt]?frac|[dt]?binom|sqrt|begin|end|[hv]space|color|tag)|(?<=[^\W_])[\^_])"
    r"(?:\{[^{}]*\})+|\\[,;:! ]"
)


def strip_typesetting(response: str) -> str:
    """The reply without thinking, full-width signs and typesetting."""
    text = strip_thinking(response).translate(_TO_ASCII)
    text = _PRINTED_BRACE.sub(lambda match: _PRINTED[match[1]], text)
    for _ in range(_DEEPEST_FONT):
        text, fonts = _FONT.subn(r"\1", text)
        if not fonts:
            break
    return _TYPESETTING.sub(" ", text).translate(_FROM_PRINTED)


_BRACKETS = re.compile(r"\{([^{}]*)\}")
_MARKS = r"[\s*_`$\"']*"
_CHOICE = re.compile(
    rf"\{{[^{{}}]*\}}(?:{_MARKS}(?:,|/|\||or\b|,\s*or\b){_MARKS}\{{[^{{}}]*\}})+", re.IGNORECASE
)
_EXAMPLE = re.compile(
    rf"(?:\be\.\s?g\.|\beg\b|\bfor (?:example|instance)|\bsuch as)[,:]?{_MARKS}\{{[^{{}}]*\}}",
    re.IGNORECASE,
)


def _brackets(reply: str) -> Iterator[str]:
    """The contents of the innermost brackets that are neither an example nor a choice."""
    for match in _BRACKETS.finditer(_strip_examples(reply)):
        yield match[1]


def _strip_examples(reply: str) -> str:
    """The reply without examples, and with empty brackets for a choice."""
    return _EXAMPLE.sub(" ", _CHOICE.sub(_drop_undecided, reply))


def _drop_undecided(choice: re.Match[str]) -> str:
    """Drop `{5} or {6}`; keep one bracket of `{5}, {5}`, which is one answer twice.

    An example keeps one bracket too, for `_EXAMPLE` to take away with its words.
    """
    contents = {content.strip().lower() for content in _BRACKETS.findall(choice[0])}
    return f"{{{contents.pop()}}}" if len(contents) == 1 else "{}"


def read_answer(reply: str, ground_truth: str, accepted: Sequence[str] = ()) -> ParsedAnswer:
    """Read a reply to a question by what its right answer is: a name, Yes or No, or a count."""
    if accepted:
        return read_name(reply, accepted)
    return (read_yes_no if ground_truth in ("Yes", "No") else read_count)(reply)


def score_reply(
    reply: str, ground_truth: str, expected_bias: str | None = None, accepted: Sequence[str] = ()
) -> dict[str, float]:
    """Score a reply: accuracy and bias, 1 or 0; NaN for a refusal, which counts in neither."""
    parsed = read_answer(reply, ground_truth, accepted)
    score = score_answer(parsed, ground_truth)
    if score is None:
        return {"accuracy": math.nan, "bias": math.nan}
    return {"accuracy": score, "bias": float(parsed.answer == expected_bias is not None)}


def score_row(reply: str, row: Mapping[str, Any]) -> dict[str, float]:
    """Score a reply to a row of the table `questions`; NaN outside of what the report averages.

    That is Q1 and Q2 about the benchmark's pictures. Of the other rows, Q3 and the sanity check
    among them, many have the familiar answer for the right one.
    """
    if row["question_id"] not in ("Q1", "Q2") or row["image_set"] != "benchmark":
        return {"accuracy": math.nan, "bias": math.nan}
    return score_reply(reply, row["ground_truth"], row["expected_bias"], row.get("accepted") or ())


def mean_of_answered(scores: Sequence[float]) -> float:
    """Average scores; those that are NaN count in neither sum nor number, NaN without any."""
    answered = [score for score in scores if not math.isnan(score)]
    return sum(answered) / len(answered) if answered else math.nan
