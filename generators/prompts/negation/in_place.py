"""Negations in place: "no" for an article or before a noun, or "not" before the predicate."""

from collections.abc import Sequence

from generators.prompts.negation.clauses import parse_clause
from generators.prompts.negation.lexicon import (
    ABSOLUTE,
    ARTICLES,
    BE,
    DETERMINERS,
    NEGATIONS,
    PREPOSITIONS,
    QUANTIFIERS,
    is_number,
)
from generators.prompts.negation.negation_grammar import NegationWay
from generators.prompts.negation.prefixes import describe_difference
from generators.prompts.negation.question_words import (
    OriginalQuestion,
    QuestionWords,
    count_differences,
    find_recased_word,
    split_words,
)
from generators.prompts.negation.questions import NotNegatable, normalise_word

_REPLACED = ARTICLES | {"any", "some"}
_REACH = 3
"""Words at most between the beginning of a predicate and an article that "no" can stand for."""


def read_in_place(
    original: OriginalQuestion, after: QuestionWords
) -> tuple[NegationWay | None, str | None]:
    """Find the way in which a question was negated without a prefix, or what is wrong with it."""
    before = original.words.lower_case
    index = next(
        (
            index
            for index, pair in enumerate(zip(before, after.lower_case, strict=False))
            if len(set(pair)) > 1
        ),
        min(len(before), len(after.lower_case)),
    )
    word = after.lower_case[index] if index < len(after.lower_case) else ""
    if word.endswith("n't"):
        return None, f"a negation: {word!r} asks for agreement, and negates nothing."
    replaces = word == "no" and before[index : index + 1] and before[index] in _REPLACED
    rest = before[index + 1 :] if replaces else before[index:]
    if word not in ("no", "not") or rest != after.lower_case[index + 1 :]:
        return None, _describe_change(before, after.lower_case)
    if (other := find_recased_word(original, after.written)) is not None:
        return None, f"case kept: it writes {other!r}, which is no word of the question."
    problem = _find_misplacement(original, after.lower_case, index, bool(replaces))
    return (None, problem) if problem else ("no" if word == "no" else "not", None)


def _describe_change(before: Sequence[str], after: Sequence[str]) -> str:
    lacks, adds = count_differences(before, after)
    negations = [word for word in adds.elements() if word in NEGATIONS or word.endswith("n't")]
    if not negations:
        return describe_difference(lacks, adds) or "a negation: it adds none."
    if len(negations) > 1:
        return f"one negation: it says {' and '.join(map(repr, negations))}."
    del adds[negations[0]]
    for word in _REPLACED:
        lacks.pop(word, None)
    return describe_difference(lacks, adds) or "order kept: its words stand in another order."


def _find_misplacement(
    original: OriginalQuestion, after: Sequence[str], place: int, replaces: bool
) -> str | None:
    """The reason why a negation does not negate all that is asked; None where it does."""
    if original.question is None:
        return _say_unclear(after[place])
    if NEGATIONS.intersection(map(normalise_word, original.question.words)):
        return "one negation: the question has one, and only the prefix negates that."
    try:
        subject = split_words(" ".join(parse_clause(original.question).subject)).lower_case
    except NotNegatable:
        return _say_unclear(after[place])
    if _is_quantified(subject):
        return f"a negation: of {' '.join(subject)!r} only the prefix negates what is asked."
    if after[place] == "no" and ABSOLUTE.intersection(after[place:]):
        return _say_not_all("no")
    intro = split_words(" ".join(original.question.intro)).lower_case
    start = original.start + len(intro) + 1 + len(subject)
    if after[place] == "not":
        is_valid = place == start and subject != ["there"]
    elif replaces and subject != ["there"]:
        is_valid = _is_reached(after, start, place)
    else:
        is_valid = _may_begin(original.auxiliary, subject, start, place) and _is_free(after, place)
    return None if is_valid else _say_not_all(after[place])


def _may_begin(auxiliary: str, subject: Sequence[str], start: int, place: int) -> bool:
    """True if "no" stands before what there is, or before what a verb is about."""
    if subject == ["there"]:
        return place == start
    return place == start + 1 or (place == start and auxiliary in BE)


def _say_unclear(word: str) -> str:
    return f"a negation: whether {word!r} negates all that is asked cannot be told."


def _say_not_all(word: str) -> str:
    return f"a negation: where {word!r} stands, it does not negate all that is asked."


def _is_free(after: Sequence[str], place: int) -> bool:
    """True if a noun can follow "no" here: no number or article does."""
    following = after[place + 1 : place + 2]
    return bool(following) and not (is_number(following[0]) or following[0] in DETERMINERS)


def _is_quantified(subject: Sequence[str]) -> bool:
    """True if a subject is some of several, or all: "not" then says less or more than it should."""
    words = set(subject)
    return bool(words & (ABSOLUTE | QUANTIFIERS | ARTICLES)) or is_number(subject[0])


def _is_reached(after: Sequence[str], start: int, place: int) -> bool:
    """True if an article belongs to what the predicate itself says."""
    between = after[start:place]
    if place < start or len(between) > _REACH or ARTICLES.intersection(between):
        return False
    return not PREPOSITIONS.intersection(between[:-1]) and (
        not between or between[-1] not in PREPOSITIONS or len(between) <= 2
    )
