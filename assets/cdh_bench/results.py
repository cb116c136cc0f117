"""Accuracy of all judges with usual and unusual pictures."""

import pandas as pd

from assets.cdh_bench.answers import ContrastAnswers
from assets.cdh_bench.common import QUESTION, asset_key
from assets.kit.answer_results import AnswerResults, JudgedItems
from assets.kit.columns import TEXT, WHOLE, Columns, interval_columns
from metrics.cdh_bench.conflict_rates import RATES, build_conflict_table

RESULT_COLUMNS = Columns(
    model=(TEXT, "The judge"),
    part=(TEXT, "all, a form of question, or a form and a category"),
    total_pairs=(WHOLE, "Pairs with a question that can be asked"),
    pairs=(WHOLE, "Pairs that the judge was asked about"),
    answered_pairs=(WHOLE, "Pairs with an answer about either picture"),
    requests=(WHOLE, "Questions that were asked"),
    readable=(WHOLE, "Questions with a readable answer"),
    errors=(WHOLE, "Wrong answers about counterfactual pictures"),
    **interval_columns("cf_accuracy", "Right answers about counterfactual pictures", "pairs"),
    **interval_columns("cs_accuracy", "Right answers about commonsense pictures", "pairs"),
    **interval_columns("drop", "Commonsense less counterfactual accuracy", "pairs"),
    **interval_columns("collapse", "Share of the errors that are common sense's answer", "pairs"),
    **interval_columns("dependency", "The drop divided by commonsense accuracy", "pairs"),
)


def measure_rates(judged: JudgedItems) -> pd.DataFrame:
    """Compute the rows of `RESULT_COLUMNS`."""
    return build_conflict_table(judged.answers, judged.items)


RESULTS = AnswerResults(
    key=asset_key("results"),
    description=f"Accuracy of all judges with usual and unusual pictures. {QUESTION}",
    columns=RESULT_COLUMNS,
    scope_column="part",
    shown_columns=("model", *RATES),
    step=ContrastAnswers,
    matched_columns=("image_id", "sha256", "question", "ground_truth", "expected_bias"),
    readable_column="answer",
    measure=measure_rates,
    select_items=lambda items: items[items["outcome"].eq("taken")],
)
