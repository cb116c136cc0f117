"""The subject and the predicate of a yes/no question.

A question is read in all ways that its words allow: a word may belong to several classes, and a
subject may end after any word. Where one reading is left, that is it; else `NotNegatable` says so,
and nothing is guessed.
"""

from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import NamedTuple

from generators.prompts.negation.lexicon import (
    AROUND,
    BE,
    COMBINING,
    COMPOUNDS,
    DEMONSTRATIVES,
    DETERMINERS,
    FITTING,
    FIXED_PLACES,
    HAVE,
    INDEFINITE,
    NAMING,
    PARTICLES,
    PICTURES,
    PLACES,
    PRONOUNS,
    SHADING_NOUNS,
    SHOWN,
    VALUES,
)
from generators.prompts.negation.marks import find_mark, is_known, mark_words
from generators.prompts.negation.open_words import (
    is_adjective,
    is_usually_verb,
    may_be_noun,
)
from generators.prompts.negation.phrases import (
    AFTER_NOUN,
    DOING,
    END_IN_PLACE,
    FREE_WORD,
    MATERIAL,
    NAMED_NOUN,
    NAMED_SOMEWHERE,
    NO_END,
    NOUN_ALONE,
    NOUN_AND_NOUN,
    NOUN_MARK,
    NOUN_OR_QUALITY,
    ONE_PICTURE,
    ONE_WORD_LEFT,
    OPEN_WORD,
    PLACE,
    QUALITY,
    SEVERAL_THAT_ACT,
    SHORT_PAST,
    SINGLE,
    TWO_NOUNS,
    UNCOUNTED,
    UNSURE_PLURAL,
    UNSURE_PREDICATE,
    VERB,
    VERB_LEFT,
    VERBAL_MARK,
    PredicateKind,
    SubjectNumber,
    compile_added,
    compile_predicate,
    compile_subject,
    compile_this_alone,
)
from generators.prompts.negation.questions import NotNegatable, ParsedQuestion, normalise_word

MAX_WORDS = 40
"""Words of a question that is read."""
_KINDS: Mapping[str, PredicateKind] = {
    **dict.fromkeys(("is", "was"), "is"),
    **dict.fromkeys(BE - {"is", "was"}, "are"),
    **dict.fromkeys(HAVE, "have"),
}
_NUMBERS: Mapping[str, SubjectNumber] = {
    **dict.fromkeys(("is", "was", "does", "has"), "singular"),
    **dict.fromkeys(("are", "were", "do"), "plural"),
}
_MOST_SCENE_WORDS = 4
_QUOTES = "\"'“‘"


class Clause(NamedTuple):
    """The two parts of what follows the auxiliary."""

    subject: tuple[str, ...]
    predicate: tuple[str, ...]


def parse_clause(question: ParsedQuestion) -> Clause:
    """The subject and the predicate of a question. Raises `NotNegatable`."""
    subject_lengths = find_subject_ends(question)
    if len(subject_lengths) == 1:
        return Clause(
            subject=question.words[: subject_lengths[0]],
            predicate=question.words[subject_lengths[0] :],
        )
    if not subject_lengths:
        raise NotNegatable("It is unclear where its subject ends: no reading of it is known.")
    ways = " or ".join(repr(" ".join(question.words[:end])) for end in subject_lengths)
    raise NotNegatable(f"Where its subject ends can be read in several ways: after {ways}?")


