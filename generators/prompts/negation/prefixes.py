"""Negations by a prefix: "Is it false that" and the question as a statement."""

import re
from collections import Counter

from generators.prompts.negation.lexicon import (
    AUXILIARIES,
    DO,
    NEGATIONS,
    QUESTION_WORDS,
)
from generators.prompts.negation.open_words import inflect_third_person, list_past_forms
from generators.prompts.negation.question_words import (
    OriginalQuestion,
    count_differences,
    find_recased_word,
    split_words,
)
from generators.prompts.negation.statements import OPTIONAL, is_statement

_PREFIX = re.compile(
    r"is it (?:false|untrue|incorrect|not (?:true|correct|the case))(?: that)?,? ", re.IGNORECASE
)


def strip_prefix(original: OriginalQuestion, negated: str) -> str | None:
    """A text without the prefix where the question begins; None where it has none there."""
    opening = original.question.before if original.question else ""
    match = _PREFIX.match(negated, len(opening))
    return f"{opening}{negated[match.end() :]}" if match and negated.startswith(opening) else None


def find_statement_problem(original: OriginalQuestion, stated: str) -> str | None:
    """The problem of a statement of a question, beginning with the rule that is broken."""
    before, after = original.words, split_words(stated)
    is_right = original.question is not None and is_statement(original.question, after.lower_case)
    lacks, adds = count_differences(before.lower_case, after.lower_case)
    if not is_right:
        _drop_optional_words(original.auxiliary, lacks, adds)
        problem = _find_second_negation(lacks, adds) or describe_difference(lacks, adds)
        if problem is not None:
            return problem
    if (word := find_recased_word(original, after.written)) is not None:
        return f"case kept: it writes {word!r}, which is no word of the question."
    if is_right:
        return None
    if after.lower_case[original.start] == original.auxiliary and _is_opening(original.auxiliary):
        return f"order kept: after the prefix it still begins with {original.auxiliary!r}."
    return "order kept: its words stand in another order."


def _is_opening(word: str) -> bool:
    """True if a word opens a question, and no statement."""
    return word in AUXILIARIES | QUESTION_WORDS or word.endswith("n't")


def describe_difference(lacks: Counter[str], adds: Counter[str]) -> str | None:
    """Name the word that is missing, or else the one that is new."""
    for word in lacks:
        return f"words kept: it lacks {word!r}."
    for word in adds:
        return f"nothing added: it adds {word!r}."
    return None


def _drop_optional_words(auxiliary: str, lacks: Counter[str], adds: Counter[str]) -> None:
    """Drop the words that a statement may say in another way."""
    if "any" in lacks:
        adds.pop("some", None)
    for word in OPTIONAL:
        lacks.pop(word, None)
    if auxiliary not in DO or auxiliary not in lacks:
        return
    del lacks[auxiliary]
    for verb in list(lacks):
        forms = {inflect_third_person(verb)} if auxiliary == "does" else list_past_forms(verb)
        for form in forms.intersection(adds) if auxiliary != "do" else ():
            del lacks[verb], adds[form]
            return


def _find_second_negation(lacks: Counter[str], adds: Counter[str]) -> str | None:
    for word in adds:
        if word in NEGATIONS or word.endswith("n't"):
            return f"one negation: beside the prefix it says {word!r}."
    for word in lacks:
        if word in NEGATIONS:
            return f"one negation: it takes {word!r} away."
    return None
