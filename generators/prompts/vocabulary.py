"""The vocabulary of prompts, and what its words mean to a painter."""

import re
from collections.abc import Mapping

NUMBERS = ("one", "two", "three", "four", "five", "six", "seven", "eight", "nine")
"""Number words from 1."""

COLOURS: Mapping[str, str] = {
    "black": "#222222",
    "blue": "#2a6fdb",
    "brown": "#8a5a2b",
    "gray": "#8c8c8c",
    "green": "#2e9e4f",
    "orange": "#f08c1e",
    "pink": "#ef8fb4",
    "purple": "#7d4bb5",
    "red": "#d6332c",
    "white": "#ffffff",
    "yellow": "#f5cf2e",
}

_AS_IF_CONSONANT = re.compile(
    r"(?i:uni(?![nm]|de|ro)|us[aeiu]|ut[aeio]|ur[aiu]|uk|ugan|eu|ewe\b|one\b|once\b)|U(?=[A-Z-])"
)
_AS_IF_VOWEL = re.compile(r"(?i:hon(?:est|or|our)|hour|heir)|[FHLMNRSX](?=[A-Z-])")
_IRREGULAR = (
    (r"\b((?:wo)?m)an$", r"\1en"),
    (r"\bchild$", "children"),
    (r"\bperson$", "people"),
    (r"\b([ml])ouse$", r"\1ice"),
    (r"\bgoose$", "geese"),
    (r"\bfoot$", "feet"),
    (r"\btooth$", "teeth"),
    (r"(fish|sheep|deer)$", r"\1"),
    (r"(potat|tomat)o$", r"\1oes"),
    (r"(lea|shel|loa|kni|wol|scar|cal|hal|thie|\bli|\bwi)fe?$", r"\1ves"),
)


def add_article(phrase: str) -> str:
    """The phrase after "a" or "an", as it is said: "an ostrich", "a unicycle", "an honest man"."""
    vowel = phrase[0].lower() in "aeiou" and not _AS_IF_CONSONANT.match(phrase)
    return f"{'an' if vowel or _AS_IF_VOWEL.match(phrase) else 'a'} {phrase}"


def to_plural(noun: str) -> str:
    """Convert a noun to plural; of several words the last, or the one before "of", changes."""
    head, of_part, rest = noun.partition(" of ")
    irregular = next(
        (pattern_pair for pattern_pair in _IRREGULAR if re.search(pattern_pair[0], head)), None
    )
    if irregular:
        head = re.sub(*irregular, head)
    elif re.search(r"(?:s|x|z|ch|sh)$", head):
        head += "es"
    elif re.search(r"[^aeiou]y$", head):
        head = f"{head[:-1]}ies"
    else:
        head += "s"
    return head + of_part + rest


def to_singular(noun: str) -> str:
    """Convert a plural to singular, the inverse of `to_plural`; unchanged if there is none.

    >>> to_singular("red apples"), to_singular("eyes of the cat"), to_singular("people")
    ('red apple', 'eye of the cat', 'person')
    """
    head, of_part, rest = noun.partition(" of ")
    first, space, last = head.rpartition(" ")
    hissing = re.search(r"(?:x|z|ch|sh|ss|[bg]us|lens)es$", last)
    guesses = [f"{last[:-3]}{'fe' if last.endswith('ives') else 'f'}"]
    guesses += [f"{last[:-3]}y", f"{last[:-2]}an"]
    guesses += [last[:-2] if hissing else last[:-1], last[:-2]]
    guesses += ["person", "child", "mouse", "louse", "goose", "foot", "tooth"]
    for guess in guesses:
        if guess and to_plural(guess) == last:
            return f"{first}{space}{guess}{of_part}{rest}"
    return noun
