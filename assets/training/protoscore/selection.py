"""Selection of training and held-out pairs: none that resembles an evaluated pair."""

from collections import defaultdict
from collections.abc import Sequence
from typing import NamedTuple

from assets.kit.limits import SamplingKey, stratified_order
from assets.kit.pair_marks import build_marks, format_pair_name, index_by_mark
from assets.kit.pairs import TrainingPair


class PairSplit(NamedTuple):
    """The pairs that are trained on, and those that are held out, each as even over domains."""

    training: Sequence[TrainingPair]
    held_out: Sequence[TrainingPair]


def split_pairs(pairs: Sequence[TrainingPair], number: int, held_out: int) -> PairSplit:
    """Select pairs to train on and to hold out, even over domains.

    None is like one that is evaluated, nor is one of the first like one of the others. What is
    held out is chosen first, distinct sentences before further samples of the same.
    """
    evaluated = index_by_mark(pair for pair in pairs if pair.evaluated)
    eligible_pairs = [
        pair
        for pair in pairs
        if not pair.evaluated and not any(mark in evaluated for mark in build_marks(pair))
    ]
    held_out_pairs = _balance_domains(eligible_pairs, held_out)
    held_out_marks = index_by_mark(held_out_pairs)
    remaining_pairs = [
        pair
        for pair in eligible_pairs
        if not any(mark in held_out_marks for mark in build_marks(pair))
    ]
    return PairSplit(_balance_domains(remaining_pairs, number), held_out_pairs)


def _balance_domains(pairs: Sequence[TrainingPair], number: int) -> list[TrainingPair]:
    """The first so many, as many of each domain as of the one that has the fewest."""
    by_domain: dict[str, list[TrainingPair]] = defaultdict(list)
    for pair in pairs:
        by_domain[pair.domain].append(pair)
    if not by_domain:
        return []
    per_domain = min(-(-number // len(by_domain)), *map(len, by_domain.values()), len(pairs))
    chosen = [
        pair
        for domain in sorted(by_domain)
        for pair in stratified_order(by_domain[domain], _place)[:per_domain]
    ]
    return chosen[:number]


def _place(pair: TrainingPair) -> SamplingKey:
    return SamplingKey(format_pair_name(pair), (pair.painter, pair.knob, pair.concept), pair.sample)