def find_subject_ends(question: ParsedQuestion) -> list[int]:
    """The numbers of words after which its subject may end. Raises `NotNegatable`."""
    words = question.words
    if len(words) < 2:
        raise NotNegatable("It has no predicate.")
    if len(words) > MAX_WORDS:
        raise NotNegatable(f"It is longer than {MAX_WORDS} words.")
    if _is_subject_alone(words):
        return [1]
    marked, places = mark_words(words)
    if (name_index := _find_repeated_name(words, marked, places)) is not None:
        return [name_index]
    kind, number = _KINDS.get(question.auxiliary, "do"), _NUMBERS.get(question.auxiliary, "any")
    subject_lengths = [
        word
        for word, end in enumerate(places)
        if end
        and not (NO_END.match(marked, end - 1) or (end > 1 and marked[end - 1] in "qhQ"))
        and not (kind in ("is", "are") and NAMED_NOUN.match(marked, end - 1))
        and not (end > 1 and SEVERAL_THAT_ACT.match(marked, end - 2))
        and not (
            number == "plural"
            and ONE_PICTURE.fullmatch(marked, 0, end)
            and not normalise_word(words[word - 1]).endswith("s")
        )
        and not (kind == "are" and UNCOUNTED.match(marked, end - 1))
        and compile_subject(number).fullmatch(marked, 0, end)
        and compile_predicate(kind).fullmatch(marked, end)
        and (marked[end:] != "n" or VALUES.intersection(map(normalise_word, words[:word])))
    ]
    if marked[-1] == "Z" and subject_lengths and places[subject_lengths[-1]] == len(marked) - 1:
        is_quoted_name = (
            subject_lengths[-1] > 2 and normalise_word(words[subject_lengths[-1] - 1]) in NAMING
        )
        return [] if is_quoted_name else subject_lengths[-1:]
    pairs = [(word, places[word] or 0) for word in subject_lengths]
    readings = list(_drop_lesser(words, marked, pairs))
    if len(readings) == 1 and (
        _is_doubtful(words, marked, *readings[0], kind)
        or _may_share_words(words, marked, *readings[0], kind)
    ):
        return []
    return [word for word, _ in readings]


def is_scene_phrase(words: Sequence[str]) -> bool:
    """True if words say where to look, as "in the image"."""
    first, last = normalise_word(words[0]), normalise_word(words[-1])
    is_short = 2 <= len(words) <= _MOST_SCENE_WORDS
    return is_short and first in ("in", "of", "from", "on") and last in PLACES | PICTURES


def _is_subject_alone(words: Sequence[str]) -> bool:
    """True if the first word is the whole subject, whatever follows."""
    if words[0][0] in _QUOTES:
        return False
    first = normalise_word(words[0])
    if first in DEMONSTRATIVES:
        return find_mark(words[1]) in "dspibkh"
    return first == "there" or (first in PRONOUNS and first not in INDEFINITE)


def _find_repeated_name(
    words: Sequence[str], marked: str, places: Sequence[int | None]
) -> int | None:
    """Find the name after which the subject's noun comes again, as in "the logo on this car
    Audi logo"."""
    marks_by_word = [" " if place is None else marked[place] for place in places]
    phrase_index = next(
        (mark_index for mark_index, mark in enumerate(marks_by_word) if mark in "pi"), 0
    )
    last_index = len(words) - 1
    if phrase_index < 1 or normalise_word(words[last_index]) != normalise_word(
        words[phrase_index - 1]
    ):
        return None
    name_index = last_index
    while marks_by_word[name_index - 1] == "y":
        name_index -= 1
    is_after_noun = name_index > phrase_index + 1 and NOUN_ALONE.match(
        marks_by_word[name_index - 1]
    )
    return name_index if is_after_noun and name_index < last_index else None


