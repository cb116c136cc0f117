"""Rephrasings of yes/no questions, for fine-tuning (VHExpansion, §5.4): by a writer, or by rule.

The paper has GPT-4o rephrase each question four times and does not print how it asks. The words
here are our own; the file's name ends with their version.
"""

import re
from collections.abc import Sequence
from pathlib import Path

from generators.prompts.negation import check_negation
from generators.prompts.negation.lexicon import AUXILIARIES

VERSION = "1"
_TEXT = Path(__file__).with_name(f"rephrase-{VERSION}.txt").read_text("utf-8")
_FRAMES = (
    *("Looking at the image, {}", "Judging by what is shown, {}"),
    *("Going by the picture alone, {}", "In what you see here, {}", "According to the image, {}"),
    *("From this picture, {}", "As far as the image shows, {}", "With this image in view, {}"),
)
MAX_WORDINGS = len(_FRAMES)
"""The number of wordings by rule."""
_MARK = re.compile(r"^\s*(?:[-*•]|\(?\d+[.):]\)?)\s*")


def write_rephrasing_prompt(question: str, number: int) -> str:
    """The prompt that asks a writer for rephrasings."""
    return _TEXT.strip().replace("{number}", str(number)).replace("{question}", question)


def rephrase(question: str, number: int) -> list[str]:
    """`number` wordings by rule, `MAX_WORDINGS` at most: a phrase before that changes nothing.

    >>> rephrase("Is there a dog?", 1)
    ['Looking at the image, is there a dog?']
    """
    first, _, rest = question.partition(" ")
    # A word that is no auxiliary may be a name, whose capital stays.
    plain_question = f"{first.lower()} {rest}" if first.lower() in AUXILIARIES else question
    return [frame.format(plain_question) for frame in _FRAMES[:number]]


def parse_wordings(reply: str) -> list[str]:
    """The lines of a reply that hold something, without numbers before them."""
    lines = (_MARK.sub("", line).strip(" \"'“”`") for line in reply.splitlines())
    return [line for line in lines if line]


def find_rephrasing_problem(question: str, wordings: Sequence[str], number: int) -> str | None:
    """Find the first problem of a question's rephrasings; None where they will do.

    No rule can tell that they ask the same; it can tell that one is the question's negation, or no
    question, or stands there twice.

    >>> find_rephrasing_problem("Is there a dog?", ["Is there no dog?", "Can you see a dog?"], 2)
    'a negation: "Is there no dog?" asks the opposite.'
    """
    if len(wordings) != number:
        return f"so many: there are {len(wordings)} lines, and there have to be {number}."
    known_wordings = {_to_plain(question)}
    for wording in wordings:
        if not wording.endswith("?") or wording.count("?") > 1:
            return f'one question: "{wording}" is not one.'
        if _to_plain(wording) in known_wordings:
            return f'another wording: "{wording}" is there already.'
        if check_negation(question, wording) is None or check_negation(wording, question) is None:
            return f'a negation: "{wording}" asks the opposite.'
        known_wordings.add(_to_plain(wording))
    return None


def _to_plain(question: str) -> str:
    return " ".join(re.findall(r"\w+", question.casefold()))
