"""Accuracy on new pictures less that on a set's, over pairs of one design.

A judge that has seen neither set does equally well on both, as a seed has chosen at random which
places are the set's and which are new. Both scenes of a pair have the same design; pairs at the
same two places share what is easy or hard about these, so that the places are resampled
(`metrics.statistics.paired_intervals`) and their signs flipped (`metrics.statistics.sign_flips`).
With equal judges a place's difference is as likely to have the other sign: the test is of just
that. p-values are corrected by Holm for all judges, so that the chance that any judge who has seen
neither set is accused stays below the level, however many are compared.
"""

from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from metrics.statistics.paired_intervals import paired_interval
from metrics.statistics.sign_flips import correct_by_holm, sign_flip_test
from metrics.vlmbias.answer_arrays import TASK_MEAN

_COUNTS = ["places", "scenes", "questions", "readable"]
_NUMBERS = ["released", "fresh", "difference", "low", "high", "least", "most", "p"]
_COLUMNS = ["model", "topic", *_COUNTS, *_NUMBERS, "p_holm"]

Values = NDArray[np.float64]


def reroll_table(pairs: pd.DataFrame, *, seed: int = 0) -> pd.DataFrame:
    """Compute one row for each judge and topic, and for each judge the mean over its topics.

    `pairs` has a row per judge and pair of questions: `model`, `domain` (the topic), `places`
    (unique in a topic), `scene`, `released_score` and `fresh_score` (0 or 1, null where a picture
    has no score), `released_outcome` and `fresh_outcome`.

    `released` and `fresh` are accuracies, over the questions that have a score on both sides, and
    `difference` is `fresh` less `released`, with its 95 % interval from `low` to `high`. `least`
    and `most` bound the difference over all questions, whatever the missing scores are. `readable`
    counts the questions with readable answers on both sides. Topic `task mean` counts each topic
    alike; `p` is there alone, and `p_holm` is corrected for all judges. Numbers are NaN where a
    judge has no question with both scores, of any topic for the mean.
    """
    records: list[dict[str, Any]] = []
    for model, rows in pairs.groupby("model", sort=False):
        for topic, topic_rows in rows.groupby("domain", sort=False):
            records.append({"model": model, "topic": topic, **_compare(topic_rows, seed)})
        records.append({"model": model, "topic": TASK_MEAN, **_compare(rows, seed)})
    table = pd.DataFrame(records, columns=_COLUMNS)
    is_mean = table["topic"].eq(TASK_MEAN)
    table["p"] = table["p"].where(is_mean)
    table["p_holm"] = correct_by_holm(table["p"])
    return table


def _compare(rows: pd.DataFrame, seed: int) -> dict[str, Any]:
    released, fresh = (
        np.asarray(rows[name], np.float64) for name in ("released_score", "fresh_score")
    )
    topics = rows["domain"].factorize(sort=True)[0]
    places = rows.groupby(["domain", "places"]).ngroup().to_numpy()
    is_readable = rows["released_outcome"].eq("answered") & rows["fresh_outcome"].eq("answered")
    differences = fresh - released
    is_scored = ~np.isnan(differences)
    numbers: dict[str, Any] = {
        "places": len(np.unique(places[is_scored])),
        "scenes": int(rows.loc[is_scored, "scene"].nunique()),
        "questions": len(rows),
        "readable": int(is_readable.sum()),
        "least": _mean(np.nan_to_num(fresh) - np.nan_to_num(released, nan=1.0), topics),
        "most": _mean(np.nan_to_num(fresh, nan=1.0) - np.nan_to_num(released), topics),
    }
    if len(np.unique(topics[is_scored])) < len(np.unique(topics)):
        return numbers | {"p": np.nan}
    low, high = paired_interval(differences, places, topics, seed=seed)
    return numbers | {
        "released": _mean(released[is_scored], topics[is_scored]),
        "fresh": _mean(fresh[is_scored], topics[is_scored]),
        "difference": _mean(differences[is_scored], topics[is_scored]),
        "low": low,
        "high": high,
        "p": sign_flip_test(differences, places, topics, seed=seed),
    }


def _mean(values: Values, topics: NDArray[np.integer[Any]]) -> float:
    """The mean over topics of the means of their values."""
    sums, counts = np.bincount(topics, values), np.bincount(topics)
    return float(np.mean(sums / counts))
