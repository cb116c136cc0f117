"""Sampling concepts from the taxonomy: by seed, without repeats, a smaller sample first."""

import json
import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from hashlib import sha256
from itertools import accumulate, islice

import numpy as np
from numpy.typing import NDArray

from generators.prompts.concepts import Concept
from generators.prompts.taxonomy import Taxonomy, TaxonomyCell, TaxonomyScene, list_taxonomy_cells

SIZES: Mapping[str, int] = {"animals": 2000, "demography": 2400, "objects": 1875}
"""The number of the paper's concepts in each domain (§4)."""


class NotEnoughConcepts(Exception):
    """The taxonomy has fewer concepts than are asked for; the message says how many."""


def sample_concepts(
    taxonomy: Taxonomy,
    domain: str,
    count: int | None = None,
    seed: int = 0,
    kept_concepts: Sequence[Concept] = (),
) -> Iterator[Concept]:
    """Concepts of a domain, as many as in the paper where no `count` is given.

    They are even over the cells of the taxonomy, and over its knobs, as long as these last: a knob
    that all values were drawn of leaves its share to the others. A smaller number gives the
    beginning of a larger one's.

    Of a cell and knob those concepts are drawn whose rank is lowest, a hash of the seed and of what
    the concept says. So what is added to the taxonomy takes the places that its own concepts win,
    which is its share of all, and no other concept comes or goes.

    `kept_concepts` come from `find_existing`, none twice: the sample begins with them, in order,
    and is filled up where cells and knobs lack concepts.

    Raises `NotEnoughConcepts`.
    """
    count = SIZES[domain] if count is None else count
    strata_by_cell = _list_strata(taxonomy, domain)
    available = sum(stratum.size for strata in strata_by_cell for stratum in strata)
    if count > available:
        raise NotEnoughConcepts(
            f"{count:,} concepts of {domain} are asked for, and taxonomy.yaml has {available:,}: "
            "ask for fewer, or add pairs, environments or elements to it"
        )
    return islice(_draw_concepts(strata_by_cell, count, seed, kept_concepts), count)


def find_existing(
    taxonomy: Taxonomy, domain: str, concepts: Iterable[Concept]
) -> Iterator[Concept]:
    """The concepts that the taxonomy still has, of those given, as it describes them now."""
    strata = {
        stratum.name: stratum
        for cell_strata in _list_strata(taxonomy, domain)
        for stratum in cell_strata
    }
    for concept in concepts:
        stratum = strata.get(concept.concept_id.rpartition("/")[0])
        current = None if stratum is None else stratum.like(concept)
        if current is not None and current.concept_id == concept.concept_id:
            yield current


def _list_strata(taxonomy: Taxonomy, domain: str) -> list[list["_Stratum"]]:
    knobs: Sequence[str] = getattr(taxonomy, domain).knobs
    return [
        [_Stratum(domain, cell, knob) for knob in knobs]
        for cell in list_taxonomy_cells(taxonomy, domain)
    ]


def _draw_concepts(
    strata_by_cell: list[list["_Stratum"]], count: int, seed: int, kept_concepts: Sequence[Concept]
) -> Iterator[Concept]:
    yield from kept_concepts
    kept_counts = Counter(concept.concept_id.rpartition("/")[0] for concept in kept_concepts)
    kept_ids = {concept.concept_id for concept in kept_concepts}
    sizes = [
        (kept_counts[stratum.name], stratum.size) for strata in strata_by_cell for stratum in strata
    ]
    rounds = _count_rounds(sizes, count)
    turns = sorted((_hash_text(f"{seed}/{strata[0].cell}"), strata) for strata in strata_by_cell)
    remaining = {
        stratum.name: stratum.concepts(seed, rounds + kept_counts[stratum.name], kept_ids)
        for strata in strata_by_cell
        for stratum in strata
    }
    knob_count = len(strata_by_cell[0])
    for round_ in range(rounds):
        for turn in range(knob_count):
            for digest, strata in turns:
                name = strata[(digest[0] + turn) % knob_count].name
                if round_ >= kept_counts[name]:
                    yield from islice(remaining[name], 1)


def _count_rounds(sizes: Sequence[tuple[int, int]], count: int) -> int:
    """The concepts that each stratum has to give, where it has them, for `count` in all."""
    low, high = 0, max(size for _, size in sizes)
    while low < high:
        middle = (low + high) // 2
        if sum(max(kept_count, min(size, middle)) for kept_count, size in sizes) < count:
            low = middle + 1
        else:
            high = middle
    return low


