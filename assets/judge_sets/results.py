"""Agreement with people and order flips of all judges."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

from assets.judge_sets.answers import PairAnswers, select_taken
from assets.judge_sets.common import asset_key
from assets.kit.answer_results import ALL, AnswerResults, JudgedItems
from assets.kit.columns import REAL, TEXT, WHOLE, Columns, interval_columns
from metrics.judge_sets.agreement import ORDERS, build_agreement_table

NUMBERS = Columns(
    model=(TEXT, "The judge"),
    set=(TEXT, "The collection; all for the mean of all that the judge was asked about"),
    domain=(TEXT, "Domain of the collection; all for all pairs of it"),
    total_pairs=(WHOLE, "Usable pairs of all collections, of the collection, or of its domain"),
    pairs=(WHOLE, "Pairs that the judge was asked about"),
    answered_pairs=(WHOLE, "Pairs with a readable answer in both orders"),
    pictures=(WHOLE, "Different pictures, or prompts with their pictures, of these pairs"),
    requests=(WHOLE, "Requests about these pairs"),
    answers=(WHOLE, "Requests with a readable answer"),
    **interval_columns("agreement", "Mean agreement with people over both orders", "pictures"),
    agreement_least=(REAL, "Agreement if every missing answer contradicted people"),
    agreement_most=(REAL, "Agreement if every missing answer agreed with people"),
    **interval_columns("flips", "Share whose preference changes with the order", "pictures"),
    flips_least=(REAL, "Share if no pair without both answers changed"),
    flips_most=(REAL, "Share if every pair without both answers changed"),
    **interval_columns("ties", "Share of pairs without a preference over both orders", "pictures"),
    **interval_columns("first_shown", "Preference for what is shown first; 0.5: none", "pictures"),
)


def measure_agreement(judged: JudgedItems) -> pd.DataFrame:
    """Compute the rows of `NUMBERS`."""
    pairs, answers = judged
    is_first = answers["preferred"].eq("a").eq(answers["order"].eq("first"))
    order = np.where(is_first, *ORDERS)
    table = build_agreement_table(
        answers.assign(pair_id=answers["image_id"], sha256=answers["prompt_id"], order=order)
    )
    for column, rows in (
        ("total_pairs", pairs.assign(model="")),
        ("requests", answers),
        ("answers", answers[answers["agrees"].notna()]),
    ):
        table[column] = [
            len(rows[_select(rows, cells, by_model=column != "total_pairs")])
            for cells in table.to_dict("records")
        ]
    return table


def _select(rows: pd.DataFrame, cells: Mapping[Any, Any], *, by_model: bool) -> "pd.Series[bool]":
    """Mark the rows that a row of results is about."""
    is_selected = pd.Series(True, index=rows.index)
    for name in ("model",) * by_model + ("set", "domain"):
        if cells[name] != ALL:
            is_selected &= rows[name].eq(cells[name])
    return is_selected


RESULTS = AnswerResults(
    key=asset_key("results"),
    description="Agreement of all judges with people, and how often the order changes it.",
    columns=NUMBERS,
    scope_column="set",
    shown_columns=("model", "pairs", "agreement", "flips"),
    step=PairAnswers,
    matched_columns=(
        *("image_id", "pictures", "question"),
        *("response_a", "response_b", "preferred"),
    ),
    readable_column="agrees",
    measure=measure_agreement,
    select_items=select_taken,
)
