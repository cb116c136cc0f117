"""Answers about changed pictures beside the answer that the same judge gives without the picture.

The expected bias is what people remember; a blind answer is what this judge remembers. Both are
compared on the same answers: those about pictures of which neither is true, since a right answer
says nothing about looking.
"""

from typing import Any

import numpy as np
import pandas as pd

from metrics.statistics.cluster_intervals import stratified_interval
from metrics.statistics.paired_intervals import paired_interval
from metrics.vlmbias.answer_arrays import AnswerRows

_QUESTION = ["base_id", "question"]
_SHARES = ("blind_share", "expected_share", "difference")
_COLUMNS = [
    *("model", "questions", "blind_answers", "blind_right", "blind_expected"),
    *("compared_scenes", "compared"),
    *(f"{name}{end}" for name in _SHARES for end in ("", "_low", "_high")),
]


def blind_answer_table(answers: pd.DataFrame, *, seed: int = 0) -> pd.DataFrame:
    """Compute one row for each model.

    `answers` has a row for each answer about a picture, with `model`, `domain` (the topic),
    `base_id` (the scene), `question`, `ground_truth`, `expected_bias` (null where none is known),
    `answer`, `score` (null if refused or failed), and `blind_answer`: the model's answer to the
    same question without the picture, null where it gave none that can be read.

    Of its `questions`, each of one scene, `blind_answers` have a blind answer; of these,
    `blind_right` are true of the picture all the same, and `blind_expected` are the expected bias.
    `compared` counts the answers that the shares are of, about `compared_scenes`: scored, with a
    blind answer, and neither that nor the expected bias true. `blind_share` of them equal the
    blind answer and `expected_share` the expected bias, as means over topics; `difference` is the
    first less the second, paired by answer. 95 % intervals take scenes as independent. An unparsed
    answer equals neither.
    """
    records = [
        {"model": model, **_count(rows.drop_duplicates(_QUESTION)), **_compare(rows, seed)}
        for model, rows in answers.groupby("model", sort=False)
    ]
    return pd.DataFrame(records, columns=_COLUMNS)


def _count(questions: pd.DataFrame) -> dict[str, int]:
    blind_answers = questions["blind_answer"]
    return {
        "questions": len(questions),
        "blind_answers": int(blind_answers.notna().sum()),
        "blind_right": _count_equal(blind_answers, questions["ground_truth"]),
        "blind_expected": _count_equal(blind_answers, questions["expected_bias"]),
    }


def _count_equal(column: "pd.Series[Any]", other: "pd.Series[Any]") -> int:
    return int(column.eq(other).sum())


def _compare(rows: pd.DataFrame, seed: int) -> dict[str, Any]:
    is_comparable = rows["score"].notna() & rows["blind_answer"].notna()
    for name in ("blind_answer", "expected_bias"):
        is_comparable &= rows[name].ne(rows["ground_truth"])
    compared = rows[is_comparable]
    clusters = {
        name: pd.factorize(compared[column], sort=True)[0]
        for name, column in (("topic", "domain"), ("base", "base_id"))
    }
    arrays = AnswerRows(clusters, {})
    blind_share, expected_share = (
        np.asarray(
            compared["answer"].eq(compared[name]).astype(float).where(compared[name].notna())
        )
        for name in ("blind_answer", "expected_bias")
    )
    record: dict[str, Any] = {
        "compared_scenes": compared["base_id"].nunique(),
        "compared": len(compared),
    }
    for name, interval, column in (
        ("blind_share", stratified_interval, blind_share),
        ("expected_share", stratified_interval, expected_share),
        ("difference", paired_interval, blind_share - expected_share),
    ):
        rate = arrays.rate(interval, column, 1, seed)
        record |= {name: rate.mean, f"{name}_low": rate.low, f"{name}_high": rate.high}
    return record
