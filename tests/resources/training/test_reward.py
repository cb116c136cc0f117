"""The reward of a pair's scores, against its formula written out over all comparisons."""

import random

import pytest

from resources.training.reward import TornPair, compute_misranked_shares, compute_rewards

pytestmark = pytest.mark.slow

SIDES = ("correct", "adversarial")


def by_hand(own, others, sign, margin, penalty):
    """The formula of one sample, comparison by comparison."""
    total = 0.0
    for other in others:
        d = sign * (own - other)
        total += (1 if d > 0 else 0) + 0.5 * min(max(d, -margin), margin) / margin
        total -= penalty * (max(0, -d) ** 2)
    return total / len(others)


@pytest.mark.parametrize(("margin", "penalty"), [(0.3, 0.5), (0.05, 0.0), (1.0, 2.0)])
def test_each_sample_is_held_against_all_of_its_partners(margin, penalty):
    lot = random.Random(7)
    sampled = {(pair, side): [lot.random() for _ in range(4)] for pair in "ab" for side in SIDES}
    rows = [(score, *where) for where, scores in sampled.items() for score in scores]
    lot.shuffle(rows)
    given = compute_rewards(*zip(*rows, strict=True), margin=margin, penalty=penalty)
    for (score, pair, side), found in zip(rows, given, strict=True):
        others = sampled[pair, SIDES[side == "correct"]]
        sign = 1 if side == "correct" else -1
        assert found == pytest.approx(by_hand(score, others, sign, margin, penalty), abs=1e-5)


def test_the_ends_of_the_scale():
    how = {"margin": 0.3, "penalty": 0.5}
    assert compute_rewards([1.0, 0.0], ["a", "a"], SIDES, **how) == [1.5, 1.5]
    assert compute_rewards([0.0, 1.0], ["a", "a"], SIDES, **how) == [-1.0, -1.0]
    assert compute_rewards([0.4, 0.4], ["a", "a"], SIDES, **how) == [0.0, 0.0]


def test_a_reply_without_a_score_costs_and_is_compared_with_nothing():
    pairs, sides = ["a"] * 4, ["correct", "correct", "adversarial", "adversarial"]
    how = {"margin": 0.3, "penalty": 0.5}
    given = compute_rewards([None, 1.0, None, 0.0], pairs, sides, **how)
    assert given == [-1.0, 1.5, -1.0, 1.5]
    assert compute_rewards([0.9, 0.9, None, None], pairs, sides, **how) == [0.0, 0.0, -1.0, -1.0]


def test_a_torn_pair_is_refused():
    with pytest.raises(TornPair, match="The pair b is torn: 1 samples of its correct and 0"):
        compute_rewards([1, 0, 1], ["a", "a", "b"], [*SIDES, "correct"], margin=0.3, penalty=0.5)


def test_ties_are_misranked():
    assert compute_misranked_shares([0.5, 0.5, 0.9, 0.1], list("aabb"), [*SIDES, *SIDES]) == [
        1.0,
        0.0,
    ]
    assert compute_misranked_shares([None, 0.5], ["a", "a"], SIDES) == []
