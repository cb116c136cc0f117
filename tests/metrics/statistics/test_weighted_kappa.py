"""Quadratic weighted kappa, against one written out by hand that gives published values."""

import numpy as np
import pandas as pd
import pytest

from metrics.statistics.weighted_kappa import pairwise_agreement, quadratic_weighted_kappa

COUPLES = [[7, 7, 2, 3], [2, 8, 3, 7], [1, 5, 4, 9], [2, 8, 9, 14]]
"""91 couples on a scale of four (Agresti, Categorical Data Analysis; vcd's SexualFun)."""


def by_hand(table, weight):
    """1 - observed over expected disagreement, cell by cell."""
    total = sum(map(sum, table))
    rows = [sum(row) for row in table]
    columns = [sum(column) for column in zip(*table, strict=True)]
    cells = [(i, j) for i in range(len(rows)) for j in range(len(columns))]
    observed = sum(weight(i, j) * table[i][j] / total for i, j in cells)
    expected = sum(weight(i, j) * rows[i] * columns[j] / total**2 for i, j in cells)
    return 1 - observed / expected


def scores_in(table):
    """The two annotators' scores, 1 to 4, that a table counts."""
    cells = [
        (i + 1, j + 1) for i, row in enumerate(table) for j, n in enumerate(row) for _ in [0] * n
    ]
    first, second = zip(*cells, strict=True)
    return list(first), list(second)


def annotated(**by):
    """A table of scores, each annotator's in the order of the pictures; two to a prompt."""
    rows = [
        {"image_id": f"i{n}", "concept_id": f"c{n // 2}", "annotator": who, "score": score}
        for who, scores in by.items()
        for n, score in enumerate(scores)
        if score
    ]
    return pd.DataFrame(rows, columns=["image_id", "concept_id", "annotator", "score"])


def test_the_hand_gives_the_published_values():
    assert by_hand(COUPLES, lambda i, j: i != j) == pytest.approx(0.1293, abs=5e-5)
    assert by_hand(COUPLES, lambda i, j: abs(i - j)) == pytest.approx(0.2374, abs=5e-5)


def test_kappa_is_that_of_the_hand():
    tables = [COUPLES, *np.random.default_rng(0).integers(0, 9, (30, 4, 4)).tolist()]
    for table in tables:
        kappa = quadratic_weighted_kappa(*scores_in(table))
        assert kappa == pytest.approx(by_hand(table, lambda i, j: (i - j) ** 2))


@pytest.mark.parametrize(
    ("first", "second", "kappa"),
    [
        ([1, 2, 3, 4], [1, 2, 3, 4], 1.0),
        ([1, 4], [4, 1], -1.0),
        ([3, 3, 3], [4, 4, 4], 0.0),
        ([3, 3, 3], [1, 2, 4], 0.0),
        ([3, 3, 3], [3, 3, 3], None),
        ([], [], None),
    ],
)
def test_it_is_undefined_where_nothing_is_told_apart(first, second, kappa):
    assert quadratic_weighted_kappa(first, second) == kappa


def test_each_pair_is_compared_on_what_both_scored():
    first, second = scores_in(COUPLES)
    third = [0] * 90 + [2]
    found = {
        (each.first, each.second): each
        for each in pairwise_agreement(annotated(b=second, a=first, c=third), seed=0)
    }
    assert list(found) == [("a", "b"), ("a", "c"), ("b", "c")]
    both = found["a", "b"]
    assert (both.images, both.kappa) == (91, quadratic_weighted_kappa(first, second))
    assert both.interval.low < both.kappa < both.interval.high
    assert (found["a", "c"].images, found["a", "c"].kappa) == (1, 0.0)


@pytest.mark.parametrize(
    ("by", "why"),
    [
        ({"a": [4, 4], "b": [4, 4]}, "both gave 4 to every picture"),
        ({"a": [4, 0], "b": [0, 4]}, "no picture was scored by both"),
    ],
)
def test_it_says_why_there_is_none(by, why):
    (found,) = pairwise_agreement(annotated(**by), seed=0)
    assert (found.kappa, found.interval, found.reason) == (None, None, why)
    images = sum(a > 0 < b for a, b in zip(by["a"], by["b"], strict=True))
    assert (found.first, found.second, found.images) == ("a", "b", images)


def test_one_annotator_or_none_agree_with_nobody():
    assert pairwise_agreement(annotated(a=[1, 2]), seed=0) == []
    assert pairwise_agreement(annotated(), seed=0) == []


def test_prompts_are_resampled_whole():
    """Copies of the same two pictures of a prompt are no further facts."""
    first, second = scores_in(COUPLES)
    (once,) = pairwise_agreement(annotated(a=first, b=second), seed=0)
    again = annotated(a=first, b=second)
    copies = again.assign(image_id=again["image_id"] + "'")
    (twice,) = pairwise_agreement(pd.concat([again, copies]), seed=0)
    assert twice.kappa == pytest.approx(once.kappa)
    assert twice.interval == pytest.approx(once.interval)
    assert pairwise_agreement(annotated(a=[1, 2, 3, 4], b=[1, 2, 3, 4]), seed=0)[0].interval is None
