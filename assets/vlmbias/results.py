"""Metadata of the answers to one topic: plotted rates, and wrongly answered pictures."""

from collections.abc import Iterator, Sequence
from typing import Any

import pandas as pd

from assets.kit.columns import to_records
from assets.kit.previews import contact_sheet, markdown_table, merge_intervals
from metrics import (
    BASELINE,
    EVERY_SIZE,
    QUESTION_GROUPS,
    TASK_MEAN,
    WHOLE_TOPIC,
    topic_accuracy_table,
)
from resources.storage.image_store import ImageStore

COUNTING = QUESTION_GROUPS["Q1"]
RATES = (
    "accuracy",
    "accuracy_low",
    "accuracy_high",
    "bias_rate",
    "bias_rate_low",
    "bias_rate_high",
)
_POOLED = ("all_originals", "all_counterfactuals")
_SHOWN_COLUMNS = ["prompting", "image_set", "questions", "answers"]
_MAX_SHOWN = 24


def answers_metadata(answers: pd.DataFrame, images: ImageStore) -> dict[str, Any]:
    """Metadata of a judge's answers to a topic.

    `accuracy` and `bias_rate` with the ends of their 95 % intervals, as numbers from 0 to 1: of the
    counting questions, under the baseline and about pictures of the benchmark if there are such.
    `rates_of` names the row that they come from; the table `rates` has all rows.
    """
    rates = topic_accuracy_table(answers)
    metadata: dict[str, Any] = {"rates": markdown_table(format_rates(rates, _SHOWN_COLUMNS))}
    # Not of originals, whose bias is the truth.
    main = rates[rates["questions"].eq(COUNTING) & rates["image_set"].ne("originals")]
    rank = main["prompting"].ne(BASELINE) * 2 + main["image_set"].ne("benchmark")
    for row in to_records(main.loc[rank.sort_values(kind="stable").index[:1]]):
        metadata["rates_of"] = f"{row['prompting']}, {row['image_set']}, {row['questions']}"
        metadata |= {name: round(float(row[name]), 4) for name in RATES if pd.notna(row[name])}
    if wrong := list(_select_wrong(answers)):
        shown = wrong[:: max(1, -(-len(wrong) // _MAX_SHOWN))]
        sheet = contact_sheet([(caption, images.get(digest)) for caption, digest in shown])
        metadata["wrong_answers"] = sheet
    return metadata


def format_rates(rates: pd.DataFrame, columns: Sequence[str]) -> pd.DataFrame:
    """Select these columns of `accuracy_table` and both rates, each in one cell with interval."""
    return merge_intervals(rates[[*columns, *RATES]], "accuracy", "bias_rate")


def select_topic_rows(accuracy: pd.DataFrame) -> pd.DataFrame:
    """Rows of `accuracy_table` about whole topics at all sizes, without the means over topics."""
    return accuracy[
        accuracy["topic"].ne(TASK_MEAN)
        & accuracy["subtopic"].eq(WHOLE_TOPIC)
        & accuracy["size"].eq(EVERY_SIZE)
        & ~accuracy["image_set"].isin(_POOLED)
    ]


def _select_wrong(answers: pd.DataFrame) -> Iterator[tuple[str, str]]:
    """A caption and the sha256 of a picture for each scene that some wrong answer is about."""
    wrong = answers[answers["score"].eq(0)].drop_duplicates("base_id")
    for row in to_records(
        wrong[["base_id", "question_id", "answer", "ground_truth", "shown_sha256"]]
    ):
        answer = "nothing readable" if pd.isna(row["answer"]) else row["answer"]
        yield (
            f"{row['base_id']}, {row['question_id']}: said {answer}, truth {row['ground_truth']}",
            row["shown_sha256"],
        )
