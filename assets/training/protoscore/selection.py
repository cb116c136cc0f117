"""Which pairs are trained on, and which are held out: none that is like one that is evaluated."""

from collections import defaultdict
from collections.abc import Sequence
from typing import NamedTuple

from assets.kit.limits import Placed, in_order
from assets.kit.pair_marks import marked, marks_of, named
from assets.kit.pairs import Pair


class Chosen(NamedTuple):
    """The pairs that are trained on, and those that are held out, each as even over domains."""

    training: Sequence[Pair]
    held_out: Sequence[Pair]


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
    taken = marked(held)
    rest = [pair for pair in free if not any(mark in taken for mark in marks_of(pair))]
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
