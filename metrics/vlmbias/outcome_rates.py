"""Rates of outcomes that are not an answer: unparsed, refused of each kind, failed."""

from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from metrics.statistics.cluster_intervals import stratified_interval
from metrics.vlmbias.answer_arrays import TASK_MEAN, AnswerRows

UNPARSED, REFUSED, FAILED = "unparsed", "refused", "failed"
_COLUMNS = ["model", "prompting", "topic", "ending", "requests", "number", "rate", "low", "high"]


def outcome_rate_table(answers: pd.DataFrame, *, seed: int = 0) -> pd.DataFrame:
    """Compute one row for each model × prompting × topic × outcome other than an answer.

    `answers` is the table that `accuracy_table` takes, with one more column: `refusal`, the kind
    of a refusal. An ending is `unparsed`, `refused`, one of the kinds of refusal that some judge
    met, or `failed`. `requests` counts all that was sent, on every image and question, and `number`
    those that ended so. `rate` is their share, and for topic `task mean` the mean over the topics
    that the judge was asked about; `low` and `high` are its 95 % interval over base images, as
    those of `accuracy_table`: refusals come by subject, not by row.
    """
    rows = AnswerRows.from_frame(answers)
    outcomes = _outcomes(answers)
    records = [
        {"model": model, "prompting": prompting, "topic": topic, "ending": kind}
        | _rate(topic_rows, is_outcome[topic_rows["row_number"]], seed)
        for (model, prompting), judge_rows in rows.iterate_groups("judge")
        for topic, topic_rows in (*judge_rows.iterate_groups("topic"), (TASK_MEAN, judge_rows))
        for kind, is_outcome in outcomes.items()
    ]
    return pd.DataFrame(records, columns=_COLUMNS)


def _outcomes(answers: pd.DataFrame) -> dict[str, NDArray[np.float64]]:
    """0 and 1 by answer, for each outcome."""
    outcome = answers["outcome"]
    refusal = answers["refusal"].where(outcome.eq(REFUSED))
    indicators = {UNPARSED: outcome.eq(UNPARSED), REFUSED: outcome.eq(REFUSED)}
    indicators |= {
        kind: refusal.eq(kind).fillna(False) for kind in sorted(refusal.dropna().unique())
    }
    indicators[FAILED] = outcome.eq(FAILED)
    return {ending: np.asarray(column, np.float64) for ending, column in indicators.items()}


def _rate(rows: AnswerRows, is_outcome: NDArray[np.float64], seed: int) -> dict[str, Any]:
    rate, low, high = rows.rate(stratified_interval, is_outcome, 1, seed)
    return {
        "requests": len(rows),
        "number": int(is_outcome.sum()),
        "rate": rate,
        "low": low,
        "high": high,
    }
