"""Sampling concepts from the taxonomy: by seed, without repeats, a smaller sample first."""

import json
import re
from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from hashlib import sha256
from itertools import accumulate, islice

from generators.prompts.concepts import Concept
from generators.prompts.knobs import changes
from generators.prompts.taxonomy import Cell, Scene, Taxonomy, cells

SIZES: Mapping[str, int] = {"animals": 2000, "demography": 2400, "objects": 1875}
"""How many concepts the paper has of each domain (§4)."""


class NotEnough(Exception):
    """The taxonomy has fewer concepts than are asked for; the message says how many."""


def sample(
    taxonomy: Taxonomy, domain: str, number: int | None = None, seed: int = 0
) -> Iterator[Concept]:
    """Concepts of a domain, as many as in the paper where no `number` is given.

    They are even over the cells of the taxonomy, and over its knobs, as long as these last: a knob
    that all values were drawn of leaves its share to the others. A smaller number gives the
    beginning of a larger one's; a pair that is added to the taxonomy takes its turn among the
    others, which keep theirs. Nothing but the concept at hand is held in memory.

    Raises `NotEnough`.
    """
    number = SIZES[domain] if number is None else number
    drawn = _by_cell(taxonomy, domain)
    most = sum(stratum.size for strata in drawn for stratum in strata)
    if number > most:
        raise NotEnough(
            f"{number:,} concepts of {domain} are asked for, and taxonomy.yaml has {most:,}: ask "
            "for fewer, or add pairs, environments or elements to it"
        )
    return islice(_in_turn(drawn, seed), number)


def _by_cell(taxonomy: Taxonomy, domain: str) -> list[list["_Stratum"]]:
    knobs: Sequence[str] = getattr(taxonomy, domain).knobs
    return [[_Stratum(domain, cell, knob) for knob in knobs] for cell in cells(taxonomy, domain)]


def _in_turn(drawn: list[list["_Stratum"]], seed: int) -> Iterator[Concept]:
    """One concept of each cell after another, each time of the cell's next knob."""
    drawn = sorted(drawn, key=lambda strata: _digest(f"{seed}/{strata[0].name}"))
    orders = [[_Shuffled(each.size, f"{seed}/{each.name}") for each in strata] for strata in drawn]
    knobs = len(drawn[0])
    largest = max(stratum.size for strata in drawn for stratum in strata)
    for round_ in range(largest):
        for turn in range(knobs):
            for place, strata in enumerate(drawn):
                knob = (place + turn) % knobs
                if round_ < strata[knob].size:
                    yield strata[knob].concept(orders[place][knob][round_])


class _Stratum:
    """All concepts of a cell with one knob, numbered from 0."""

    def __init__(self, domain: str, cell: Cell, knob: str) -> None:
        self._domain, self._cell, self._knob = domain, cell, knob
        self.name = f"{domain}/{_slug(cell.concept)}/{knob}"
        self._choices: list[tuple[Scene, str, tuple[tuple[str, str], ...]]] = [
            (scene, element, changes(knob, colours))
            for scene in cell.scenes
            for element, colours in scene.elements.items()
        ]
        self._ends = list(
            accumulate(
                len(cell.attributes) * len(scene.environments) * len(values)
                for scene, _, values in self._choices
            )
        )
        self.size = self._ends[-1]

    def concept(self, number: int) -> Concept:
        """The concept with a number."""
        at = bisect_right(self._ends, number)
        scene, element, values = self._choices[at]
        rest = number - (self._ends[at - 1] if at else 0)
        rest, attribute = divmod(rest, len(self._cell.attributes))
        value, environment = divmod(rest, len(scene.environments))
        return self._of(
            self._cell.attributes[attribute],
            values[value],
            element,
            scene.environments[environment],
        )

    def _of(
        self, attribute: str, values: tuple[str, str], element: str, environment: str
    ) -> Concept:
        cell = self._cell
        told = (cell.non_prototype, cell.prototype, attribute, values, element, environment)
        digest = sha256(json.dumps((self.name, cell.hypernym, *told)).encode()).hexdigest()
        return Concept(
            concept_id=f"{self.name}/{digest[:_ID_DIGITS]}",
            domain=self._domain,
            group=cell.group,
            concept=cell.concept,
            hypernym=cell.hypernym,
            non_prototype=cell.non_prototype,
            prototype=cell.prototype,
            attribute=attribute,
            socio_attribute=cell.socio_attribute,
            pole=cell.pole,
            disadvantaged=cell.disadvantaged,
            advantaged=cell.advantaged,
            labels=cell.labels,
            knob=self._knob,
            values=values,
            extra_element=element,
            environment_hint=environment,
            source=cell.source,
        )


_ID_DIGITS = 10
_WORD, _ODD = (1 << 64) - 1, 0x9E3779B97F4A7C15


class _Shuffled:
    """The numbers below `size` in an order by `key`, of which no more than one is ever held.

    A Feistel network permutes the numbers below the next power of four; one that falls outside is
    sent through again until it does not.
    """

    def __init__(self, size: int, key: str) -> None:
        self._size = size
        self._bits = ((size - 1).bit_length() + 1) // 2
        self._mask = (1 << self._bits) - 1
        digest = _digest(key)
        self._keys = [int.from_bytes(digest[at : at + 8], "big") for at in range(0, 32, 8)]

    def __getitem__(self, place: int) -> int:
        bits, mask = self._bits, self._mask
        while True:
            left, right = place >> bits, place & mask
            for key in self._keys:
                mixed = (right + key) * _ODD & _WORD
                mixed = (mixed ^ mixed >> 31) * _ODD & _WORD
                left, right = right, left ^ (mixed >> 33 & mask)
            place = left << bits | right
            if place < self._size:
                return place


def _digest(text: str) -> bytes:
    return sha256(text.encode()).digest()


def _slug(words: str) -> str:
    return re.sub(r"[^a-z0-9]+", "-", words.lower()).strip("-")
