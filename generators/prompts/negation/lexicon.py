"""Word classes of English, as far as a yes/no question's subject and predicate are told by them.

The closed classes are whole; verbs and adjectives (`word_classes.json`) are those that are asked
about pictures.
"""

import json
import re
from collections.abc import Mapping
from pathlib import Path

_LISTS = json.loads(Path(__file__).with_name("word_classes.json").read_text("utf-8"))
_PAST: Mapping[str, str] = _LISTS.pop("past")
_CLASSES: Mapping[str, frozenset[str]] = {name: frozenset(each) for name, each in _LISTS.items()}

BASE_VERBS = _CLASSES["verbs"]
ADJECTIVES = _CLASSES["adjectives"]
ALSO_NOUNS = _CLASSES["adjectives_also_nouns"]
"""Adjectives that often end a noun phrase as nouns: "at the traffic light"."""

BE = frozenset(["is", "are", "was", "were", "am"])
DO = frozenset(["do", "does", "did"])
MODALS = frozenset(
    ["can", "could", "will", "would", "should", "shall", "may", "might", "must"]
)  # fmt: skip
HAVE = frozenset(["has", "have", "had"])
AUXILIARIES = BE | DO | MODALS | HAVE
"""What a yes/no question begins with."""
QUESTION_WORDS = frozenset(["what", "which", "who", "whose", "where", "when", "why", "how"])

ARTICLES = frozenset(["a", "an"])
POSSESSIVES = frozenset(["my", "your", "his", "her", "its", "our", "their"])
DEMONSTRATIVES = frozenset(["this", "that", "these", "those"])
QUANTIFIERS = frozenset(
    ["all", "any", "both", "each", "every", "either", "some", "several", "many", "most", "few",
     "more", "no", "another"]
)  # fmt: skip
NUMBERS = frozenset(
    ["one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven",
     "twelve"]
)  # fmt: skip
DETERMINERS = ARTICLES | POSSESSIVES | DEMONSTRATIVES | QUANTIFIERS | {"the"}
INDEFINITE = frozenset(
    ["someone", "somebody", "something", "anyone", "anybody", "anything", "everyone", "everybody",
     "everything"]
)  # fmt: skip
PRONOUNS = INDEFINITE | {"it", "he", "she", "they", "we", "you", "i"}
"""What can be a subject by itself."""

VALUES = frozenset(
    ["number", "answer", "time", "result", "sum", "total", "value", "score", "price", "year",
     "date", "count", "digit", "temperature", "speed"]
)  # fmt: skip
"""What can be a number: "the number on the jersey 23"."""

NEGATIONS = frozenset(
    ["no", "not", "never", "none", "nobody", "nothing", "nowhere", "neither", "nor", "cannot",
     "false", "untrue"]
)  # fmt: skip
ABSOLUTE = frozenset(["all", "both", "each", "every", "either", "everyone", "everything", "always"])
"""With them "not" after the subject is another question than the negated one."""

PREPOSITIONS = frozenset(
    ["of", "in", "on", "at", "by", "with", "without", "to", "from", "for", "about", "above",
     "below", "under", "underneath", "beneath", "over", "behind", "beside", "besides", "between",
     "among", "near", "next", "inside", "outside", "within", "into", "onto", "off", "around",
     "across", "along", "against", "through", "toward", "towards", "upon", "during", "beyond",
     "past", "like", "atop", "amid", "opposite", "alongside", "throughout", "out", "up", "down",
     "away"]
)  # fmt: skip
RELATIONAL = frozenset(
    ["next", "near", "behind", "beside", "between", "above", "below", "opposite", "alongside"]
)  # fmt: skip
"""After them a participle may be said of what stands there, as of the man in "the dog beside the
man wearing a hat"."""
JOINS = frozenset(["and", "or", "but", "than", "as", "while", "because", "if", "when"])
RELATIVES = frozenset(["who", "which", "whose", "whom", "where"])

ADVERBS = frozenset(
    ["very", "too", "quite", "more", "less", "most", "almost", "also", "already", "still", "just",
     "now", "only", "rather", "so", "even", "not", "never", "closer", "always", "mostly", "as",
     "somewhat", "there", "here"]
)  # fmt: skip
_ADJECTIVE_ENDS = re.compile(r"(?:ous|ful|less|able|ible|ive|ish|like|shaped|colou?red|sided)$")
_NO_ADJECTIVES = re.compile(
    r"(?:fish|dish|table|cable|polish|finish|varnish|relish|rubbish|parish|olive|hive|drive|dive"
    r"|archive|motive|native|detective|five|bible|handful|spoonful|armful)$"
)


def is_gerund(word: str) -> bool:
    """Whether a word is a verb's -ing form, and no noun."""
    return word.endswith("ing") and len(word) > 4 and word not in _CLASSES["no_gerunds"]


def is_participle(word: str) -> bool:
    """Whether a word is a past participle."""
    return word in _CLASSES["participles"] or (
        word.endswith("ed") and len(word) > 3 and word not in _CLASSES["no_participles"]
    )


def is_adjective(word: str) -> bool:
    """Whether a word is an adjective that can be a predicate."""
    return word in ADJECTIVES or (
        _ADJECTIVE_ENDS.search(word) is not None and _NO_ADJECTIVES.search(word) is None
    )


def is_adverb(word: str) -> bool:
    """Whether a word can begin a predicate before its adjective or verb."""
    return word in ADVERBS or (word.endswith("ly") and word not in _CLASSES["no_adverbs"])


def is_number(word: str) -> bool:
    """Whether a word is a number, in digits or letters."""
    return word[:1].isdigit() or word in NUMBERS


def may_be_noun(verb: str) -> bool:
    """Whether a verb may as well be a noun."""
    return verb in _CLASSES["verbs_also_nouns"]


def third_person(verb: str) -> str:
    """What a verb is after he, she or it.

    >>> third_person("carry"), third_person("have"), third_person("wear")
    ('carries', 'has', 'wears')
    """
    if verb in ("have", "be"):
        return "has" if verb == "have" else "is"
    if re.search(r"(?:s|x|z|ch|sh|o)$", verb):
        return f"{verb}es"
    return f"{verb[:-1]}ies" if re.search(r"[^aeiou]y$", verb) else f"{verb}s"


def past_forms(verb: str) -> frozenset[str]:
    """What the past of a verb may be: the irregular one, or else the regular ones."""
    if verb in _PAST:
        return frozenset([_PAST[verb]])
    return frozenset([f"{verb}d", f"{verb}ed", f"{verb}{verb[-1]}ed", f"{verb[:-1]}ied"])
