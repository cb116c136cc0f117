"""Sentences as words, so that they can be compared whoever wrote them."""

import re
from collections.abc import Sequence
from functools import lru_cache

from generators.prompts.vocabulary import NUMBERS, add_article, to_plural

_HYPHENS = str.maketrans("\u2010\u2011", "--")
_ODD = re.compile(r"[;:()'’\d]")
_PARTS = re.compile(r"[ -]")
_SPELLED = (
    (re.compile(r"\b(?:a |one )?single\b"), "one"),
    (re.compile(r"\bgrey\b"), "gray"),
    (re.compile(r"\b(left|right)-hand\b"), r"\1"),
    (re.compile(r"-colou?red\b"), ""),
    (re.compile(r"[’']s\b"), " 's"),
    (re.compile(r"([;:()])"), r" \1 "),
    (re.compile(r"\b[1-9]\b"), lambda digit: NUMBERS[int(digit[0]) - 1]),
)


def tidy_sentence(sentence: str) -> str:
    """The sentence as painters get it: single spaces, and hyphens that are on every keyboard."""
    return " ".join(sentence.translate(_HYPHENS).split())


def tokenize(sentence: str) -> list[str]:
    """Its words and commas in small letters, without the full stop, spelled in one way.

    "2" is "two", "a single" is "one" and "grey" is "gray".
    """
    plain = sentence.lower().removesuffix(".")
    if _is_odd(plain):
        for written, spelled in _SPELLED:
            plain = written.sub(spelled, plain)
    if "," in plain:
        plain = plain.replace(",", " ,")
    return plain.split()


def _is_odd(plain: str) -> bool:
    """True if a sentence may be spelled in another way; for most the first line says no.

    Looking for a pattern would take half of the time of all checking.
    """
    if not plain.replace(" ", "").replace(",", "").isalpha() and _ODD.search(plain):
        return True
    return any(word in plain for word in ("single", "grey", "-hand", "-colo"))


def join_tokens(words: Sequence[str]) -> str:
    """The sentence of which `tokenize` makes these words."""
    sentence = " ".join(words).replace(" ,", ",").replace(" 's", "'s")
    return f"{sentence[:1].upper()}{sentence[1:]}."


def is_one_sentence(sentence: str) -> bool:
    """True if the only full stop, question or exclamation mark is a full stop at its end."""
    ends_once = 0 < sentence.find(".") == len(sentence) - 1
    return ends_once and not ("!" in sentence or "?" in sentence or "\n" in sentence)


@lru_cache(maxsize=4096)
def tokenize_phrase(words: str) -> tuple[str, ...]:
    """The tokens of some words."""
    return tuple(tokenize(words))


def find_phrase(words: Sequence[str], phrase_words: Sequence[str]) -> list[int]:
    """The indices at which a phrase begins in a sentence."""
    first, length = phrase_words[0], len(phrase_words)
    indices = [index for index, word in enumerate(words) if word == first]
    if length > 1:
        indices = [
            index for index in indices if tuple(words[index : index + length]) == phrase_words
        ]
    return indices


def replace_phrase(
    words: Sequence[str], indices: Sequence[int], length: int, entity: str
) -> list[str]:
    """The sentence with `entity` for the words at some places, with the article that goes with it.

    The entity is one item of what is returned, in its own spelling: compare what is joined.
    """
    changed = list(words)
    for index in reversed(indices):
        changed[index : index + length] = [entity]
        if index and changed[index - 1] in ("a", "an"):
            changed[index - 1] = find_article(entity)
    return changed


@lru_cache(maxsize=4096)
def find_article(words: str) -> str:
    """The article before them: a or an."""
    return add_article(words).partition(" ")[0]


def find_labels(text: str, labels: tuple[str, ...]) -> list[str]:
    """The labels that a text names, alone, in the plural or within a compound."""
    return list(dict.fromkeys(_compile_labels(labels).findall(text.lower()))) if labels else []


@lru_cache(maxsize=1024)
def _compile_labels(labels: tuple[str, ...]) -> re.Pattern[str]:
    forms = {form for label in labels for form in (label, to_plural(label), label.rstrip("+"))}
    longest_first = sorted(forms, key=lambda form: (-len(form), form))
    # "Beanbag" and "bean-bag" are a "bean bag" as well.
    patterns = (
        r"[\s-]?".join(map(re.escape, _PARTS.split(form.lower()))) for form in longest_first
    )
    return re.compile(rf"(?<!\w)(?:{'|'.join(patterns)})(?!\w)")
