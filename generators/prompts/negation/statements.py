"""The statements that a yes/no question asks about, as lists of words in their right orders.

A statement has the question's words in their order, but for the auxiliary, which follows the
subject, or gives its ending to the verb ("does … wear", "wears"). A phrase before the question, or
one at its end that says where to look ("in the image"), may change places with the other end.
"""

from collections.abc import Iterator, Sequence

from generators.prompts.negation.clauses import find_subject_ends, is_scene_phrase
from generators.prompts.negation.lexicon import (
    DETERMINERS,
    DO,
    PREPOSITIONS,
)
from generators.prompts.negation.negation_grammar import find_verb
from generators.prompts.negation.open_words import inflect_third_person, list_past_forms
from generators.prompts.negation.question_words import split_words
from generators.prompts.negation.questions import NotNegatable, ParsedQuestion

OPTIONAL = frozenset(["any", "some", "there"])
"""Words that a statement may leave out or say otherwise: "there are dogs" for "are there any
dogs"."""
_MOST_WORDS_MOVED = 4


def is_statement(question: ParsedQuestion, words: Sequence[str]) -> bool:
    """True if words in small letters state what a question asks about, in a right order."""
    before, after = split_words(question.before).lower_case, split_words(question.after).lower_case
    end = len(words) - len(after)
    if list(words[: len(before)]) != before or list(words[end:]) != after:
        return False
    stated = _drop_optional(words[len(before) : end])
    intro = split_words(" ".join(question.intro)).lower_case
    return any(
        stated in (_drop_optional([*intro, *core]), _drop_optional([*core, *intro]))
        for core in _list_cores(question)
    )


def _drop_optional(words: Sequence[str]) -> list[str]:
    return [word for word in words if word not in OPTIONAL]


def _list_cores(question: ParsedQuestion) -> Iterator[list[str]]:
    """The statements of a question without what stands before it."""
    for start in (len(question.words), *_find_scene_starts(question.words)):
        rest, moved = (
            question.words[:start],
            split_words(" ".join(question.words[start:])).lower_case,
        )
        for subject_length in _find_ends(question, start):
            subject, predicate = (
                split_words(" ".join(part)).lower_case
                for part in (rest[:subject_length], rest[subject_length:])
            )
            for stated in _add_auxiliary(question.auxiliary, predicate):
                yield [*moved, *subject, *stated]


def _find_scene_starts(words: Sequence[str]) -> Iterator[int]:
    """The possible starts of a last phrase that says where to look."""
    for start in range(max(1, len(words) - _MOST_WORDS_MOVED), len(words)):
        if is_scene_phrase(words[start:]):
            yield start


def _find_ends(question: ParsedQuestion, length: int) -> list[int]:
    """The numbers of words after which a subject may end: as read, or without a reading, anywhere
    but after a preposition or a determiner."""
    low = [word.lower() for word in question.words[:length]]
    if low and low[0] == "there":
        return [1, *(place for place in range(2, length) if low[place] in PREPOSITIONS)]
    try:
        subject_lengths = find_subject_ends(question)
    except NotNegatable:
        subject_lengths = []
    return [end for end in subject_lengths if end <= length] or [
        place for place in range(1, length) if low[place - 1] not in PREPOSITIONS | DETERMINERS
    ]


def _add_auxiliary(auxiliary: str, predicate: list[str]) -> Iterator[list[str]]:
    """A predicate after its auxiliary, or with the ending that a form of do has."""
    yield [auxiliary, *predicate]
    if auxiliary not in DO or not predicate:
        return
    place = find_verb(predicate)
    verb = predicate[place]
    forms = {"do": [verb], "does": [inflect_third_person(verb)]}.get(auxiliary) or list_past_forms(
        verb
    )
    for form in forms:
        yield [*predicate[:place], form, *predicate[place + 1 :]]
