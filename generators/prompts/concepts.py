"""Concepts, the subjects of prompt triplets: instances of the taxonomy (ProtoBias, §3.2, A.1)."""

from dataclasses import dataclass
from typing import Literal, NamedTuple, TypeAlias

DOMAINS = ("animals", "demography", "objects")

Side = Literal["correct", "adversarial"]
"""The picture that fits the text and shows the non-prototype, or the prototypical one beside it."""

Source = Literal["paper", "ours"]


@dataclass(frozen=True, slots=True)
class Concept:
    """An instance of the taxonomy, with its sampled knob and scenery.

    The text says `hypernym` where the correct sentence says `non_prototype` and the adversarial one
    `prototype`; `attribute` stands before each of them ("" but for demography). `values` are the
    knob's in the text and in the adversarial sentence.
    """

    concept_id: str
    """Readable, and of its contents alone, as in `animals/penguin-robin/count/3f9a2c1b`."""
    domain: str
    group: str
    """Subcategory: birds, mammals or others; religion, nationality or sexual_orientation; …"""
    concept: str
    """The cell of the taxonomy in words, as in "penguin / robin", as reports group by it."""
    hypernym: str
    non_prototype: str
    prototype: str
    attribute: str
    socio_attribute: str
    """wealth, intellect, morality, power or civility; "" but for demography, as is the pole."""
    pole: str
    disadvantaged: str
    """The groups' names, "" but for demography."""
    advantaged: str
    labels: tuple[str, ...]
    """Names that the text may not say: the two entities, or every group of demography."""
    knob: str
    values: tuple[str, str]
    extra_element: str
    environment_hint: str
    source: Source | Literal["user"]
    """The pair's origin: the paper, ours or the user's own."""
    habitats: tuple[str, ...] = ()
    """Habitats of both entities (`generators.prompts.habitats`); () for anywhere."""


class Triplet(NamedTuple):
    """Three sentences of one scene."""

    text: str
    correct: str
    adversarial: str


class TripletFault(NamedTuple):
    """A problem of a triplet: the rule that it breaks, and how, for the writer's next attempt."""

    rule: str
    problem: str


TripletFaults: TypeAlias = tuple[TripletFault, ...]
