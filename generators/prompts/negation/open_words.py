"""The open word classes of English: nouns, verbs, adjectives and adverbs with their forms.

LemmInflect knows the possible classes of a word, and its forms; Brill's list, which TextBlob brings
along, knows the usual class. Neither is read before the first question.
"""

import re
from collections.abc import Mapping, Sequence
from enum import IntFlag
from functools import cache, lru_cache
from importlib.metadata import distribution
from pathlib import Path

from generators.prompts.negation.lexicon import ADVERBS, PLACES, SHADES


class WordClass(IntFlag):
    """The open classes; a word may belong to several."""

    SINGULAR = 1
    PLURAL = 2
    ADJECTIVE = 4
    BASE = 8
    """A verb without an ending."""
    GERUND = 16
    PARTICIPLE = 32
    """A past participle, as in "painted red"."""
    ADVERB = 64
    PLACE = 128
    """A place in a picture."""
    MASS = 256
    """A noun that needs no article, as wood or water."""


NOUN = WordClass.SINGULAR | WordClass.PLURAL
VERBAL = WordClass.GERUND | WordClass.PARTICIPLE
_VERB = WordClass.BASE | VERBAL
_CLASS_BY_PENN_TAG: Mapping[str, WordClass] = {
    "JJ": WordClass.ADJECTIVE,
    "JJR": WordClass.ADJECTIVE,
    "JJS": WordClass.ADJECTIVE,
    "RB": WordClass.ADVERB,
    "RBR": WordClass.ADVERB,
    "NN": WordClass.SINGULAR,
    "NNS": WordClass.PLURAL,
    "VB": WordClass.BASE,
    "VBP": WordClass.BASE,
    "VBG": WordClass.GERUND,
    "VBN": WordClass.PARTICIPLE,
}
_USUAL_IN_QUESTIONS: Mapping[str, WordClass] = {
    **dict.fromkeys(("have", "do", "be"), WordClass.BASE),
    **dict.fromkeys(
        ("left", "right"),
        WordClass.SINGULAR | WordClass.PLACE | WordClass.ADJECTIVE | WordClass.ADVERB,
    ),
    "sports": WordClass.ADJECTIVE,
    "been": WordClass.GERUND,
}
"""Words that questions use in fewer ways, or others, than a lexicon knows."""
_ADJECTIVE_ENDING = re.compile(r"(?:y|ish|ous|al|ic|ive|ful|less|ble|ian|ern|ese)$")


@lru_cache(maxsize=65_536)
def find_open_classes(word: str) -> WordClass:
    """The open classes that a word in small letters may belong to; none of one that is unknown."""
    if word in _USUAL_IN_QUESTIONS:
        return _USUAL_IN_QUESTIONS[word]
    usual = _load_usual_classes().get(word, "")
    tag = _drop_unusual(_find_possible_classes(word), usual, word) | _CLASS_BY_PENN_TAG.get(
        usual, WordClass(0)
    )
    if word in SHADES or (word.endswith("ly") and not tag):
        tag |= WordClass.ADVERB
    if "-" in word:
        tag |= WordClass.ADJECTIVE
    if word in PLACES:
        return tag & ~WordClass.MASS | WordClass.PLACE | WordClass.SINGULAR
    return tag if tag & WordClass.SINGULAR else tag & ~WordClass.MASS


def guess_classes(word: str) -> WordClass:
    """The open classes that a word in small letters may belong to, by its ending."""
    if word.endswith("ed"):
        return WordClass.PARTICIPLE | WordClass.ADJECTIVE
    if word.endswith("ing"):
        return WordClass.GERUND | WordClass.SINGULAR
    tag = WordClass.PLURAL if word.endswith("s") else WordClass.SINGULAR
    return tag | WordClass.ADJECTIVE if _ADJECTIVE_ENDING.search(word) else tag


def is_adjective(word: str) -> bool:
    """True if a word can be an adjective."""
    return WordClass.ADJECTIVE in find_open_classes(word)


def is_adverb(word: str) -> bool:
    """True if a word is an adverb, and no verb."""
    return (
        word in ADVERBS
        or find_open_classes(word) & (WordClass.ADVERB | WordClass.BASE) == WordClass.ADVERB
    )


def is_usually_verb(word: str) -> bool:
    """True if a word is a verb more often than anything else."""
    return _load_usual_classes().get(word, "").startswith("VB")


