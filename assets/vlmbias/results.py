"""Metadata of the answers to one topic: rates, and wrongly answered pictures."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import pandas as pd

from assets.kit.columns import to_records
from assets.kit.previews import contact_sheet, inline_tables, merge_intervals, plot_interval
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
_PLOTTED = ("accuracy", "bias_rate")
_POOLED = ("all_originals", "all_counterfactuals")
_SHOWN_COLUMNS = ["prompting", "image_set", "questions", "answers"]
_MAX_SHOWN = 24


def answers_metadata(answers: pd.DataFrame, images: ImageStore) -> dict[str, Any]:
    """Metadata of a judge's answers to a topic.

    `accuracy` and `bias_rate` with their 95 % intervals, from 0 to 1: of the counting questions,
    under the baseline and about pictures of the benchmark if there are such. `rates_of` names the
    row that they come from; the tables `rates` have all rows.
    """
    rates = topic_accuracy_table(answers)
    metadata: dict[str, Any] = {}
    # Not of originals, whose bias is the truth.
    main = rates[rates["questions"].eq(COUNTING) & rates["image_set"].ne("originals")]
    rank = main["prompting"].ne(BASELINE) * 2 + main["image_set"].ne("benchmark")
    for row in to_records(main.loc[rank.sort_values(kind="stable").index[:1]]):
        metadata["rates_of"] = f"{row['prompting']}, {row['image_set']}, {row['questions']}"
        metadata |= {name: _plot_rate(row, name) for name in _PLOTTED if pd.notna(row[name])}
    metadata |= inline_tables("rates", format_rates(rates, _SHOWN_COLUMNS), *_SHOWN_COLUMNS)
    if wrong := list(_select_wrong(answers)):
        shown = wrong[:: max(1, -(-len(wrong) // _MAX_SHOWN))]
        sheet = contact_sheet([(caption, images.get(digest)) for caption, digest in shown])
        metadata["wrong_answers"] = sheet
    return metadata


def _plot_rate(row: Mapping[str, Any], name: str) -> str:
    """A rate with its interval, and both as a plot."""
    value, low, high = (float(row[f"{name}{end}"]) for end in ("", "_low", "_high"))
    plot = plot_interval(value, low, high, (0, 1))
    return f"{plot} {value:.1%} ({low:.1%} to {high:.1%})"


def format_rates(rates: pd.DataFrame, columns: Sequence[str]) -> pd.DataFrame:
    """Select these columns of `accuracy_table` and both rates, each with interval and plot."""
    return merge_intervals(rates[[*columns, *RATES]], *_PLOTTED, plotted=True)


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
