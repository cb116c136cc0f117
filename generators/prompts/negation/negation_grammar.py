"""The negation of a yes/no question by rule, in the two ways of the paper's prompt (Figure 3).

A third way, a quotation, is right for every question, and no part of the prompt.
"""

from typing import Literal, NamedTuple, TypeAlias

from generators.prompts.negation.clauses import Clause, parse_clause
from generators.prompts.negation.lexicon import (
    ABSOLUTE,
    ARTICLES,
    BE,
    JOINS,
    NEGATIONS,
    QUESTION_WORDS,
    is_number,
)
from generators.prompts.negation.open_words import inflect_third_person, is_adverb, is_inflected
from generators.prompts.negation.questions import (
    NotNegatable,
    ParsedQuestion,
    normalise_word,
    parse_yes_no_question,
)

NegationWay: TypeAlias = Literal["prefix", "no", "not", "quoted"]
PREFIX = "Is it false that"
QUOTED = 'Is "no" the right answer to the question "{question}"?'
_QUANTITIES = frozenset(
    ["lot", "few", "little", "couple", "single", "number", "bit", "dozen", "hundred", "thousand",
     "total", "pair", "group", "variety", "large", "great", "good", "whole"]
)  # fmt: skip
"""Words that after "a" belong to a number, whose negation with "no" would be another."""


class Negation(NamedTuple):
    """A negated question, and how it was negated."""

    question: str
    way: NegationWay
    """prefix for "Is it false that", no for an article that became "no", not for "not" added,
    quoted for a question about the right answer to the question."""


def negate(text: str) -> Negation:
    """The negation of a yes/no question, with prefix or no.

    Raises `generators.prompts.negation.questions.NotNegatable`.

    >>> negate("Is there a dog in the image?").question
    'Is there no dog in the image?'
    >>> negate("Does the man wear a hat?").question
    'Is it false that the man wears a hat?'
    """
    question = parse_yes_no_question(text)
    _require_one_statement(question)
    _require_no_condition(question.after)
    if _is_simple(question):
        words = [
            *question.intro,
            question.auxiliary_text,
            question.words[0],
            "no",
            *question.words[2:],
        ]
        return Negation(question=f"{question.before}{' '.join(words)}?{question.after}", way="no")
    stated = write_statement(question, parse_clause(question))
    return Negation(question=f"{question.before}{PREFIX} {stated}?{question.after}", way="prefix")


def quote(text: str) -> Negation:
    """The negation that asks whether "no" is the right answer. Raises `NotNegatable`.

    >>> quote("Is the town square? Answer yes or no.").question
    'Is "no" the right answer to the question "Is the town square?"? Answer yes or no.'
    """
    try:
        question = parse_yes_no_question(text)
    except NotNegatable:
        core, mark, after = text.strip().partition("?")
        first = normalise_word(core.split()[0]) if core.strip() else ""
        if not mark or "?" in after or not first or first in QUESTION_WORDS:
            raise
        before = ""
    else:
        before, after = question.before, question.after
        core = " ".join([*question.intro, question.auxiliary_text, *question.words])
    _require_no_condition(after)
    return Negation(question=f"{before}{QUOTED.format(question=f'{core}?')}{after}", way="quoted")


def write_statement(question: ParsedQuestion, clause: Clause) -> str:
    """Turn a question into the statement that it asks about, without a full stop."""
    predicate, auxiliary = list(clause.predicate), [question.auxiliary]
    if question.auxiliary in ("do", "does") and normalise_word(predicate[0]) not in NEGATIONS:
        auxiliary = []
        if question.auxiliary == "does":
            place = find_verb([normalise_word(word) for word in predicate])
            if is_inflected(normalise_word(predicate[place])):
                raise NotNegatable(f"After {question.auxiliary_text} comes {predicate[place]!r}.")
            predicate[place] = inflect_third_person(predicate[place])
    intro = list(question.intro)
    if intro:
        intro[0] = intro[0][:1].lower() + intro[0][1:]
    return " ".join([*intro, *clause.subject, *auxiliary, *predicate])


def find_verb(predicate: list[str]) -> int:
    """The verb's place in a predicate in small letters: after its adverbs."""
    places = (place for place, word in enumerate(predicate) if not is_adverb(word))
    return next(places, 0)


def _require_one_statement(question: ParsedQuestion) -> None:
    """Raise `NotNegatable` for a request, and for a question that asks another one within it."""
    words = [normalise_word(word) for word in question.words]
    if "if" in map(normalise_word, question.intro):
        raise NotNegatable("It begins with a condition.")
    is_request = question.auxiliary in ("could", "would", "will") and words[:1] == ["you"]
    if is_request or "please" in words:
        raise NotNegatable("It asks for a favour, and not whether something is so.")
    if words[:1] in (["i"], ["you"], ["we"]) and {"if", "whether"}.intersection(words):
        raise NotNegatable("It asks another question within it.")
    for place, word in enumerate(words[:-1]):
        if word in JOINS and QUESTION_WORDS.intersection(words[place + 1 : place + 5]):
            raise NotNegatable("It asks another question after its first.")


def _require_no_condition(after: str) -> None:
    """Raise `NotNegatable` where what follows a question depends on its answer."""
    if "if" in map(normalise_word, after.split()):
        raise NotNegatable("What follows it depends on the answer.")


def _is_simple(question: ParsedQuestion) -> bool:
    """True if a question asks for one thing's presence, and has a single article to change."""
    words = question.words
    if question.auxiliary not in BE or len(words) < 3 or words[0] != "there":
        return False
    if words[1] not in ARTICLES or words[2] in _QUANTITIES or is_number(words[2]):
        return False
    rest = {normalise_word(word) for word in words[2:]}
    return not rest & (ARTICLES | NEGATIONS | ABSOLUTE) and "or" not in rest and "and" not in rest
