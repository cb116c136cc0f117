"""Rates of all judges by either rule."""

import pandas as pd

from assets.game_rules.answers import RuleAnswers
from assets.game_rules.common import QUESTION, asset_key
from assets.kit.answer_results import AnswerResults, JudgedItems
from assets.kit.columns import TEXT, WHOLE, Columns, interval_columns
from metrics.game_rules.rule_rates import build_rule_table

RATES = Columns(
    model=(TEXT, "The judge"),
    game=(TEXT, "chess or xiangqi; all for the mean of both"),
    goal=(TEXT, "checkmate or pieces; all for every goal"),
    positions=(WHOLE, "Positions, which the intervals resample"),
    questions=(WHOLE, "Questions about all positions"),
    requests=(WHOLE, "Questions that were asked"),
    answers=(WHOLE, "Requests that were neither refused nor failed"),
    readable=(WHOLE, "Answers with a side in curly brackets"),
    **interval_columns("right_usual", "Share right by the usual rule", "positions"),
    **interval_columns("right_inverse", "Share right by the inverse rule", "positions"),
    **interval_columns(
        "usual_answers", "Share of the usual rule's answer, asked by its inverse", "positions"
    ),
    **interval_columns(
        "change", "Share right by the inverse rule less that by the usual rule", "positions"
    ),
)


def measure_rates(judged: JudgedItems) -> pd.DataFrame:
    """Compute the rows of `RATES`."""
    table = build_rule_table(judged.answers)
    totals = judged.items.groupby(["game", "goal"]).size()
    table["questions"] = [
        totals.get((row.game, row.goal), len(judged.items)) for row in table.itertuples()
    ]
    return table


RESULTS = AnswerResults(
    key=asset_key("results"),
    description=f"Right answers of all judges by either rule. {QUESTION}",
    columns=RATES,
    scope_column="goal",
    shown_columns=("model", "right_usual", "right_inverse", "usual_answers"),
    step=RuleAnswers,
    matched_columns=("image_id", "sha256", "question", "ground_truth"),
    readable_column="answer",
    measure=measure_rates,
)