class _Stratum:
    """The concepts of a cell with one knob, numbered from 0."""

    def __init__(self, domain: str, cell: TaxonomyCell, knob: str) -> None:
        self._domain, self._cell, self._knob = domain, cell, knob
        self.cell = f"{domain}/{to_slug(cell.concept)}"
        self.name = f"{self.cell}/{knob}"
        self._choices: list[tuple[TaxonomyScene, str, tuple[tuple[str, str], ...]]] = [
            (scene, element, scene.list_changes(knob, element))
            for scene in cell.scenes
            for element in scene.elements
        ]
        self._cumulative_counts = list(
            accumulate(
                len(cell.attributes) * len(scene.environments) * len(values)
                for scene, _, values in self._choices
            )
        )
        self.size = self._cumulative_counts[-1]

    def concepts(self, seed: int, count: int, excluded_ids: Collection[str]) -> Iterator[Concept]:
        """The `count` concepts of lowest rank, in that order, without the excluded ids."""
        for place in self._find_lowest(f"{seed}/{self.name}", count):
            concept = self._build_concept_by_number(int(place))
            if concept.concept_id not in excluded_ids:
                yield concept

    def like(self, concept: Concept) -> Concept | None:
        """The concept that says the same; None where the taxonomy has none."""
        for scene, element, values in self._choices:
            if (
                element == concept.extra_element
                and concept.values in values
                and concept.environment_hint in scene.environments
                and concept.attribute in self._cell.attributes
            ):
                return self._build_concept(
                    concept.attribute, concept.values, element, concept.environment_hint
                )
        return None

    def _find_lowest(self, key: str, count: int) -> NDArray[np.intp]:
        """The places of the concepts of lowest rank by `key`, in order."""
        ranks = np.concatenate([*self._compute_ranks(key)])
        if count < self.size:
            lowest = np.argpartition(ranks, count)[:count]
            return np.asarray(lowest[np.argsort(ranks[lowest])])
        return np.argsort(ranks)

    def _compute_ranks(self, key: str) -> Iterator[NDArray[np.uint64]]:
        """The ranks of each choice's concepts: a hash of one word after the other, by `key`."""
        attributes = _hash_texts(self._cell.attributes)
        for scene, element, values in self._choices:
            element_hashes = _hash_texts(
                tuple(f"{element}/{shown}/{changed}" for shown, changed in values)
            )
            ranks = _mix_bits(element_hashes ^ _hash_texts((key,)))
            ranks = _mix_bits(ranks[:, None] ^ _hash_texts(scene.environments))
            yield _mix_bits(ranks[:, :, None] ^ attributes).ravel()

    def _build_concept_by_number(self, number: int) -> Concept:
        choice_index = bisect_right(self._cumulative_counts, number)
        scene, element, values = self._choices[choice_index]
        rest = number - (self._cumulative_counts[choice_index - 1] if choice_index else 0)
        rest, attribute = divmod(rest, len(self._cell.attributes))
        value, environment = divmod(rest, len(scene.environments))
        return self._build_concept(
            self._cell.attributes[attribute],
            values[value],
            element,
            scene.environments[environment],
        )

    def _build_concept(
        self, attribute: str, values: tuple[str, str], element: str, environment: str
    ) -> Concept:
        cell = self._cell
        contents = (cell.non_prototype, cell.prototype, attribute, values, element, environment)
        digest = sha256(json.dumps((self.name, cell.hypernym, *contents)).encode()).hexdigest()
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
            habitats=cell.habitats,
        )


_ID_DIGITS = 10
_ODD, _EVEN = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)


def _mix_bits(words: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Mix the bits of each word (the finalizer of SplitMix64)."""
    words = (words ^ words >> np.uint64(30)) * _ODD
    words = (words ^ words >> np.uint64(27)) * _EVEN
    return words ^ words >> np.uint64(31)


@lru_cache(maxsize=4096)
def _hash_texts(texts: tuple[str, ...]) -> NDArray[np.uint64]:
    """A word for each text, the same on every machine."""
    words = np.frombuffer(b"".join(_hash_text(text)[:8] for text in texts), dtype=">u8")
    return words.astype(np.uint64)


def _hash_text(text: str) -> bytes:
    return sha256(text.encode()).digest()


def to_slug(words: str) -> str:
    """Words as a part of an id, as in `bean-bag-chair`."""
    return re.sub(r"[^a-z0-9]+", "-", words.lower()).strip("-")
