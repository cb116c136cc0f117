"""The subject and the predicate of a yes/no question.

There is no parser behind this: a subject ends where a word begins a predicate. Where that can be
read in two ways, `NotUnderstood` says so, and nothing is guessed.
"""

from collections.abc import Sequence
from typing import NamedTuple

from generators.prompts.negation import lexicon
from generators.prompts.negation.lexicon import (
    BASE_VERBS,
    BE,
    DEMONSTRATIVES,
    DETERMINERS,
    JOINS,
    PREPOSITIONS,
    PRONOUNS,
    RELATIONAL,
    RELATIVES,
    is_adjective,
    is_adverb,
    is_gerund,
    is_number,
    is_participle,
)
from generators.prompts.negation.questions import NotUnderstood, Question, plain

_OPENING, _CLOSING = "\"'“‘", ('"', "'", "”", "’", '".', "”.")
_ENDS = ("on", "off")
"""As the last word they are what something is: "Is the TV on the wall on?"."""
_POSSESSIVE = ("'s", "s'")


class Clause(NamedTuple):
    """The two parts of what follows the auxiliary."""

    subject: tuple[str, ...]
    predicate: tuple[str, ...]


def clause_of(question: Question) -> Clause:
    """The subject and the predicate of a question. Raises `NotUnderstood`."""
    words, low = question.words, [_low(word) for word in question.words]
    if len(words) < 2:
        raise NotUnderstood("It has no predicate.")
    if low[0] == "there" or _stands_alone(low):
        at = 1
    elif question.auxiliary in BE:
        at = _be(words, low)
    elif question.auxiliary in lexicon.HAVE:
        at = _has(low)
    else:
        at = _verb(low)
    if RELATIVES.intersection(low[:at]) or "that" in low[1:at]:
        raise NotUnderstood("A clause stands in its subject: where that ends cannot be told.")
    return Clause(words[:at], words[at:])


def _low(word: str) -> str:
    """A word in small letters; "A" inside a question is no article but what something is called."""
    bare = word.strip("\"'“”‘’()[]{}.,;:!?")
    return bare if bare == "A" else plain(word)


def _stands_alone(low: Sequence[str]) -> bool:
    """Whether a pronoun is the whole subject: what follows can be no part of it."""
    after = low[1]
    if low[0] in PRONOUNS:
        return after not in PREPOSITIONS or low[0] not in lexicon.INDEFINITE
    if low[0] not in DEMONSTRATIVES:
        return False
    return (
        len(low) == 2
        or after in DETERMINERS
        or after in PREPOSITIONS
        or is_adverb(after)
        or (after in BASE_VERBS and not lexicon.may_be_noun(after))
    )


def _is_noun(low: Sequence[str], place: int) -> bool:
    """Whether the word at a place can be the last one of a noun phrase."""
    word = low[place]
    if word in DETERMINERS:
        return place == 0 and word in DEMONSTRATIVES
    if word.endswith(_POSSESSIVE):
        return False
    return word not in PREPOSITIONS and word not in JOINS and not is_adverb(word)


def _be(words: Sequence[str], low: Sequence[str]) -> int:
    """Where the predicate of a form of be begins."""
    strong = next((at for at in range(1, len(low)) if _begins(words, low, at)), None)
    phrase = next((at for at in range(1, len(low)) if _begins_phrase(low, at)), None)
    last = len(low) - 1
    if strong is None and is_number(low[-1]) and lexicon.VALUES.intersection(low[:phrase]):
        return last
    if strong is None and phrase is not None and phrase < last and low[-1] in _ENDS:
        return last
    if strong is not None:
        _require_one_reading(words, low, strong, phrase)
        return strong
    if phrase is not None:
        return _past_names(words, low, phrase)
    if not _is_noun(low, last - 1):
        raise NotUnderstood(f"Where its subject ends cannot be told: before {words[last]!r}?")
    return last


def _begins(words: Sequence[str], low: Sequence[str], at: int) -> bool:
    """Whether a predicate begins at a word, other than with a preposition."""
    word = low[at]
    if not _is_noun(low, at - 1):
        return False
    if is_gerund(word) or is_participle(word):
        return not _may_modify(low, at - 1) or _is_followed(low, at)
    if word in DETERMINERS or word == "as":
        return True
    if is_adverb(word) or word == "half":
        return at + 1 < len(low) and (word != "half" or is_adjective(low[at + 1]))
    if words[at][0] in _OPENING:
        return words[-1].endswith(_CLOSING)
    return is_adjective(word) and _ends_phrase(words, low, at)


def _may_modify(low: Sequence[str], at: int) -> bool:
    """Whether a word may stand before a noun, as big in "the big running dog"."""
    return is_adjective(low[at]) or is_number(low[at])


