"""Differences between each two of several judges, on the questions that both have answered.

Most of what makes two judges' rates uncertain is which scenes there are, and both saw the same: the
difference of each question's two scores is known better than two rates apart. The interval is that
of a paired difference over scenes (`metrics.statistics.paired_intervals`), the p-value of a
sign-flip test of scenes (`metrics.statistics.sign_flips`), corrected for all pairs (Holm).
"""

from collections.abc import Iterator, Sequence
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from metrics.statistics.paired_intervals import paired_interval
from metrics.statistics.sign_flips import correct_by_holm, sign_flip_test

COUNTS = ("topics", "scenes", "questions")
Names = NDArray[np.generic]


def compare_columns(
    scores: pd.DataFrame, names: Sequence[str], clusters: Names, strata: Names, *, seed: int = 0
) -> Iterator[dict[str, Any]]:
    """Compute a record for each two of the columns `names`, in their order.

    `scores` has a row for each question and a column for each judge, NaN without an answer;
    `clusters` names the scene of each row, `strata` its topic. `difference` is the score of `first`
    less that of `second`: the mean over topics of the questions that both have answered, which
    `topics`, `scenes` and `questions` count. `low` and `high` are the ends of its 95 % interval;
    `p` is of the sign-flip test, and `p_holm` is corrected for all pairs. Numbers are NaN where the
    two have no question in common.
    """
    comparisons = [
        {"first": first, "second": second}
        | _compare((scores[first] - scores[second]).to_numpy(float), clusters, strata, seed)
        for first, second in combinations(names, 2)
    ]
    corrected = correct_by_holm([comparison["p"] for comparison in comparisons])
    for comparison, p in zip(comparisons, corrected, strict=True):
        yield comparison | {"p_holm": p}


def _compare(
    differences: NDArray[np.float64], clusters: Names, strata: Names, seed: int
) -> dict[str, float]:
    """The mean over topics of a question's differences, NaN where it was not answered twice."""
    is_compared = ~np.isnan(differences)
    values = differences[is_compared]
    topics = pd.factorize(strata[is_compared], sort=True)[0]
    scenes = pd.factorize(clusters[is_compared], sort=True)[0]
    counts = (len(np.unique(topics)), len(np.unique(scenes)), len(values))
    numbers: dict[str, float] = dict(zip(COUNTS, counts, strict=True))
    if not len(values):
        return numbers | dict.fromkeys(("difference", "low", "high", "p"), float("nan"))
    low, high = paired_interval(values, scenes, topics, seed=seed)
    means = np.bincount(topics, values) / np.bincount(topics)
    return numbers | {
        "difference": float(means.mean()),
        "low": low,
        "high": high,
        "p": sign_flip_test(values, scenes, topics, seed=seed),
    }
