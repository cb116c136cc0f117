"""Differences between judges, on the questions that both have answered.

Most of what makes two judges' rates uncertain is which scenes there are, and both saw the same: the
difference of each question's two scores is known better than two rates apart. The interval is that
of a paired difference over scenes (`metrics.statistics.paired_intervals`), the p-value of a
sign-flip test of scenes (`metrics.statistics.sign_flips`).
"""

from collections.abc import Sequence
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd

from metrics.statistics.paired_intervals import paired_interval
from metrics.statistics.sign_flips import correct_by_holm, sign_flip_test
from metrics.vlmbias.answer_arrays import AnswerRows

_QUESTION = ["domain", "base_id", "image_id", "question_id", "question"]
_COUNTS = ["topics", "scenes", "questions"]
_COLUMNS = ["first", "second", "measure", *_COUNTS, "difference", "low", "high", "p", "p_holm"]


def compare_judges(answers: pd.DataFrame, judges: Sequence[str], *, seed: int = 0) -> pd.DataFrame:
    """Compute one row for each measure and two of the judges, in their order.

    `answers` is as `metrics.vlmbias.accuracy.accuracy_table` takes it, of one prompting. `measure`
    is `accuracy` or `bias_rate`, and `difference` that of `first` less that of `second`: the mean
    over topics, each counting alike, of the questions that both have answered, and for the bias
    rate those whose expected bias is wrong. `topics`, `scenes` and `questions` count them. `low`
    and `high` are the ends of its 95 % interval; `p` is of the sign-flip test, and `p_holm` is
    corrected for all two judges of a measure. Numbers are NaN where the two have no question in
    common.
    """
    rows = AnswerRows.from_frame(answers)
    is_tempted = ~np.isnan(rows["score"]) & rows["tempting"]
    values = answers[[*_QUESTION, "model"]].assign(
        accuracy=rows["score"], bias_rate=np.where(is_tempted, rows["biased"], np.nan)
    )
    records: list[dict[str, Any]] = []
    for measure in ("accuracy", "bias_rate"):
        scores = values.pivot(index=_QUESTION, columns="model", values=measure)
        comparisons = [
            {"first": first, "second": second, "measure": measure}
            | _compare(scores[first] - scores[second], seed)
            for first, second in combinations(judges, 2)
        ]
        corrected = correct_by_holm([row["p"] for row in comparisons])
        records += [row | {"p_holm": p} for row, p in zip(comparisons, corrected, strict=True)]
    return pd.DataFrame(records, columns=_COLUMNS)


def _compare(differences: "pd.Series[float]", seed: int) -> dict[str, float]:
    """The mean over topics of a question's differences, NaN where it was not answered twice."""
    compared = differences.dropna()
    topics = compared.index.get_level_values("domain").factorize(sort=True)[0]
    scenes = compared.groupby(level=["domain", "base_id"]).ngroup().to_numpy()
    counts = (len(np.unique(topics)), len(np.unique(scenes)), len(compared))
    numbers: dict[str, float] = dict(zip(_COUNTS, counts, strict=True))
    if compared.empty:
        return numbers | {"p": float("nan")}
    values = np.asarray(compared, np.float64)
    low, high = paired_interval(values, scenes, topics, seed=seed)
    return numbers | {
        "difference": float(compared.groupby(level="domain").mean().mean()),
        "low": low,
        "high": high,
        "p": sign_flip_test(values, scenes, topics, seed=seed),
    }