def may_be_noun(word: str) -> bool:
    """True if a word can be a noun, however seldom, as "complex"."""
    return bool(_find_possible_classes(word) & NOUN)


def is_inflected(word: str) -> bool:
    """True if a word is a verb with an ending, and no verb without one, as "has" and "sees"."""
    from lemminflect import getAllLemmas  # noqa: PLC0415 - slow, see above

    lemmas = {lemma for kind in ("VERB", "AUX") for lemma in getAllLemmas(word).get(kind, ())}
    return bool(lemmas) and word not in lemmas


def inflect_third_person(verb: str) -> str:
    """The form of a verb after he, she or it.

    >>> inflect_third_person("carry"), inflect_third_person("have"), inflect_third_person("wear")
    ('carries', 'has', 'wears')
    """
    forms = _load_inflections(verb).get("VBZ", ())
    if forms:
        return forms[0]
    if re.search(r"(?:s|x|z|ch|sh|o)$", verb):
        return f"{verb}es"
    return f"{verb[:-1]}ies" if re.search(r"[^aeiou]y$", verb) else f"{verb}s"


def list_past_forms(verb: str) -> frozenset[str]:
    """The past forms that a verb may have.

    >>> sorted(list_past_forms("dream")), sorted(list_past_forms("stick"))
    (['dreamed', 'dreamt'], ['stuck'])
    """
    return frozenset(_load_inflections(verb).get("VBD", (f"{verb}d", f"{verb}ed")))


def _drop_unusual(tag: WordClass, usual: str, word: str) -> WordClass:
    """The classes without the nouns that "red" or "running" can be too, but seldom are."""
    is_noun_seldom = usual.startswith(("JJ", "RB", "VBN", "VBG")) or (
        usual.startswith("VB") and tag & WordClass.ADJECTIVE
    )
    if is_noun_seldom and word not in PLACES:
        tag &= ~NOUN
    return tag & ~(WordClass.BASE | WordClass.PARTICIPLE) if tag & WordClass.GERUND else tag


@lru_cache(maxsize=65_536)
def _find_possible_classes(word: str) -> WordClass:
    from lemminflect import getAllLemmas  # noqa: PLC0415 - slow, see above

    tag = WordClass(0)
    for kind, lemmas in (getAllLemmas(word) if word else {}).items():
        if kind == "NOUN":
            tag |= _find_noun_classes(word, lemmas)
        elif kind in ("VERB", "AUX"):
            tag |= _find_verb_classes(word, lemmas)
        else:
            tag |= WordClass.ADJECTIVE if kind == "ADJ" else WordClass.ADVERB
    return tag


def _find_noun_classes(word: str, lemmas: Sequence[str]) -> WordClass:
    plurals = _load_inflections(word).get("NNS", ())
    tag = WordClass.SINGULAR if word in lemmas else WordClass(0)
    if word in lemmas and (word in plurals or not plurals):
        tag |= WordClass.MASS
    is_plural = set(lemmas) != {word} or word in plurals[:1]
    return tag | WordClass.PLURAL if is_plural else tag


def _find_verb_classes(word: str, lemmas: Sequence[str]) -> WordClass:
    tag = WordClass.BASE if word in lemmas else WordClass(0)
    for lemma in lemmas:
        forms = _load_inflections(lemma)
        tag |= WordClass.GERUND if word in forms.get("VBG", ()) else WordClass(0)
        tag |= WordClass.PARTICIPLE if word in forms.get("VBN", ()) else WordClass(0)
    return tag


def _load_inflections(lemma: str) -> Mapping[str, Sequence[str]]:
    from lemminflect import getAllInflections  # noqa: PLC0415 - slow, see above

    forms: Mapping[str, Sequence[str]] = getAllInflections(lemma) if lemma else {}
    return forms


@cache
def _load_usual_classes() -> Mapping[str, str]:
    """The most usual Penn tag of each word."""
    path = distribution("textblob").locate_file("textblob/en/en-lexicon.txt")
    lines = Path(str(path)).read_text("utf-8").splitlines()
    pairs = [line.split() for line in lines if not line.startswith(";;;")]
    return {pair[0]: pair[1] for pair in pairs if len(pair) == 2 and pair[0].islower()}
