"""A mark for each word, one character, that says which classes the word may belong to.

d a determiner; q this, h that, Q these; k half; a more; s a pronoun; n a number; l a label, as A
or C3; y a name; Z a quotation; m a picture; p a preposition, i to, o of; r an adverb; c and; t
than, as; w who, which, if; b an auxiliary; ' a genitive; ( a parenthesis. Each combination of open
classes has a mark of its own.
"""

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache

from generators.prompts.negation.lexicon import (
    ADVERBS,
    ARTICLES,
    AUXILIARIES,
    CLAUSE_WORDS,
    COMPOUNDS,
    NUMBERS,
    PICTURES,
    POSSESSIVES,
    PREPOSITIONS,
    PRONOUNS,
    QUANTIFIERS,
)
from generators.prompts.negation.open_words import (
    VERBAL,
    WordClass,
    find_open_classes,
    guess_classes,
)
from generators.prompts.negation.questions import normalise_word

_CLOSED: Mapping[str, str] = {
    **dict.fromkeys(ADVERBS, "r"),
    **dict.fromkeys(PICTURES, "m"),
    **dict.fromkeys(PREPOSITIONS, "p"),
    **dict.fromkeys(CLAUSE_WORDS, "w"),
    **dict.fromkeys(ARTICLES | POSSESSIVES | QUANTIFIERS | {"the"}, "d"),
    **dict.fromkeys(("more", "most", "less", "least"), "a"),
    **dict.fromkeys(PRONOUNS | {"him", "them", "us", "me", "himself", "herself", "itself"}, "s"),
    **dict.fromkeys(AUXILIARIES - {"do", "have"}, "b"),
    **dict.fromkeys(NUMBERS | {"zero", "hundred", "thousand"}, "n"),
    **dict.fromkeys(("and", "or", "nor", "but"), "c"),
    **dict.fromkeys(("these", "those"), "Q"),
    **dict.fromkeys(("than", "as"), "t"),
    **{"this": "q", "that": "h", "half": "k", "of": "o", "to": "i"},
}
_NAME = re.compile(r"[A-Z][\w&'’.-]*")
_INITIAL = re.compile(r"[A-Z]\.")
_LABEL = re.compile(r"[A-Z]?\d+|[A-Z]")
_NUMBER = re.compile(r"(?=.*\d)[\d$€£#.+-][\d.,:/]*(?:st|nd|rd|th|%|s)?")
_EDGES = "\"'“”‘’()[]{}.,;:!?"
_CLOSING = {"(": ")", "[": "]", "{": "}", "“": "”", "‘": "’", '"': '"', "'": "'"}
_BRACKETS = "([{"


def _is_possible(tag: WordClass) -> bool:
    """True if a word may have these classes together: few marks make short patterns."""
    noun = tag & (WordClass.SINGULAR | WordClass.MASS | WordClass.PLACE)
    verb = tag & (WordClass.BASE | VERBAL)
    return (
        verb & VERBAL != VERBAL
        and verb != WordClass.BASE | WordClass.GERUND
        and noun
        in (
            WordClass(0),
            WordClass.SINGULAR,
            WordClass.SINGULAR | WordClass.MASS,
            WordClass.SINGULAR | WordClass.PLACE,
        )
    )


_TAGS = [WordClass(bits) for bits in range(512) if _is_possible(WordClass(bits))]
_MARKS = {tag: chr(0xE000 + place) for place, tag in enumerate(_TAGS)}


def select_marks(tag: WordClass, *, without: WordClass | None = None) -> str:
    """The marks of all words that may be of one of some classes, and of none of others."""
    others = without or WordClass(0)
    return "".join(
        mark for classes, mark in _MARKS.items() if classes & tag and not classes & others
    )


@lru_cache(maxsize=65_536)
def is_known(word: str) -> bool:
    """True if a word in small letters stands in a lexicon, or among the closed classes."""
    return word in _CLOSED or bool(find_open_classes(word))


@lru_cache(maxsize=65_536)
def find_mark(word: str) -> str:
    """The mark of a word as it is written."""
    low, bare = normalise_word(word), word.strip(_EDGES)
    if low in _CLOSED and not _NAME.fullmatch(bare):
        return _CLOSED[low]
    if low.endswith(("'s", "s'")):
        return "'"
    if _NUMBER.fullmatch(bare):
        return "n"
    if _LABEL.fullmatch(bare) and not _INITIAL.fullmatch(word):
        return "l"
    if not any(map(str.isalnum, bare)):
        return "("
    return "y" if bare[:1].isupper() else _MARKS[find_open_classes(low) or guess_classes(low)]


def mark_words(words: Sequence[str]) -> tuple[str, list[int | None]]:
    """The marks of words, and by word the place of its mark.

    A quotation has one, and so has what follows "titled". A comma is a mark as well.
    """
    marked, places = "", list[int | None]()
    place = 0
    while place < len(words):
        number, mark = _read_unit(words, place)
        places += [len(marked), *[None] * (number - 1)]
        place += number
        marked += mark + ("," if words[place - 1][-1] in ",;:" else "")
    return marked, places


def _read_unit(words: Sequence[str], place: int) -> tuple[int, str]:
    """Read one unit: the number of its words, and its mark."""
    word = words[place]
    if word[0] in _CLOSING and len(word) > 1:
        end = _CLOSING[word[0]]
        for last in range(place, len(words)):
            if words[last].rstrip(".,;:!?").endswith(end) and (last > place or len(word) > 2):
                return last - place + 1, "(" if word[0] in _BRACKETS else "Z"
        return len(words) - place, "("
    if place and normalise_word(words[place - 1]) == "titled":
        return len(words) - place, "Z"
    pair = (
        f"{normalise_word(word)} {normalise_word(words[place + 1])}"
        if place + 1 < len(words)
        else ""
    )
    if pair in COMPOUNDS:
        return 2, _MARKS[WordClass.SINGULAR]
    if pair.endswith("s") and pair[:-1] in COMPOUNDS:
        return 2, _MARKS[WordClass.PLURAL]
    return 1, find_mark(word)
