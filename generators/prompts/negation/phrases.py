"""Phrases of English as patterns of marks: subjects of questions, and predicates.

Each word is one mark (`generators.prompts.negation.marks`), and a phrase is a regular expression
over these. A word of several classes fits all of them, so that every reading of a question is seen.
What follows a noun has to begin with a word that says how it belongs there: a preposition, "and", a
verb.
"""

import re
from functools import cache
from typing import Literal, TypeAlias

from generators.prompts.negation.marks import select_marks
from generators.prompts.negation.open_words import NOUN, VERBAL, WordClass

PredicateKind: TypeAlias = Literal["is", "are", "do", "have"]
SubjectNumber: TypeAlias = Literal["singular", "plural", "any"]

_MODIFYING = WordClass.ADJECTIVE | VERBAL
_ADVERB = f"[rka{select_marks(WordClass.ADVERB)}]"
_ONLY_ADVERB = f"[rka{select_marks(WordClass.ADVERB, without=_MODIFYING | NOUN)}]"
_ADJECTIVE = f"[{select_marks(WordClass.ADJECTIVE)}]"
_ADJECTIVE_ALONE = f"[{select_marks(WordClass.ADJECTIVE, without=NOUN)}]"
_VERBAL = f"[{select_marks(VERBAL)}]"
_GERUND = f"[{select_marks(WordClass.GERUND)}]"
_VERBAL_ALONE = f"[{select_marks(VERBAL, without=NOUN)}]"
_PAST = f"[{select_marks(WordClass.PARTICIPLE)}]"
_VERBS = f"(?:{_GERUND}?{_PAST}{_GERUND}?|{_GERUND})"
"""Example: "being painted" and "seen walking"."""
_VERB = f"[{select_marks(WordClass.BASE)}]"
_PLACE = f"[m{select_marks(WordClass.PLACE)}]"
_NOUN = f"[{select_marks(NOUN)}]"
_NOUN_ALONE = f"[{select_marks(NOUN, without=_MODIFYING)}]"
_ONE_ALONE = f"[{select_marks(WordClass.SINGULAR, without=_MODIFYING)}]"
_NO_NOUN = f"[ny{select_marks(_MODIFYING | WordClass.ADVERB, without=NOUN)}]"
_STEP = (
    f"(?:{_ONE_ALONE}(?!{_NO_NOUN})|[ny'{select_marks(_MODIFYING)}]|{_ONLY_ADVERB}(?=[n{select_marks(_MODIFYING)}])"
    f"|{_ADJECTIVE}(?:,?c|,){_ADVERB}?(?={_ADJECTIVE}))"
)
"""A word before a noun."""
_DETERMINED = "(?:(?:ko?)?[dqhQa][dna]?|n)"
_PRONOUNS = "qhQskZ"


def _build_noun_phrase(heads: str, alone: str, determiner: str) -> str:
    """A noun phrase without what follows its noun; pronouns and names are one as well."""
    return (
        f"(?:{determiner}{_STEP}*[m{heads}]l?|[dq]{_ADJECTIVE_ALONE}(?!{_STEP})"
        f"|[{alone}](?!{_STEP}))"
    )


