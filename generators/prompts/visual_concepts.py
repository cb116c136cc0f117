"""Visual concepts of FRAME's domains, and the items that are sampled from them (§4.1, Table 8).

The lists are in `visual_concepts.json`: the paper's, and ours where the paper's end in "etc.".
"""

import json
from collections.abc import Iterator, Mapping
from functools import cache
from hashlib import sha256
from heapq import nsmallest
from itertools import product
from math import prod
from pathlib import Path
from typing import NamedTuple, TypeAlias

VisualConcepts: TypeAlias = Mapping[str, str]
"""Values by attribute, in the order of Table 8, as in {"object": "Dog", "number": "two"}."""

OBJECT, NUMBER = "object", "number"
_FILE = Path(__file__).with_name("visual_concepts.json")
_INFEASIBLE: tuple[VisualConcepts, ...] = ({"time of day": "Midnight", "climate": "Sunny"},)
"""Combinations that no picture can show."""


class NotEnoughItems(ValueError):
    """A domain has fewer combinations of concepts than are asked for."""


class SampledItems(NamedTuple):
    """Items of a domain, and the number of infeasible ones that were drawn and left out."""

    items: tuple[VisualConcepts, ...]
    infeasible_count: int


@cache
def load_lists(domain: str) -> Mapping[str, Mapping[str, tuple[str, ...]]]:
    """The values of each attribute of a domain, by source: the paper's, and ours if any."""
    return {
        attribute: {source: tuple(values) for source, values in values_by_source.items()}
        for attribute, values_by_source in json.loads(_FILE.read_text("utf-8"))[domain].items()
    }


DOMAINS: tuple[str, ...] = tuple(json.loads(_FILE.read_text("utf-8")))
"""People, animals, illustration, indoor and outdoor."""


def list_values(domain: str) -> Mapping[str, tuple[str, ...]]:
    """The values of each attribute of a domain."""
    return {
        name: tuple(value for source_values in values_by_source.values() for value in source_values)
        for name, values_by_source in load_lists(domain).items()
    }


def sample_items(domain: str, count: int, seed: int) -> SampledItems:
    """The items of a domain whose rank is lowest: a hash of the seed and of its values.

    A smaller number gives the beginning of a larger one's, and a value that is added to a list
    moves no item but those that it displaces at the end. Raises `NotEnoughItems`.
    """
    values_by_attribute = list_values(domain)
    combinations = [
        dict(zip(values_by_attribute, combination, strict=True))
        for combination in product(*values_by_attribute.values())
    ]
    feasible_count = sum(map(is_feasible, combinations))
    if count > feasible_count:
        raise NotEnoughItems(
            f"{domain}: {count:,} items are asked for, and its concepts have {feasible_count:,} "
            f"combinations. Ask for {feasible_count:,} or fewer, or add values to {_FILE.name}."
        )
    needed = count + prod(map(len, values_by_attribute.values())) - feasible_count
    ranked = nsmallest(
        needed,
        combinations,
        key=lambda combination: _compute_rank(seed, domain, *combination.values()),
    )
    items, infeasible_count = list[VisualConcepts](), 0
    for combination in ranked:
        if len(items) == count:
            break
        if is_feasible(combination):
            items.append(combination)
        else:
            infeasible_count += 1
    return SampledItems(items=tuple(items), infeasible_count=infeasible_count)


def is_feasible(concepts: VisualConcepts) -> bool:
    """True if a picture can show them all at once."""
    return not any(rule.items() <= concepts.items() for rule in _INFEASIBLE)


def build_item_id(domain: str, concepts: VisualConcepts) -> str:
    """Readable, and of its contents alone, as in `animals/flamingo-3f9a2c1b`."""
    digest = sha256("/".join([domain, *concepts.values()]).encode()).hexdigest()[:8]
    return f"{domain}/{find_keyword(concepts).lower().replace(' ', '-')}-{digest}"


def find_keyword(concepts: VisualConcepts) -> str:
    """The object of an item; where it has none, as outdoors, what stands first in its list."""
    return concepts.get(OBJECT) or next(iter(concepts.values()))


def has_objects(domain: str) -> bool:
    """True if items of a domain have an object; the scenes of outdoor have none."""
    return OBJECT in load_lists(domain)


def change_concepts(domain: str, concepts: VisualConcepts, count: int, seed: int) -> dict[str, str]:
    """Change `count` of an item's concepts to other values; the item stays feasible.

    A hash of the seed and of the item decides which, and to what.
    """
    name = build_item_id(domain, concepts)
    chosen_attributes = nsmallest(
        count, concepts, key=lambda attribute: _compute_rank(seed, name, "changed", attribute)
    )
    changed_item = dict(concepts)
    for attribute in (attribute for attribute in concepts if attribute in chosen_attributes):
        changed_item[attribute] = next(
            _list_other_values(domain, changed_item, attribute, f"{seed}/{name}")
        )
    return {
        attribute: changed_item[attribute]
        for attribute in concepts
        if attribute in chosen_attributes
    }


def _list_other_values(
    domain: str, concepts: VisualConcepts, attribute: str, seed: str
) -> Iterator[str]:
    others = [value for value in list_values(domain)[attribute] if value != concepts[attribute]]
    for value in sorted(others, key=lambda value: _compute_rank(seed, attribute, value)):
        if is_feasible({**concepts, attribute: value}):
            yield value


def _compute_rank(*parts: object) -> bytes:
    return sha256("/".join(map(str, parts)).encode()).digest()
