"""Concepts: instances of the taxonomy, sampled by seed without repeats."""

from collections.abc import Mapping
from dataclasses import fields
from typing import Any

from assets.columns import TEXT, TEXTS, WHOLE, Columns
from generators.prompts.concepts import Concept

CONCEPTS = Columns(
    concept_id=(TEXT, "Readable, and of its contents alone"),
    domain=(TEXT, "animals, demography or objects"),
    group=(TEXT, "Subcategory of the taxonomy, as in birds or religion"),
    concept=(TEXT, "The cell of the taxonomy in words, as in penguin / robin"),
    hypernym=(TEXT, "What the text calls the main entity"),
    non_prototype=(TEXT, "What stands in its place in the correct sentence"),
    prototype=(TEXT, "What stands in its place in the adversarial sentence"),
    attribute=(TEXT, "What all three sentences say before it; empty but for demography"),
    socio_attribute=(TEXT, "wealth, intellect, morality, power or civility; else empty"),
    pole=(TEXT, "positive or negative; empty but for demography"),
    disadvantaged=(TEXT, "The group's name; empty but for demography"),
    advantaged=(TEXT, "The group's name; empty but for demography"),
    labels=(TEXTS, "What the text may not name"),
    knob=(TEXT, "Which trait of the extra element differs in the adversarial sentence"),
    values=(TEXTS, "The knob's value in the text, and in the adversarial sentence"),
    extra_element=(TEXT, "The thing beside the main entity"),
    environment_hint=(TEXT, "Where it is"),
    source=(TEXT, "Whether the pair is the paper's or ours"),
    place=(WHOLE, "Place in the sample, from 0: a smaller sample is the beginning of a larger one"),
    seed=(WHOLE, "Of the sampling"),
)

_FIELDS = tuple(field.name for field in fields(Concept))


def concept_of(row: Mapping[str, Any]) -> Concept:
    """The concept of a row of `concepts`, or of any table that has its columns."""
    values = {name: row[name] for name in _FIELDS}
    lists = {"labels": tuple(row["labels"]), "values": tuple(row["values"])}
    return Concept(**{**values, **lists})
