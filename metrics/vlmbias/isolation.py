"""Answers about pictures of what is counted alone, beside those about the same scenes whole.

The paper's third version found counting 21.09 points better without the background. Both answers
are by one judge to one question about one scene in one size; a pair counts if both were scored.
"""

from typing import Any

import numpy as np
import pandas as pd

from metrics.statistics.cluster_intervals import stratified_interval
from metrics.statistics.paired_intervals import paired_interval
from metrics.vlmbias.answer_arrays import ISOLATED, AnswerRows

_NUMBERS = ("whole_accuracy", "isolated_accuracy", "difference")
_COLUMNS = [
    *("model", "questions", "topics", "scenes", "independent_scenes", "requests", "pairs"),
    *(f"{name}{end}" for name in _NUMBERS for end in ("", "_low", "_high")),
]


def isolation_table(answers: pd.DataFrame, *, seed: int = 0) -> pd.DataFrame:
    """Compute one row for each model × questions that was asked about isolated pictures.

    `answers` has the columns that `accuracy_table` reads, with `sha256`, the picture of the scene,
    and `shown_sha256`. Isolated pictures that are the whole one, with nothing to leave out, are
    left out.

    Of all `requests` about isolated pictures, `pairs` have a scored answer and one about the whole
    picture; they are of so many `topics` and `scenes`. Accuracies, from 0 to 1, and their
    `difference`, from −1 to 1, are over the pairs and means over topics, with 95 % intervals
    (`metrics.statistics`) over `independent_scenes`: those that isolated show the same are one.
    They are null where there is no pair.
    """
    is_unchanged = answers["prompting"].eq(ISOLATED) & answers["shown_sha256"].eq(answers["sha256"])
    compared = answers[~is_unchanged].reset_index(drop=True)
    rows = AnswerRows.from_frame(compared)
    records = [
        {"model": model, "questions": questions, **_compare(question_rows, compared, seed)}
        for (model, prompting), judge_rows in rows.iterate_groups("judge")
        if prompting == ISOLATED
        for questions, question_rows in judge_rows.iterate_groups("questions")
    ]
    return pd.DataFrame(records, columns=_COLUMNS)


def _compare(rows: AnswerRows, compared: pd.DataFrame, seed: int) -> dict[str, Any]:
    pairs = rows.select(~np.isnan(rows["score"] - rows["before"]))
    paired_rows = compared.iloc[pairs["row_number"]]
    numbers: dict[str, Any] = {
        "topics": pairs.count("topic"),
        "scenes": paired_rows["base_id"].nunique(),
        "independent_scenes": pairs.count("base"),
        "requests": len(rows),
        "pairs": len(pairs),
    }
    for name, interval, column in (
        ("whole_accuracy", stratified_interval, pairs["before"]),
        ("isolated_accuracy", stratified_interval, pairs["score"]),
        ("difference", paired_interval, pairs["score"] - pairs["before"]),
    ):
        rate = pairs.rate(interval, column, 1, seed)
        numbers |= {name: rate.mean, f"{name}_low": rate.low, f"{name}_high": rate.high}
    return numbers
