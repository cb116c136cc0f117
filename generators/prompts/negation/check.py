"""Checks, by rule, that a question is the negation of another, whoever wrote it.

A negation keeps the words of its question and adds one thing: a prefix ("Is it false that"), "no"
in the place of an article or before what there is, or "not" before the predicate. After the prefix
the auxiliary moves, and one phrase may stand elsewhere. A reason begins with the broken rule.
"""

from collections.abc import Mapping
from typing import NamedTuple

from generators.prompts.negation.in_place import read_in_place
from generators.prompts.negation.negation_grammar import NegationWay, quote
from generators.prompts.negation.prefixes import find_statement_problem, strip_prefix
from generators.prompts.negation.question_words import parse_original, split_words
from generators.prompts.negation.questions import NotNegatable

RULES: Mapping[str, str] = {
    "one question": "It is one question, and nothing else.",
    "a negation": "It adds a negation to the question, and that negates all that is asked.",
    "one negation": "It adds no second negation, and takes none away.",
    "words kept": "It keeps every word and number of the question.",
    "nothing added": "It adds nothing but the negation.",
    "case kept": "It keeps capitals and small letters, but for the first letter.",
    "order kept": 'It keeps the order of words; only "in the image" may stand at the other end.',
}
"""The rules, by the names that reasons begin with."""
_QUOTES = "\"'“”‘’` \n"


class NegationReading(NamedTuple):
    """The way in which a question was negated, or the reason why it was not."""

    way: NegationWay | None
    reason: str | None


def check_negation(question: str, negated: str) -> str | None:
    """The rule that a negation breaks, and how; None where it is right.

    >>> check_negation("Is the sky blue?", "Is it false that the sky is blue?")
    >>> check_negation("Is the sky blue?", "Is it false that the sky is red?")
    "words kept: it lacks 'blue'."
    """
    return read_negation(question, negated).reason


def read_negation(question: str, negated: str) -> NegationReading:
    """Find the way in which a question was negated, or the rule that is broken and how."""
    negated, original = negated.strip(_QUOTES), parse_original(question.strip())
    if not original.words.lower_case:
        return NegationReading(way=None, reason="a negation: the question has no words.")
    if _is_quotation(question, negated):
        return NegationReading(way="quoted", reason=None)
    marks = negated.count("?")
    if not 0 < marks <= max(1, question.count("?")):
        count = "is more than one" if marks else "has no question mark"
        return NegationReading(way=None, reason=f"one question: it {count}.")
    after = split_words(negated)
    if original.words.lower_case == after.lower_case:
        return NegationReading(way=None, reason="a negation: it is the question itself.")
    stated = strip_prefix(original, negated)
    if stated is None:
        way, reason = read_in_place(original, after)
        return NegationReading(way=way, reason=reason)
    problem = (
        find_statement_problem(original, stated)
        if stated.strip(" ?")
        else ("words kept: nothing follows the prefix.")
    )
    return NegationReading(way=None if problem else "prefix", reason=problem)


def _is_quotation(question: str, negated: str) -> bool:
    """True if a text asks whether "no" is the right answer to a question."""
    try:
        return quote(question).question.strip(_QUOTES) == negated
    except NotNegatable:
        return False
