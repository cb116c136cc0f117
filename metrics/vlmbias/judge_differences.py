"""Differences between judges in accuracy and bias rate, on questions that both have answered."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from metrics.statistics.paired_comparisons import COUNTS, compare_columns
from metrics.vlmbias.answer_arrays import AnswerRows

_QUESTION = ["domain", "base_id", "image_id", "question_id", "question"]
_COLUMNS = ["first", "second", "measure", *COUNTS, "difference", "low", "high", "p", "p_holm"]


def compare_judges(answers: pd.DataFrame, judges: Sequence[str], *, seed: int = 0) -> pd.DataFrame:
    """Compute one row for each measure and two of the judges, in their order.

    `answers` is as `metrics.vlmbias.accuracy.accuracy_table` takes it, of one prompting. `measure`
    is `accuracy` or `bias_rate`, and `difference` that of `first` less that of `second`: the mean
    over topics, each counting alike, of the questions that both have answered, and for the bias
    rate those whose expected bias is wrong. The columns are those of
    `metrics.statistics.paired_comparisons.compare_columns`; Holm's correction is by measure.
    """
    rows = AnswerRows.from_frame(answers)
    is_tempted = ~np.isnan(rows["score"]) & rows["tempting"]
    values = answers[[*_QUESTION, "model"]].assign(
        accuracy=rows["score"], bias_rate=np.where(is_tempted, rows["biased"], np.nan)
    )
    records: list[dict[str, Any]] = []
    for measure in ("accuracy", "bias_rate"):
        scores = values.pivot(index=_QUESTION, columns="model", values=measure)
        topics = scores.index.get_level_values("domain").to_numpy()
        scenes = scores.index.get_level_values("base_id").to_numpy()
        pairs = compare_columns(scores, judges, scenes, topics, seed=seed)
        records += [{"measure": measure, **pair} for pair in pairs]
    return pd.DataFrame(records, columns=_COLUMNS)