def _is_followed(low: Sequence[str], at: int) -> bool:
    """Whether what follows a word is no noun that it could stand before."""
    after = low[at + 1] if at + 1 < len(low) else ""
    return not after or after in DETERMINERS or after in PREPOSITIONS or is_adverb(after)


def _ends_phrase(words: Sequence[str], low: Sequence[str], at: int) -> bool:
    """Whether nothing follows an adjective that it could belong to."""
    if at + 1 == len(low) or words[at][-1] in ",:;":
        return True
    if low[at] in lexicon.ALSO_NOUNS:
        return False
    after = low[at + 1]
    if is_adjective(low[at - 1]) and at > 1 and after != "than":
        return False
    return after in PREPOSITIONS or after in JOINS or is_adverb(after) or after == "enough"


def _begins_phrase(low: Sequence[str], at: int) -> bool:
    """Whether a phrase begins at a word that can be a predicate, as "on the sofa"."""
    return low[at] in PREPOSITIONS and low[at] != "of" and _is_noun(low, at - 1)


def _ends_noun(low: Sequence[str], at: int) -> bool:
    """Whether nothing but a noun phrase's last word can stand there."""
    if low[at] in lexicon.ALSO_NOUNS or low[at] in ("left", "right"):
        return True
    modifies = _may_modify(low, at) or low[at] in ("other", "same", "only")
    return _is_noun(low, at) and low[at] not in DETERMINERS and not modifies


def _past_names(words: Sequence[str], low: Sequence[str], phrase: int) -> int:
    """Where the predicate begins if none but a phrase does, and maybe a name after it.

    In "the logo on this car Audi logo" the noun comes again after the name, so that all before
    belongs to the subject. Raises `NotUnderstood` for another name right after a noun.
    """
    for at in range(phrase + 2, len(low)):
        is_name = words[at][:1].isupper() and not words[at - 1][:1].isupper()
        is_label = len(low[at]) == 1 and low[phrase - 1] != "letter"
        if not is_name or is_label or not _ends_noun(low, at - 1):
            continue
        if low[-1] == low[phrase - 1]:
            return at
        raise NotUnderstood(f"Where its subject ends cannot be told: before {words[at]!r}?")
    return phrase


def _require_one_reading(
    words: Sequence[str], low: Sequence[str], at: int, phrase: int | None
) -> None:
    """Raise `NotUnderstood` where the subject may as well end elsewhere."""
    is_verbal = is_gerund(low[at]) or is_participle(low[at])
    told = NotUnderstood("Where its subject ends can be read in two ways.")
    if not is_verbal:
        if low[at] in lexicon.ALSO_NOUNS and phrase is not None:
            raise told
        return
    before = low[phrase : phrase + 2] if phrase is not None and phrase < at else ()
    if before and (before[0] in RELATIONAL or before[1] == "front"):
        raise told
    for later in range(at + 2, len(low)):
        if not _is_noun(low, later - 1) or is_gerund(low[later - 1]):
            continue
        if is_participle(low[later - 1]) or is_adjective(low[later - 1]):
            continue
        if is_gerund(low[later]) or is_participle(low[later]):
            raise told
        is_last = later + 1 == len(low)
        if is_last and is_adjective(low[later]) and low[later] not in lexicon.ALSO_NOUNS:
            raise told


def _has(low: Sequence[str]) -> int:
    """Where the participle after has, have or had stands, or what they have."""
    for at in range(1, len(low)):
        if not _is_noun(low, at - 1):
            continue
        if is_participle(low[at]) or low[at] in DETERMINERS or is_number(low[at]):
            return at
        if is_adverb(low[at]):
            return at
    raise NotUnderstood(
        "Where its subject ends cannot be told: it has no participle that is known."
    )


def _verb(low: Sequence[str]) -> int:
    """Where the verb after do or a modal verb stands."""
    for at in range(1, len(low)):
        if not _is_noun(low, at - 1):
            continue
        if is_adverb(low[at]):
            return at
        if low[at] in BASE_VERBS and not _is_noun_before_verb(low, at):
            return at
    for at in range(2, len(low)):
        if low[at] in DETERMINERS and _is_noun(low, at - 1) and _is_noun(low, at - 2):
            return at - 1
    last = len(low) - 1
    if last >= 1 and not PREPOSITIONS.intersection(low) and _is_noun(low, last - 1):
        return last
    raise NotUnderstood("Where its subject ends cannot be told: it has no verb that is known.")


def _is_noun_before_verb(low: Sequence[str], at: int) -> bool:
    """Whether a verb is a noun here, as the face in "the clock face show": a verb follows."""
    if not lexicon.may_be_noun(low[at]):
        return False
    return any(
        low[later] in BASE_VERBS and _is_noun(low, later - 1)
        for later in range(at + 1, min(at + 2, len(low)))
    )
