"""Tests of answers given again, held to McNemar's, Fisher's and to every order of the answers."""

from itertools import permutations, product
from random import Random

import pytest
from scipy.stats import binom, hypergeom

from metrics.statistics.repeated_answers import right_count_test, same_answer_test


@pytest.mark.parametrize(("lost", "won"), [(0, 0), (6, 0), (0, 6), (9, 2), (3, 3), (1, 12)])
def test_one_answer_before_and_after_is_mcnemars_exact_test(lost, won):
    scores = [([1], [0])] * lost + [([0], [1])] * won + [([1], [1])] * 7 + [([0], [0])] * 5
    smaller = binom.cdf(min(lost, won), lost + won, 0.5)
    assert right_count_test(scores) == pytest.approx(min(1.0, 2 * smaller), rel=1e-12)


@pytest.mark.parametrize(
    ("before", "after"), [((5, 6), (1, 4)), ((0, 5), (3, 3)), ((2, 4), (1, 2))]
)
def test_one_question_is_fishers_exact_test(before, after):
    (right_before, total_before), (right_after, total_after) = before, after
    answers = [
        [1] * right + [0] * (total - right)
        for right, total in ((right_before, total_before), (right_after, total_after))
    ]
    chance = hypergeom(total_before + total_after, right_before + right_after, total_after)
    tails = chance.cdf(right_after), chance.sf(right_after - 1)
    assert right_count_test([answers]) == pytest.approx(min(1.0, 2 * min(tails)), rel=1e-12)


def _list_orders(repeats):
    """List all ways to tell earlier from later answers, all questions together."""
    return product(
        *(
            [(order[: len(before)], order[len(before) :]) for order in permutations(before + after)]
            for before, after in repeats
        )
    )


@pytest.mark.parametrize("seed", range(4))
def test_several_questions_are_all_orders_of_their_answers(seed):
    random = Random(seed)
    scores = [
        (random.choices((0, 1), k=size), random.choices((0, 1), k=4 - size)) for size in (1, 2, 3)
    ]
    counts = [sum(sum(after) for _, after in order) for order in _list_orders(scores)]
    count = sum(sum(after) for _, after in scores)
    tails = [sum(x <= count for x in counts), sum(x >= count for x in counts)]
    assert right_count_test(scores) == pytest.approx(min(1.0, 2 * min(tails) / len(counts)))

    answers = [(random.choices("abc", k=size), random.choices("abc", k=1)) for size in (1, 2, 3)]

    def count_same(order):
        return sum(before.count(answer) for before, (answer,) in order)

    fewer = [count_same(order) <= count_same(answers) for order in _list_orders(answers)]
    assert same_answer_test(answers) == pytest.approx(sum(fewer) / len(fewer))


def test_six_new_answers_of_six_that_were_steady():
    steady, new = (["a"] * 5, ["a"]), (["a"] * 5, ["b"])
    assert same_answer_test([new] * 6 + [steady] * 20) == pytest.approx(6.0**-6)
    assert same_answer_test([steady] * 20) == 1.0


def test_what_lacks_an_answer_before_or_after_says_nothing():
    lacking = [([], [1]), ([1, 1], []), ([], [])]
    assert right_count_test(lacking) == 1.0
    assert right_count_test([*lacking, ([1, 1, 1], [0])]) == pytest.approx(2 / 4)
    assert same_answer_test([([], ["a"]), (["b"], [])]) == 1.0
    assert same_answer_test([([], ["a"]), (["b"], []), (["a", "a"], ["b"])]) == pytest.approx(1 / 3)
