"""What a limit leaves: even, and the same for everybody, a smaller one part of a larger one."""

import random
from collections import Counter
from itertools import pairwise, product

import pytest

from assets.kit.limits import SamplingKey, expected_subset, stratified_head

ITEMS = [
    SamplingKey(f"{subtopic}/{size}/{question}/{number}", (subtopic, size, question))
    for subtopic, number_of in (("stars", 30), ("stripes", 14), ("arcs", 9))
    for size, question, number in product(("384", "768", "1152"), ("Q1", "Q2"), range(number_of))
]


def _first(limit, items=ITEMS):
    return stratified_head(items, limit, lambda item: item)


@pytest.mark.parametrize("limit", [1, 2, 7, 18, 20, 100])
@pytest.mark.parametrize("dimension", [0, 1, 2])
def test_it_is_spread_evenly(limit, dimension):
    values = {item.strata[dimension] for item in ITEMS}
    counts = Counter(item.strata[dimension] for item in _first(limit))
    assert counts.total() == limit
    assert max(counts.values()) - min(counts[value] for value in values) <= 1


def test_what_runs_out_leaves_the_rest_to_others():
    counts = Counter(item.strata[0] for item in _first(200))
    assert counts == {"arcs": 54, "stars": 73, "stripes": 73}


def test_a_smaller_one_is_part_of_a_larger_one_and_in_the_order_of_the_items():
    found = [_first(limit) for limit in range(1, len(ITEMS), 13)]
    assert all(set(some) < set(more) for some, more in pairwise(found))
    assert all(some == [item for item in ITEMS if item in some] for some in found)
    assert _first(None) == _first(10_000) == ITEMS


def test_it_is_the_same_in_whatever_order_the_items_come():
    shuffled = random.Random(0).sample(ITEMS, len(ITEMS))
    assert set(_first(50, shuffled)) == set(_first(50))


def test_what_has_the_lower_turn_comes_first():
    pairs = [SamplingKey(f"{name}/{turn}", ("all",), turn) for turn in range(3) for name in "abcd"]
    assert {pair.priority for pair in _first(4, pairs)} == {0}
    assert [pair for pair in _first(6, pairs) if not pair.priority] == pairs[:4]
    rare = [SamplingKey("e/0", ("rare",)), SamplingKey("e/1", ("rare",), 1), *pairs]
    assert {pair.priority for pair in _first(5, rare)} == {0}, "even where a value runs out"


def test_a_part_is_known_from_a_whole_that_lacks_something():
    def part(there):
        return expected_subset(ITEMS, {item.name for item in there}, lambda item: item)

    assert part(_first(20)) == _first(20)
    assert part(ITEMS) == ITEMS
    assert part([]) == ITEMS
    assert part(_first(20)[1:]) == ITEMS
    assert part(ITEMS[1:]) == ITEMS
