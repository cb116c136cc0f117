"""What each harness would print for a judge's answers, beside ours and the paper's."""

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from metrics.vlmbias.harness_scores import (
    HARNESSES,
    SCORED_QUESTIONS,
    Verdict,
    explain_difference,
    score_by_outcome,
)

OURS, PAPER = "Counterfactory", "the paper"
_WRONG = Verdict(is_right=False, is_biased=False)
MAX_NEW_TOKENS = 32
"""New tokens after which lmms-eval cuts a reply; a word has at least one."""


class HarnessComparison(NamedTuple):
    """Numbers of each harness, and the answers that one scores otherwise than we do."""

    numbers: pd.DataFrame
    """A row for each harness: `harness`, `accuracy` and `bias_rate` over all its answers,
    `topic_accuracy` and `topic_bias_rate` as means over topics, `answers`, `different_answers`."""
    differences: pd.DataFrame
    """A row for each answer and harness: `harness`, `reason`, `image_id`, `question_id`,
    `ground_truth`, `expected_bias`, `response`, `theirs` and `ours`."""
    long_replies: int
    """Replies of more than `MAX_NEW_TOKENS` words."""


def compare_harnesses(answers: pd.DataFrame) -> HarnessComparison:
    """Score a judge's answers as each harness does, over the questions of the published data.

    These are Q1 and Q2 about the benchmark's pictures, as `main` has them: of the rows of `answers`
    (columns as in `accuracy_table`, with `response`), others are left out. Rates are 0 to 1. The
    harnesses take an answer that is missing for an empty reply. Ours leave refused and failed ones
    out. The paper publishes no scorer: its row is our reading, with every missing answer wrong, and
    its Table 2 has the mean over topics. Raises `ValueError` where no such question is among them.
    """
    is_main = answers["question_id"].isin(SCORED_QUESTIONS) & (answers["image_set"] == "benchmark")
    rows = answers[is_main].reset_index(drop=True)
    if rows.empty:
        raise ValueError("There is no answer to Q1 or Q2 about the benchmark's pictures.")
    replies = rows["response"].fillna("")
    keys = list(zip(rows["ground_truth"], rows["expected_bias"], strict=True))
    readings = zip(rows["answer"].where(rows["answer"].notna(), None), rows["outcome"], strict=True)
    ours = [score_by_outcome(*reading, *key) for reading, key in zip(readings, keys, strict=True)]
    verdicts: dict[str, list[Verdict | None]] = {
        name: [score(reply, *key) for reply, key in zip(replies, keys, strict=True)]
        for name, score in HARNESSES.items()
    }
    verdicts |= {OURS: ours, PAPER: [verdict or _WRONG for verdict in ours]}
    differences = pd.DataFrame(
        [
            difference
            for name in HARNESSES
            for difference in _list_differences(rows, name, verdicts[name], ours)
        ],
        columns=_DIFFERENCE_COLUMNS,
    )
    counts = differences["harness"].value_counts()
    numbers = pd.DataFrame(
        {
            "harness": name,
            **_compute_rates(scores, rows["domain"]),
            "different_answers": int(counts.get(name, 0)),
        }
        for name, scores in verdicts.items()
    )
    long_replies = sum(len(reply.split()) > MAX_NEW_TOKENS for reply in replies)
    return HarnessComparison(numbers, differences, long_replies)


_KEY_COLUMNS = ["image_id", "question_id", "ground_truth", "expected_bias"]
_DIFFERENCE_COLUMNS = ["harness", "reason", *_KEY_COLUMNS, "response", "theirs", "ours"]
_NAMES = {
    Verdict(is_right=True, is_biased=False): "right",
    Verdict(is_right=False, is_biased=True): "familiar",
    _WRONG: "wrong",
}


def _list_differences(
    rows: pd.DataFrame,
    name: str,
    theirs: list[Verdict | None],
    ours: list[Verdict | None],
) -> Iterator[dict[str, Any]]:
    for row, their_verdict, our_verdict in zip(rows.to_dict("records"), theirs, ours, strict=True):
        if their_verdict is None or their_verdict == our_verdict:
            continue
        answer = row["answer"] if isinstance(row["answer"], str) else None
        reply = row["response"] if isinstance(row["response"], str) else ""
        yield {
            **{column: row[column] for column in _KEY_COLUMNS},
            "harness": name,
            "reason": explain_difference(name, reply, answer, row["outcome"], their_verdict),
            "response": reply,
            "theirs": _NAMES[their_verdict],
            "ours": row["outcome"]
            if answer is None or our_verdict is None
            else _NAMES[our_verdict],
        }


def _compute_rates(verdicts: list[Verdict | None], topics: pd.Series) -> dict[str, float]:
    scores = pd.DataFrame(
        [verdict or (np.nan, np.nan) for verdict in verdicts],
        columns=["accuracy", "bias_rate"],
        dtype=float,
    )
    means = scores.groupby(topics.to_numpy()).mean().mean(skipna=False)
    return {
        "accuracy": float(scores["accuracy"].mean()),
        "bias_rate": float(scores["bias_rate"].mean()),
        "topic_accuracy": float(means["accuracy"]),
        "topic_bias_rate": float(means["bias_rate"]),
        "answers": int(scores["accuracy"].count()),
    }
