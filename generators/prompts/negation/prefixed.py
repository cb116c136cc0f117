"""Negations by a prefix: "Is it false that" and the question as a statement."""

import re
from collections import Counter
from collections.abc import Mapping, Sequence

from generators.prompts.negation.lexicon import (
    AUXILIARIES,
    DO,
    NEGATIONS,
    QUESTION_WORDS,
    past_forms,
    third_person,
)
from generators.prompts.negation.words import Original, apart, is_moved, rewritten, words_of

_PREFIX = re.compile(
    r"is it (?:false|untrue|incorrect|not (?:true|correct|the case))(?: that)?,? ", re.IGNORECASE
)
_OPTIONAL = frozenset(["any", "some", "there"])
"""What a statement may leave out: "there are dogs" for "are there any dogs"."""


def without_prefix(original: Original, negated: str) -> str | None:
    """A text without the prefix where the question begins; None where it has none there."""
    kept = original.question.before if original.question else ""
    found = _PREFIX.match(negated, len(kept))
    return f"{kept}{negated[found.end() :]}" if found and negated.startswith(kept) else None


def wrong_statement(original: Original, stated: str) -> str | None:
    """What is wrong with a statement of a question, beginning with the rule that is broken."""
    before, after = original.words, words_of(stated)
    lacks, adds = apart(before.low, after.low)
    verbs = _said_otherwise(original.auxiliary, lacks, adds)
    problem = _negated_again(lacks, adds) or differing(lacks, adds)
    if problem is not None:
        return problem
    if (word := rewritten(original, after.written)) is not None:
        return f"case kept: it writes {word!r}, which is no word of the question."
    if after.low[original.first] == original.auxiliary and _opens(original.auxiliary):
        return f"order kept: after the prefix it still begins with {original.auxiliary!r}."
    place = before.low.index(original.auxiliary, original.first)
    asked = [word for at, word in enumerate(before.low) if at != place and word not in _OPTIONAL]
    said = [verbs.get(word, word) for word in after.low if word not in _OPTIONAL]
    if not any(is_moved(asked, some) for some in _without(said, original.auxiliary)):
        return "order kept: its words stand in another order."
    return None


def _opens(word: str) -> bool:
    """Whether a word opens a question, and no statement."""
    return word in AUXILIARIES | QUESTION_WORDS or word.endswith("n't")


def differing(lacks: Counter[str], adds: Counter[str]) -> str | None:
    """Which word is missing, or else which is new."""
    for word in lacks:
        return f"words kept: it lacks {word!r}."
    for word in adds:
        return f"nothing added: it adds {word!r}."
    return None


def _said_otherwise(auxiliary: str, lacks: Counter[str], adds: Counter[str]) -> Mapping[str, str]:
    """Take off what a statement may say in another way; by its new form, a verb that has one."""
    if "any" in lacks:
        adds.pop("some", None)
    for word in _OPTIONAL:
        lacks.pop(word, None)
    if auxiliary not in DO or auxiliary not in lacks:
        return {}
    del lacks[auxiliary]
    for verb in lacks:
        forms = {third_person(verb)} if auxiliary == "does" else past_forms(verb)
        for form in forms.intersection(adds) if auxiliary != "do" else ():
            del lacks[verb], adds[form]
            return {form: verb}
    return {}


def _negated_again(lacks: Counter[str], adds: Counter[str]) -> str | None:
    for word in adds:
        if word in NEGATIONS or word.endswith("n't"):
            return f"one negation: beside the prefix it says {word!r}."
    for word in lacks:
        if word in NEGATIONS:
            return f"one negation: it takes {word!r} away."
    return None


def _without(words: Sequence[str], one: str) -> list[list[str]]:
    """The words without one of them, at each place where it stands; all where it does not."""
    places = [at for at, word in enumerate(words) if word == one]
    return [[*words[:at], *words[at + 1 :]] for at in places] or [list(words)]