_HEADS = f"ny{select_marks(NOUN)}"
_DETERMINER = "(?:ko?)?[dqhQa]?[dna]?"
_THING = _build_noun_phrase(_HEADS, f"{_PRONOUNS}l", _DETERMINER)
_NAMED = _build_noun_phrase(_HEADS, _PRONOUNS, _DETERMINED)
_MANY = f"(?:{_STEP}*[{select_marks(WordClass.PLURAL)}])"
_OBJECT = (
    f"(?:{_build_noun_phrase(_HEADS, f'n{_PRONOUNS}l', _DETERMINED)}"
    f"|{_STEP}*[my{select_marks(WordClass.PLURAL | WordClass.MASS)}]|{_ADJECTIVE_ALONE}(?!{_STEP}))"
)
"""The object of a verb: one thing that can be counted has a determiner."""
_OBJECTS = f"(?:{_ADVERB}?[pr]?(?:{_OBJECT}(?:(?=[dqhQn]){_OBJECT})?)?)"
_QUALITY = f"(?:{_ADVERB}*{_ADJECTIVE}(?:(?:,?c|,){_ADVERB}*{_ADJECTIVE})*)"
_AT = f"(?:[pi]+o?|{_ADVERB}o)"
_PLACED = f"(?:{_AT}(?:{_THING}|{_ONE_ALONE}n))"
_OF_ONE_WHO_ACTS = f"(?<!{_PLACE})(?<!{_PLACE}{_ADVERB})"
"""The "left" of a picture wears no hat."""
_TAIL = (
    f"(?:,?{_PLACED}|(?:,?{_AT}|[ot,]|,?c)(?:{_THING}|{_QUALITY}|{_ADVERB}*{_VERBAL}{_OBJECTS}|b)"
    f"|,?c{_AT}{_THING}|,?{_OF_ONE_WHO_ACTS}(?<!{_VERBAL_ALONE}){_VERBS}(?=.){_OBJECTS}|,?{_ADVERB}"
    f"|i{_VERB}{_VERBAL}?{_OBJECTS}"
    f"|,?[wh]{_THING}?b?(?:{_QUALITY}|{_VERB}{_OBJECTS}|(?=[dqQn]){_THING})?|\\()*"
)
_DOING = f"{_ADVERB}*{_VERBS}{_OBJECTS}{_QUALITY}?"
_ACTING = f"{_ADVERB}*{_VERB}(?:b|{_VERBAL})?{_OBJECTS}{_QUALITY}?"


@cache
def compile_predicate(kind: PredicateKind) -> re.Pattern[str]:
    """The pattern of a predicate after is, are, do (or a modal verb) or have."""
    if kind == "do":
        return re.compile(f"{_ACTING}{_TAIL}(?:,?c{_VERB}{_OBJECTS}{_TAIL})*,?")
    if kind == "have":
        return re.compile(f"(?:{_DOING}|{_NAMED}|{_MANY}){_TAIL},?")
    nominal = f"{_NAMED}|[yZln]+|{_MANY}" if kind == "are" else f"{_NAMED}|[yZln]+"
    being = (
        f"(?:{_DOING}|{_QUALITY}|{_ADVERB}*(?:{_PLACED}|{_AT}{_QUALITY}|{nominal})"
        f"|{_ADVERB}+|t{_QUALITY}t{_THING}|p(?=,?$))"
    )
    covered = f"{_ONE_ALONE}[{select_marks(WordClass.PARTICIPLE)}](?:p[dq]m)?"
    return re.compile(f"(?:{being}{_TAIL}|{covered}|{MATERIAL.pattern}),?")


@cache
def compile_subject(number: SubjectNumber) -> re.Pattern[str]:
    """A noun phrase with all that belongs to it, whose noun is of a number."""
    tag = {"singular": WordClass.SINGULAR, "plural": WordClass.PLURAL, "any": NOUN}[number]
    alone = {"singular": "qhskZl", "plural": "QskZl", "any": "qhQskZl"}[number]
    first = _build_noun_phrase(f"ny{select_marks(tag)}", alone, _DETERMINER)
    following = f"(?:(?:{_AT}|o|,?c){_THING})*"
    return re.compile(
        f"(?:{first}|{_THING}(?:,{_THING})*,?c{_THING}){following}"
        f"(?:{_OF_ONE_WHO_ACTS}{_ADVERB}*{_VERBS}{_OBJECTS}{following})?"
    )


@cache
def compile_added() -> re.Pattern[str]:
    """Words that belong to what is done rather than to who does it."""
    adverb = select_marks(WordClass.ADVERB, without=WordClass.ADJECTIVE)
    return re.compile(f"[pir{adverb}]|{_MANY}{_TAIL}$")


@cache
def compile_this_alone() -> re.Pattern[str]:
    """A phrase of which "this" may be the whole subject, as "this good food for cats"."""
    mass, plural = select_marks(WordClass.MASS), select_marks(WordClass.PLURAL)
    return re.compile(
        f"[qh](?:{_ADJECTIVE}+{_NOUN}?[y{mass}]{_TAIL}|{_GERUND}{_NOUN}{_TAIL}|{_NOUN}[ln]|{_NOUN}{_NOUN}y)"
        f"|h[{mass}](?:p.*|{_GERUND})|Q{_ADJECTIVE_ALONE}+[{plural}][pi].*"
    )


