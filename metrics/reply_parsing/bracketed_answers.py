r"""A judge's answer, read from the curly brackets of its reply.

The rules, each for its reason:

- What stands in brackets is the answer; the text around it is not read, so that "I count 5
  stripes, not 4: {5}" is 5. A reply begins after its thinking (`<think>…</think>`).
- Brackets that decide nothing are no answer: empty ones, `{5 or 6}`, `{about 5}`, `{C5}`, a
  choice or list of brackets ("{Yes} or {No}", "{1}, {2}, {3}"), and examples ("e.g., {9}"),
  which repeat the question's own instruction.
- Brackets that do decide must all say the same. `{4} … wait, {5}` is unparsed: none of
  them may be chosen. So is `{5.5}`, since no count is 5.5.
- Brackets may hold more than the answer, if it is clear: `{5 stripes}`, `{"answer": 5}`,
  `{five (5)}`, `{Yes, they are equal}`. A count is the only number inside; Yes or No stands
  alone between marks (`{no difference}` may well mean Yes). `{1,000}` is a thousand; `{-5}` is
  an answer, and wrong.
- A name is the right one if it is among those that are accepted, whatever its case, accents and
  marks, with or without "flag of", "illusion" and the like; no model judges it. `{Xiangqi
  (Chinese chess)}` is one game twice. `{Chess or Shogi}` and `{Samoa (American)}` leave open
  which is meant and are no answer; `{Shogi or checkers}` is a wrong one, whichever is.
- Full-width signs and LaTeX are seen through: `｛５｝`, `$\{5\}$`, `\boxed{\text{Yes}}`; braces
  that belong to typesetting (`\frac{10}{2}`, `x^{2}`) are no answer brackets.
- A refusal declines to help, in a reply without an answer. "I cannot tell from this picture"
  is not one: it saw the question, and gave no answer to it.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Literal, NamedTuple

from metrics.reply_parsing.reply_text import is_refusal, strip_thinking
from metrics.reply_parsing.written_names import match_name
from metrics.reply_parsing.written_numbers import parse_single_number

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
