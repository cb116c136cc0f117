"""Differences between new pictures and the set's: by hand, and against all flips of signs."""

from itertools import product

import numpy as np
import pandas as pd
import pytest
from scipy.stats import beta

from metrics import TASK_MEAN, reroll_table
from metrics.statistics.paired_intervals import paired_interval


def pairs(model, scores, domain="grids"):
    """Rows of a judge: by places, the scores of the set and of the new pictures."""
    return [
        {
            "model": model,
            "domain": domain,
            "places": places,
            "scene": f"{domain} {places} {number // 2}",
            "released_score": released,
            "fresh_score": fresh,
            "released_outcome": "refused" if released is None else "answered",
            "fresh_outcome": "unparsed"
            if fresh == -1
            else "failed"
            if fresh is None
            else "answered",
        }
        for places, rows in enumerate(scores)
        for number, (released, fresh) in enumerate(rows)
    ]


def compare(*rows):
    table = pd.DataFrame([row for part in rows for row in part])
    return reroll_table(table).set_index(["model", "topic"])


def test_numbers_by_hand():
    rows = (
        pairs("one", [[(1, 0), (1, 1), (0, 0)], [(1, 1)]]),
        pairs("one", [[(0, 1), (1, 0)]], "chess"),
    )
    table = compare(*rows)
    assert [topic for _, topic in table.index] == ["grids", "chess", TASK_MEAN]
    grids, chess, mean = (table.loc[("one", topic)] for topic in ("grids", "chess", TASK_MEAN))
    assert tuple(grids[["places", "scenes", "questions", "readable"]]) == (2, 3, 4, 4)
    assert tuple(grids[["released", "fresh", "difference"]]) == (0.75, 0.5, -0.25)
    assert tuple(chess[["released", "fresh", "difference"]]) == (0.5, 0.5, 0.0)
    assert tuple(mean[["released", "fresh", "difference"]]) == (0.625, 0.5, -0.125)
    assert tuple(mean[["places", "scenes", "questions", "readable"]]) == (3, 4, 6, 6)
    assert tuple(mean[["least", "most"]]) == (-0.125, -0.125)
    assert np.isnan([grids["p"], grids["p_holm"], chess["p"]]).all()
    differences, places, topics = [-1, 0, 0, 0, 1, -1], [1, 1, 1, 2, 0, 0], [1, 1, 1, 1, 0, 0]
    expected = paired_interval(differences, places, topics, seed=0)
    assert (mean["low"], mean["high"]) == expected


def test_missing_scores_are_bounded_and_never_zero():
    scores = [[(1, None), (None, 0), (1, 1), (None, None)], [(1, 0)]]
    row = compare(pairs("one", scores)).loc[("one", "grids")]
    assert tuple(row[["released", "fresh", "difference"]]) == (1.0, 0.5, -0.5)
    assert tuple(row[["places", "scenes", "questions", "readable"]]) == (2, 2, 5, 2)
    # Each missing score at its worst, and at its best.
    assert row["least"] == (-1 - 1 + 0 - 1 - 1) / 5
    assert row["most"] == (0 + 0 + 0 + 1 - 1) / 5


def test_an_unparsed_answer_is_wrong_and_not_readable():
    rows = pairs("one", [[(1, 1)], [(1, 1)]])
    rows[0] |= {"fresh_score": 0, "fresh_outcome": "unparsed"}
    row = compare(rows).loc[("one", "grids")]
    assert (row["fresh"], row["readable"]) == (0.5, 1)


def test_without_a_pair_in_a_topic_there_is_no_mean():
    table = compare(pairs("one", [[(1, None)]]), pairs("one", [[(1, 0)], [(1, 0)]], "chess"))
    assert (
        table.loc[("one", TASK_MEAN), ["released", "difference", "low", "p", "p_holm"]].isna().all()
    )
    assert tuple(table.loc[("one", TASK_MEAN), ["least", "most"]]) == (-1.0, -0.5)
    assert table.loc[("one", "chess"), "difference"] == -1
    # All of two places fell: Clopper and Pearson's bound of none in two, at this end of the scale.
    bound = beta.ppf(0.975, 1, 2)
    assert table.loc[("one", "chess"), "high"] == pytest.approx(-1 + 2 * bound)


def test_the_test_flips_places_and_holm_counts_the_judges():
    generator = np.random.default_rng(3)
    falls = [[(1, int(score)) for score in generator.integers(0, 2, 4)] for _ in range(9)]
    same = [[(1, 1), (0, 0)] for _ in range(9)]
    table = compare(pairs("falls", falls), pairs("same", same))
    sums = np.array([sum(fresh - released for released, fresh in rows) for rows in falls])
    flipped = np.array([*product((-1, 1), repeat=9)]) @ sums
    exact = (np.abs(flipped) >= abs(sums.sum())).mean()
    means = table.xs(TASK_MEAN, level="topic")
    assert means.loc["falls", "p"] == pytest.approx(exact, abs=0.004)
    assert means.loc["falls", "p_holm"] == pytest.approx(2 * means.loc["falls", "p"])
    assert tuple(means.loc["same", ["p", "p_holm", "difference"]]) == (1.0, 1.0, 0.0)


def test_places_of_two_topics_are_not_one():
    table = compare(pairs("one", [[(1, 0)]] * 6), pairs("one", [[(1, 0)]] * 6, "chess"))
    # Of all 2^12 flips, two are as far from 0; of 2^6 there would be 1 in 32.
    assert table.loc[("one", TASK_MEAN), "p"] < 0.005