NOUN_ALONE = re.compile(_NOUN_ALONE)
DOING = re.compile(f"{_ADVERB}*{_VERBAL}")
MATERIAL = re.compile(f"[{select_marks(WordClass.MASS)}]")
SINGLE = re.compile(f"(?:.*[pi]|o)*[dqhQ]n?{_ADJECTIVE}*[m{select_marks(NOUN)}]")
"""A phrase whose last noun has no other before it, so that what follows is no part of its name."""
AFTER_NOUN = re.compile("[pio]")
SEVERAL_THAT_ACT = re.compile(
    f"[{select_marks(WordClass.PLURAL, without=WordClass.SINGULAR)}][{select_marks(VERBAL)}]"
)
"""Example: "the lines run": what follows belongs to the verb."""
OPEN_WORD = re.compile(
    f"[rkanyl{select_marks(NOUN | _MODIFYING | WordClass.ADVERB | WordClass.BASE)}]"
)
ONE_WORD_LEFT = re.compile(
    rf"(?:y|{_NOUN}){_ADVERB}*(?:{_VERBAL}|pi{_VERB})[^|]*\|(?:p|s|{_ADJECTIVE}),?$"
)
"""Example: "a man giving thumbs | up": the last word may belong to the verb."""
UNSURE_PREDICATE = re.compile(
    f"[pi]d(?:[{select_marks(WordClass.PLACE)}]{_ADJECTIVE_ALONE}+{_NOUN}|[^o]*o{_ADJECTIVE_ALONE}+{_NOUN}$)"
    f"|p(?:{_ADJECTIVE_ALONE}+[pi]|(?:{_ADJECTIVE_ALONE}+|{_PLACE}){_VERBAL})|{_GERUND}{_PAST}(?:[dqhQ]|{_ADJECTIVE})"
)
"""Example: "on the left different length", "in the room of neutral tones", "in red playing" and
"being held edible": its first words may belong to the subject."""
NAMED_SOMEWHERE = re.compile(f"(?:{_ADJECTIVE}|{_NOUN}|y)[pi]")
FREE_WORD = re.compile("[^pirc,]")
END_IN_PLACE = re.compile(rf".*[pi][dqhQ]{_ADJECTIVE}*{_NOUN_ALONE}\|{_ADJECTIVE},?")
"""Example: "the person in a wide stance | squat"."""
PLACE = re.compile(f"[{select_marks(WordClass.PLACE)}]")
UNSURE_PLURAL = re.compile(
    f".*[pi]d?{_NOUN_ALONE}[{select_marks(WordClass.PLURAL, without=WordClass.SINGULAR)}],?$"
)
"""Example: "looking at the camera adults" and "on display apples"."""
VERB_LEFT = re.compile(rf".*{_NOUN_ALONE}{_NOUN}\|{_VERBAL}(?:p[dq]m)?,?$")
"""Example: "this kid potty | trained"."""
NOUN_MARK = re.compile(_NOUN)
ONE_PICTURE = re.compile("[^pioc]*m")
VERBAL_MARK = re.compile(_VERBAL)
NOUN_OR_QUALITY = re.compile(f"{_NOUN}|{_ADJECTIVE_ALONE}")
VERB = re.compile(_VERB)
SHORT_PAST = re.compile(f"[qhQ]{_PAST}")
"""Example: "this shot in focus"."""
QUALITY = re.compile(_ADJECTIVE_ALONE)
NOUN_AND_NOUN = re.compile(_NOUN + _NOUN_ALONE)
TWO_NOUNS = re.compile(f"{_NOUN_ALONE}{_NOUN}")
UNCOUNTED = re.compile(f"[{select_marks(WordClass.MASS)}]{_NOUN_ALONE}")
NAMED_NOUN = re.compile(f"y{_NOUN_ALONE}")
NO_END = re.compile(f"[pio,]|{_PLACE}{_PLACE}|yy|{_ADJECTIVE_ALONE}(?:y|{_NOUN})|{_VERBAL_ALONE}")
"""Marks at which no subject ends: after a preposition, inside a name, after a verb that is no
noun."""
