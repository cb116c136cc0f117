"""Bias-Deviation and Bias-Conformity of all judges."""

import pandas as pd

from assets.kit.answer_results import AnswerResults, JudgedItems
from assets.kit.columns import TEXT, WHOLE, Columns, interval_columns
from assets.mm_judge_bias.answers import BiasAnswers
from assets.mm_judge_bias.common import QUESTION, asset_key
from metrics.mm_judge_bias.score_changes import MEASURES, build_change_table

RESULT_COLUMNS = Columns(
    model=(TEXT, "The judge"),
    part=(TEXT, "all, where each bias weighs the same, or a bias"),
    total_items=(WHOLE, "Items that can be judged"),
    items=(WHOLE, "Items that the judge was asked about"),
    answered_items=(WHOLE, "Items with a score on both sides"),
    pictures=(WHOLE, "Different pictures of these items"),
    requests=(WHOLE, "Scores that were asked for"),
    readable=(WHOLE, "Scores that could be read"),
    deviation_items=(WHOLE, "Items in the deviation: with both scores, the first above 1"),
    conformity_items=(WHOLE, "Items in the conformity: with both scores"),
    **interval_columns(
        "deviation", "Bias-Deviation: share of its way to 1 that a score falls", "pictures"
    ),
    **interval_columns(
        "conformity", "Bias-Conformity: 1 less the share of its longest way moved", "pictures"
    ),
)


def measure_changes(judged: JudgedItems) -> pd.DataFrame:
    """Compute the rows of `RESULT_COLUMNS`."""
    return build_change_table(judged.answers, judged.items)


RESULTS = AnswerResults(
    key=asset_key("results"),
    description=f"Bias-Deviation and Bias-Conformity of all judges. {QUESTION}",
    columns=RESULT_COLUMNS,
    scope_column="part",
    shown_columns=("model", *MEASURES),
    step=BiasAnswers,
    matched_columns=("image_id", "sha256", "instruction", "judged_response", "bias"),
    readable_column="score",
    measure=measure_changes,
    select_items=lambda items: items[items["outcome"].eq("taken")],
)