def _is_doubtful(
    words: Sequence[str], marked: str, word: int, end: int, kind: PredicateKind
) -> bool:
    """True if a subject may well go on, or end before: at a material, a name or a place, or where
    its last word is in no lexicon, or usually a verb."""
    is_after_this = word == 2 and marked[0] in "qhQ"
    if MATERIAL.fullmatch(marked, end) and (is_after_this or not SINGLE.fullmatch(marked, 0, end)):
        return True
    if marked[end] == "y" and AFTER_NOUN.search(marked, 0, end):
        return True
    is_pair = word > 2 and TWO_NOUNS.fullmatch(marked, end - 2, end) is not None
    if is_pair and is_scene_phrase(words[word:]):
        return True
    if word > 2 and normalise_word(words[word - 1]) in SHADING_NOUNS:
        return True
    last, before = normalise_word(words[word - 1]), normalise_word(words[word - 2])
    if word <= 2 or not words[word - 1].islower() or before in DETERMINERS or is_adjective(before):
        return False
    is_verb = is_usually_verb(last) and f"{before} {last}" not in COMPOUNDS
    return (
        not is_known(last)
        or last in ("left", "right")
        or (is_verb and (kind == "do" or bool(compile_added().match(marked, end))))
    )


def _may_share_words(
    words: Sequence[str], marked: str, word: int, end: int, kind: PredicateKind
) -> bool:
    """True if a subject may have taken words of the predicate, or left it some of its own."""
    last, following = normalise_word(words[word - 1]), normalise_word(words[word])
    before = normalise_word(words[word - 2]) if word > 1 else ""
    is_being = kind in ("is", "are")
    is_particle = marked[end:].rstrip(",") == "p"
    parts = f"{marked[:end]}|{marked[end:]}"
    return (
        (following in AROUND and OPEN_WORD.match(marked, end + 1) is not None)
        or (following in SHOWN and FREE_WORD.match(marked, end + 1) is not None)
        or (
            is_particle and (following not in PARTICLES or PLACE.match(marked, end - 1) is not None)
        )
        or (
            kind == "do"
            and marked[:end] in "qhQ"
            and NOUN_MARK.match(marked, end) is not None
            and not is_usually_verb(following)
        )
        or (last in NAMING and NAMED_SOMEWHERE.match(marked, end) is not None)
        or (is_being and ONE_WORD_LEFT.search(parts) is not None)
        or UNSURE_PREDICATE.match(marked, end) is not None
        or (is_being and end > 1 and compile_this_alone().fullmatch(marked) is not None)
        or "been" in words[:word]
        or (before == "to" and VERB.match(marked, end - 1) is not None)
        or (word > 2 and before in DETERMINERS and QUALITY.match(marked, end - 1) is not None)
        or (word == 2 and marked[0] in "qhQ" and following in FITTING)
        or (is_being and END_IN_PLACE.fullmatch(parts) is not None and may_be_noun(following))
        or (word == 1 and SHORT_PAST.match(marked) is not None and may_be_noun(following))
        or (word == 2 and QUALITY.match(marked, end - 1) is not None and may_be_noun(following))
        or (word > 1 and last in INDEFINITE)
        or (word > 1 and words[word - 1][0].isupper() and words[word][0].isupper())
        or (kind == "are" and UNSURE_PLURAL.match(marked, end) is not None)
        or VERB_LEFT.match(parts) is not None
        or (following in COMBINING and marked[end - 2] == "n")
        or (following in COMBINING and NOUN_AND_NOUN.fullmatch(marked, end - 2, end) is not None)
        or (end > 1 and VERBAL_MARK.match(marked, end - 2) is not None and not is_known(last))
        or any(
            normalise_word(place) in FIXED_PLACES and NOUN_OR_QUALITY.match(find_mark(next_word))
            for place, next_word in pairwise(words[word:])
        )
    )


def _drop_lesser(
    words: Sequence[str], marked: str, candidates: Sequence[tuple[int, int]]
) -> Iterator[tuple[int, int]]:
    """The readings that are left where another one says the same better."""
    for word, end in candidates:
        earlier = [other_end for _, other_end in candidates if other_end < end]
        if compile_added().match(marked, end) and any(
            DOING.match(marked, other_end) for other_end in earlier
        ):
            continue
        is_earlier_placed = any(marked[other_end] in "pi" for other_end in earlier)
        if is_earlier_placed and marked[end] in "pi" and is_scene_phrase(words[word:]):
            continue
        yield word, end
