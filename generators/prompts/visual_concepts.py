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

Concepts: TypeAlias = Mapping[str, str]
"""By attribute, in the order of Table 8: its value, as in {"object": "Dog", "number": "two"}."""

OBJECT, NUMBER = "object", "number"
_FILE = Path(__file__).with_name("visual_concepts.json")
_INFEASIBLE: tuple[Concepts, ...] = ({"time of day": "Midnight", "climate": "Sunny"},)
"""What no picture can show at once."""


class NotEnough(ValueError):
    """A domain has fewer combinations of concepts than are asked for."""


class Drawn(NamedTuple):
    """Items of a domain, and how many that could not be painted were drawn and left out."""

    items: tuple[Concepts, ...]
    infeasible: int


@cache
def lists(domain: str) -> Mapping[str, Mapping[str, tuple[str, ...]]]:
    """By attribute of a domain: the values that are the paper's, and ours where there are such."""
    return {
        attribute: {whose: tuple(values) for whose, values in by.items()}
        for attribute, by in json.loads(_FILE.read_text("utf-8"))[domain].items()
    }


DOMAINS: tuple[str, ...] = tuple(json.loads(_FILE.read_text("utf-8")))
"""People, animals, illustration, indoor and outdoor."""


def values(domain: str) -> Mapping[str, tuple[str, ...]]:
    """By attribute of a domain: every value it can have."""
    return {name: tuple(v for by in of.values() for v in by) for name, of in lists(domain).items()}


def sample(domain: str, number: int, seed: int) -> Drawn:
    """The items of a domain whose rank is lowest: a hash of the seed and of what the item says.

    A smaller number gives the beginning of a larger one's, and a value that is added to a list
    moves no item but those that it displaces at the end. Raises `NotEnough`.
    """
    lot = values(domain)
    every = [dict(zip(lot, each, strict=True)) for each in product(*lot.values())]
    feasible = sum(map(is_feasible, every))
    if number > feasible:
        raise NotEnough(
            f"{domain}: {number:,} items are asked for, and its concepts have {feasible:,} "
            f"combinations. Ask for {feasible:,} or fewer, or add values to {_FILE.name}."
        )
    most = number + prod(map(len, lot.values())) - feasible
    ranked = nsmallest(most, every, key=lambda each: _rank(seed, domain, *each.values()))
    drawn, infeasible = list[Concepts](), 0
    for each in ranked:
        if len(drawn) == number:
            break
        if is_feasible(each):
            drawn.append(each)
        else:
            infeasible += 1
    return Drawn(tuple(drawn), infeasible)


def is_feasible(concepts: Concepts) -> bool:
    """Whether a picture can show them all at once."""
    return not any(rule.items() <= concepts.items() for rule in _INFEASIBLE)


def item_id(domain: str, concepts: Concepts) -> str:
    """Readable, and of its contents alone, as in `animals/flamingo-3f9a2c1b`."""
    digest = sha256("/".join([domain, *concepts.values()]).encode()).hexdigest()[:8]
    return f"{domain}/{keyword(concepts).lower().replace(' ', '-')}-{digest}"


def keyword(concepts: Concepts) -> str:
    """The object of an item; where it has none, as outdoors, what stands first in its list."""
    return concepts.get(OBJECT) or next(iter(concepts.values()))


def has_objects(domain: str) -> bool:
    """Whether items of a domain have an object; the scenes of outdoor have none."""
    return OBJECT in lists(domain)


def changed(domain: str, concepts: Concepts, number: int, seed: int) -> dict[str, str]:
    """So many of an item's concepts, each with another value; all of it is still feasible.

    Which ones, and to what, is decided by a hash of the seed and of the item.
    """
    name = item_id(domain, concepts)
    chosen = nsmallest(number, concepts, key=lambda each: _rank(seed, name, "changed", each))
    found = dict(concepts)
    for attribute in (each for each in concepts if each in chosen):
        found[attribute] = next(_others(domain, found, attribute, f"{seed}/{name}"))
    return {attribute: found[attribute] for attribute in concepts if attribute in chosen}


def _others(domain: str, concepts: Concepts, attribute: str, seed: str) -> Iterator[str]:
    others = [each for each in values(domain)[attribute] if each != concepts[attribute]]
    for value in sorted(others, key=lambda each: _rank(seed, attribute, each)):
        if is_feasible({**concepts, attribute: value}):
            yield value


def _rank(*parts: object) -> bytes:
    return sha256("/".join(map(str, parts)).encode()).digest()
