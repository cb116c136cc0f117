"""Accuracy and bias rate by two readings of the same replies: the paper's, and plain words."""

from typing import Any

import numpy as np
import pandas as pd

from metrics.statistics.cluster_intervals import stratified_interval
from metrics.statistics.paired_intervals import paired_interval
from metrics.vlmbias.answer_arrays import AnswerRows, Array

_RATES = ("accuracy", "plain_accuracy", "change", "bias_rate", "plain_bias_rate")
_COLUMNS = [
    *("model", "prompting", "replies", "read", "plain_read"),
    *(f"{name}{end}" for name in _RATES for end in ("", "_low", "_high")),
]


def reading_table(answers: pd.DataFrame, *, seed: int = 0) -> pd.DataFrame:
    """Compute one row for each model × prompting.

    `answers` is the table that `accuracy_table` takes, with one more column: `plain_answer`, null
    where plain words give none either. Of its `replies`, `read` are read in curly brackets and
    `plain_read` in brackets or words. Rates are the mean over the topics asked, as those of
    `accuracy_table`; both readings score the same replies, and one that is not read is wrong.
    `change` is the plain accuracy less the other, paired by reply; 95 % intervals take base images
    as independent.
    """
    rows = AnswerRows.from_frame(answers)
    plain_rows = AnswerRows.from_frame(_score_plainly(answers))
    records = [
        {
            "model": model,
            "prompting": prompting,
            **_compare(judge_rows, plain_rows.select(judge_rows["row_number"]), seed),
        }
        for (model, prompting), judge_rows in rows.iterate_groups("judge")
    ]
    return pd.DataFrame(records, columns=_COLUMNS)


def _score_plainly(answers: pd.DataFrame) -> pd.DataFrame:
    """The answers with the plain reading in place of the other; none where there is no reply."""
    is_reply = answers["score"].notna()
    is_right = answers["plain_answer"].eq(answers["ground_truth"]).fillna(False)
    plain_outcome = answers["outcome"].mask(
        is_reply, np.where(answers["plain_answer"].notna(), "answered", "unparsed")
    )
    return answers.assign(
        answer=answers["plain_answer"],
        score=is_right.astype(float).where(is_reply),
        outcome=plain_outcome,
    )


def _compare(rows: AnswerRows, plain_rows: AnswerRows, seed: int) -> dict[str, Any]:
    is_reply = ~np.isnan(rows["score"])
    record: dict[str, Any] = {
        "replies": int(is_reply.sum()),
        "read": int((is_reply & (rows["unparsed"] == 0)).sum()),
        "plain_read": int((is_reply & (plain_rows["unparsed"] == 0)).sum()),
    }
    for name, interval, column in (
        ("accuracy", stratified_interval, rows["score"]),
        ("plain_accuracy", stratified_interval, plain_rows["score"]),
        ("change", paired_interval, plain_rows["score"] - rows["score"]),
        ("bias_rate", stratified_interval, _mark_biased(rows)),
        ("plain_bias_rate", stratified_interval, _mark_biased(plain_rows)),
    ):
        rate = rows.rate(interval, column, 1, seed)
        record |= {name: rate.mean, f"{name}_low": rate.low, f"{name}_high": rate.high}
    return record


def _mark_biased(rows: AnswerRows) -> Array:
    """1 for an answer that is the expected bias, where that is wrong; NaN where it is right."""
    is_tempted = ~np.isnan(rows["score"]) & rows["tempting"]
    return np.where(is_tempted, rows["biased"], np.nan)
