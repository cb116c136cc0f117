"""The negation of a yes/no question by rule, in the two ways of the paper's prompt (Figure 3)."""

from typing import Literal, NamedTuple, TypeAlias

from generators.prompts.negation.clauses import Clause, clause_of
from generators.prompts.negation.lexicon import (
    ARTICLES,
    BE,
    NEGATIONS,
    is_adverb,
    third_person,
)
from generators.prompts.negation.questions import Question, plain, question_in

Way: TypeAlias = Literal["prefix", "no", "not"]
PREFIX = "Is it false that"
_QUANTITIES = frozenset(
    ["lot", "few", "little", "couple", "single", "number", "bit", "dozen", "hundred", "thousand",
     "total", "pair", "group", "variety", "large", "great", "good", "whole"]
)  # fmt: skip
"""After "a" they belong to a number, of which "no" would be another one's negation."""


class Negation(NamedTuple):
    """A negated question, and how it was negated."""

    question: str
    way: Way
    """prefix for "Is it false that", no for an article that became "no", not for "not" added."""


def negate(text: str) -> Negation:
    """The negation of a yes/no question, with prefix or no.

    Raises `generators.prompts.negation.questions.NotUnderstood`.

    >>> negate("Is there a dog in the image?").question
    'Is there no dog in the image?'
    >>> negate("Does the man wear a hat?").question
    'Is it false that the man wears a hat?'
    """
    question = question_in(text)
    if _is_simple(question):
        words = [*question.intro, question.first, question.words[0], "no", *question.words[2:]]
        return Negation(f"{question.before}{' '.join(words)}?{question.after}", "no")
    stated = statement(question, clause_of(question))
    return Negation(f"{question.before}{PREFIX} {stated}?{question.after}", "prefix")


def statement(question: Question, clause: Clause) -> str:
    """What a question asks about, as a statement without a full stop."""
    predicate, auxiliary = list(clause.predicate), [question.auxiliary]
    if question.auxiliary in ("do", "does") and plain(predicate[0]) not in NEGATIONS:
        auxiliary = []
        if question.auxiliary == "does":
            at = next(at for at, word in enumerate(predicate) if not is_adverb(plain(word)))
            predicate[at] = third_person(predicate[at])
    intro = list(question.intro)
    if intro:
        intro[0] = intro[0][:1].lower() + intro[0][1:]
    return " ".join([*intro, *clause.subject, *auxiliary, *predicate])


def _is_simple(question: Question) -> bool:
    """Whether a question asks if there is one thing, and has a single article to change."""
    words = question.words
    if question.auxiliary not in BE or len(words) < 3 or words[0] != "there":
        return False
    if words[1] not in ARTICLES or words[2] in _QUANTITIES:
        return False
    rest = {plain(word) for word in words[2:]}
    return not rest & ARTICLES and not rest & NEGATIONS and "or" not in rest and "and" not in rest
