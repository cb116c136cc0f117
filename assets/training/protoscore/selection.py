"""Which pairs are trained on, and which are held out: none that is like one that is evaluated."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple, TypeAlias

from assets.kit.limits import Placed, in_order
from assets.kit.pairs import Pair

Mark: TypeAlias = tuple[str, ...]
TRIPLET, CELL, PICTURE = "triplet", "concept, knob and place", "picture"


class Chosen(NamedTuple):
    """The pairs that are trained on, and those that are held out, each as even over domains."""

    training: Sequence[Pair]
    held_out: Sequence[Pair]


def marks_of(pair: Pair) -> Iterator[Mark]:
    """What two pairs may not have in common of which one is trained on and one is judged by."""
    yield TRIPLET, pair.concept_id
    yield (TRIPLET, pair.text, *pair.sentences)
    yield CELL, pair.domain, pair.concept, pair.knob, pair.place
    yield PICTURE, pair.correct
    yield PICTURE, pair.adversarial


def marked(pairs: Iterable[Pair]) -> dict[Mark, str]:
    """By what may not be shared: a pair that has it."""
    return {mark: named(pair) for pair in pairs for mark in marks_of(pair)}


def named(pair: Pair) -> str:
    """A pair's name among all painters."""
    return f"{pair.painter}/{pair.pair_id}"


def overlapping(
    pairs: Iterable[Pair], others: Mapping[Mark, str]
) -> Iterator[tuple[str, str, str]]:
    """The pairs that share something with others: their name, what it is, and with which one."""
    for pair in pairs:
        for mark in marks_of(pair):
            if mark in others:
                yield named(pair), mark[0], others[mark]
                break


def choose(pairs: Sequence[Pair], number: int, held_out: int) -> Chosen:
    """So many pairs to train on and to hold out, or as many as there are, even over domains.

    None is like one that is evaluated, nor is one of the first like one of the others. What is
    held out is chosen first, distinct sentences before further samples of the same.
    """
    evaluated = marked(pair for pair in pairs if pair.evaluated)
    free = [
        pair
        for pair in pairs
        if not pair.evaluated and not any(mark in evaluated for mark in marks_of(pair))
    ]
    held = _even(free, held_out)
    apart = marked(held)
    rest = [pair for pair in free if not any(mark in apart for mark in marks_of(pair))]
    return Chosen(_even(rest, number), held)


def _even(pairs: Sequence[Pair], number: int) -> list[Pair]:
    """The first so many, as many of each domain as of the one that has the fewest."""
    by_domain: dict[str, list[Pair]] = defaultdict(list)
    for pair in pairs:
        by_domain[pair.domain].append(pair)
    if not by_domain:
        return []
    each = min(-(-number // len(by_domain)), *map(len, by_domain.values()), len(pairs))
    chosen = [
        pair for domain in sorted(by_domain) for pair in in_order(by_domain[domain], _place)[:each]
    ]
    return chosen[:number]


def _place(pair: Pair) -> Placed:
    return Placed(named(pair), (pair.painter, pair.knob, pair.concept), pair.sample)
