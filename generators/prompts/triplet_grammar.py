"""A writer by rule: prompt triplets without a model (ProtoBias, Tables 3 to 5).

A triplet is three sentences of one scene. `text` names the kind of thing alone; `correct` puts the
non-prototype in its place and changes nothing else; `adversarial` puts the prototype there and
changes the knob, one trait of the extra element.
"""

from collections.abc import Callable, Mapping
from typing import Any

from generators.prompts.concepts import Concept
from generators.prompts.knobs import VALUES, is_change
from generators.prompts.vocabulary import add_article, to_plural

VERSION = 1
MAX_WORDS = 30
"""Words in a sentence, at most."""

PLACES = ("at", "beside", "by", "in", "inside", "near", "on", "under")


class BadTripletFields(Exception):
    """The fields do not make a triplet of this grammar; the message says why."""


def build_triplet(fields: Mapping[str, Any]) -> dict[str, str]:
    """The sentences `text`, `correct` and `adversarial` for

    - `hypernym`: the text's word for the main entity, as in "bird" or "person";
    - `non_prototype`, `prototype`: its words in the other two;
    - `attribute`: the words of all three before the main entity's name, as in "uneducated"; "" for
      nothing;
    - `extra_element`: one noun, as in "rock";
    - `knob` and `values`: the stated trait of the extra element, and its value in the text
      and in the adversarial sentence: `count` ["two", "three"], `color` or `color_tone`
      ["red", "blue"], `layout_relation` ["left", "right"], `spatial`
      ["foreground", "background"], `scale_size` ["smaller", "larger"], than the main entity, or
      ["small", "large"];
    - `environment_hint`: the place, as in "on a quiet beach".

    Raises `BadTripletFields`.
    """
    words = {name: _get_words(fields, name) for name in _FIELDS}
    unknown_fields = sorted(set(fields) - {*_FIELDS, "values"})
    if unknown_fields:
        allowed = ", ".join((*_FIELDS, "values"))
        raise BadTripletFields(f"unknown field {unknown_fields[0]}; a triplet has {allowed}")
    if words["environment_hint"].split()[0] not in PLACES:
        raise BadTripletFields(f"environment_hint has to begin with one of {', '.join(PLACES)}")
    shown_value, changed_value = _check_values(words["knob"], fields.get("values"))
    sentences = {
        "text": _write_sentence(words, words["hypernym"], shown_value),
        "correct": _write_sentence(words, words["non_prototype"], shown_value),
        "adversarial": _write_sentence(words, words["prototype"], changed_value),
    }
    for name, sentence in sentences.items():
        if len(sentence.split()) > MAX_WORDS:
            raise BadTripletFields(f"{name} would have more than {MAX_WORDS} words")
    for name in ("non_prototype", "prototype"):
        if f" {words[name].lower()} " in f" {sentences['text'][:-1].lower()} ":
            raise BadTripletFields(f"the text would name the {name}, {words[name]}")
    return sentences


def to_triplet_fields(concept: Concept) -> dict[str, Any]:
    """The fields from which `build_triplet` writes the sentences of a concept."""
    fields: dict[str, Any] = {name: getattr(concept, name) for name in _FIELDS}
    return {**fields, "values": list(concept.values)}


def describe_extra(knob: str, value: str, element: str, main: str) -> str:
    """Describe the extra element with a value of a knob, as in "with exactly two rocks".

    `main` is what the sentence calls the main entity, as in "than the vehicle".
    """
    if value in ("smaller", "larger"):
        return f"with {add_article(element)} {value} than the {main}"
    return _EXTRA[knob](value, element)


_FIELDS = (
    "hypernym",
    "non_prototype",
    "prototype",
    "attribute",
    "extra_element",
    "knob",
    "environment_hint",
)


def _get_words(fields: Mapping[str, Any], name: str) -> str:
    value = fields.get(name)
    if not isinstance(value, str) or not (value.strip() or name == "attribute"):
        raise BadTripletFields(f"{name} is missing or not words")
    return " ".join(value.split())


def _check_values(knob: str, values: Any) -> tuple[str, str]:
    if knob not in VALUES:
        raise BadTripletFields(f"knob is {knob}: it has to be one of {', '.join(VALUES)}")
    possible = VALUES[knob]
    if not (isinstance(values, list) and len(values) == 2 and all(v in possible for v in values)):
        raise BadTripletFields(f"values of {knob} have to be two of {', '.join(possible)}")
    shown_value, changed_value = values
    if not is_change(knob, shown_value, changed_value):
        raise BadTripletFields(
            f"values of {knob} have to differ{', by 1 or 2' if knob == 'count' else ''}"
        )
    return shown_value, changed_value


_EXTRA: Mapping[str, Callable[[str, str], str]] = {
    "count": lambda n, noun: f"with exactly {n} {noun if n == 'one' else to_plural(noun)}",
    "color": lambda colour, noun: f"with {add_article(f'{colour} {noun}')}",
    "color_tone": lambda colour, noun: f"with {add_article(f'{colour} {noun}')}",
    "layout_relation": lambda side, noun: f"to the {side} of {add_article(noun)}",
    "spatial": lambda depth, noun: f"with {add_article(noun)} in the {depth}",
    "scale_size": lambda size, noun: f"with {add_article(f'{size} {noun}')}",
}


def _write_sentence(words: Mapping[str, str], entity: str, value: str) -> str:
    main = add_article(f"{words['attribute']} {entity}".strip())
    extra_words = describe_extra(words["knob"], value, words["extra_element"], entity)
    return f"{main[0].upper()}{main[1:]} is {words['environment_hint']} {extra_words}."
