"""The page of the benchmark."""

from collections.abc import Sequence

import pandas as pd

from assets.kit.columns import to_plain_records
from assets.kit.step_run import Row
from assets.mm_judge_bias.common import QUESTION, TITLE
from assets.mm_judge_bias.results import RESULTS
from assets.report.cells import Cell, Table
from assets.report.formats import format_whole_percent
from assets.report.judge_report import (
    JudgeNumbers,
    JudgeReport,
    NumberColumn,
    ReportedMeasure,
    WrongAnswer,
    name_part,
    rate_column,
)
from assets.report.standings import MOST, Measure, round_robin
from metrics.mm_judge_bias.score_changes import ALL, SCALE, SIDES
from metrics.statistics.firmness import Evidence

DEVIATION = Measure(
    "Bias-Deviation",
    "higher",
    "share",
    "Share of its way to the lowest score that a score falls where evidence is gone or exchanged.",
)
CONFORMITY = Measure(
    "Bias-Conformity",
    "higher",
    "share",
    "1 less the share of the scale that a score moves where nothing that matters changes.",
)
MIN_PICTURES = 10
"""Pictures of each bias that a result needs."""
_MOST_PICTURES = 2
COLUMNS: dict[str, NumberColumn] = {
    "Bias-Deviation": rate_column("deviation"),
    "Bias-Conformity": rate_column("conformity"),
    "Items with both scores": lambda row, firmness: Cell(
        f"{row['answered_items']:,} of {row['items']:,}"
    ),
    "Items in the mean": lambda row, firmness: Cell(
        f"{row['deviation_items'] + row['conformity_items']:,}"
    ),
}


class BiasReport(JudgeReport):
    """How far all judges' scores move where they should, and where they should not."""

    title, question, place = TITLE, QUESTION, 10
    results, opens_with_highest = RESULTS, True
    measures = (
        ReportedMeasure(DEVIATION, "deviation", "deviation_items", "items"),
        ReportedMeasure(CONFORMITY, "conformity", "conformity_items", "items"),
    )
    method = (
        "Items by Lee et al. (MM-JudgeBias, 2026): a response is scored from 1 to 10 with its "
        "instruction and picture, and again after one of nine changes. Five of them take away or "
        "exchange what the response has to be checked against: Bias-Deviation is the mean of "
        "(first score less second, at least 0) / (first score less 1), over items whose first "
        "score is above 1. Four change nothing that matters: Bias-Conformity is the mean of 1 less "
        "the difference of both scores by the longest way that the first could have moved. Over "
        "all, each bias weighs the same. A reply without a score is in no mean. Scores drawn by "
        "chance have 30 % and 53 %, a constant score 0 % and 100 %: neither measure is enough "
        "alone. Intervals are over pictures, each with its items of all biases. The prompt is not "
        "the authors'. photograph_biases, which come along, are 18 items of the project's own."
    )

    def build_evidence(self, total: Row, parts: Sequence[Row], items: pd.DataFrame) -> Evidence:
        """Count pictures of items with both scores: the bias with the fewest decides."""
        return Evidence(
            requests=total["requests"],
            answers=total["readable"],
            units=min(row["pictures"] for row in parts),
            min_units=MIN_PICTURES,
            unit="pictures of a bias",
            part=name_part(total["items"], total["total_items"], "items"),
        )

    def write_finding(self, total: Row) -> str:
        """Write how far a judge's scores fall and stay."""
        if total["deviation"] is None or total["conformity"] is None:
            return "No judge has scores of both kinds of changes."
        return (
            f"{total['model']} takes off {format_whole_percent(total['deviation'])} of what it "
            "could where evidence is gone or exchanged; where nothing that matters changes its "
            f"scores agree by {format_whole_percent(total['conformity'])}."
        )

    def list_wrong_answers(self, numbers: JudgeNumbers) -> list[WrongAnswer]:
        """List scores that stay or rise where another picture is shown, of each judge in turn."""
        groups = []
        for judge in numbers.totals:
            changed = _select_changed_pictures(numbers.answers, judge)
            may_fall = changed["measure"].eq("deviation") & (changed["before"] > SCALE[0])
            stays = changed["after"] >= changed["before"]
            rows = to_plain_records(changed[may_fall & stays].head(MOST))
            groups.append([_describe_scores(row) for row in rows])
        return round_robin(groups)

    def list_pictures(
        self, numbers: JudgeNumbers, wrong_answers: Sequence[WrongAnswer]
    ) -> list[tuple[str, str]]:
        """List changed pictures of the first biases, with the first judge's scores."""
        changed = _select_changed_pictures(numbers.answers, numbers.first_judge)
        return [
            (
                "{bias}: {model} gives {before:g} before and {after:g} after the change, with this "
                "picture".format(**row),
                row["sha256"],
            )
            for row in to_plain_records(changed.drop_duplicates("bias").head(_MOST_PICTURES))
        ]

    def build_tables(self, numbers: JudgeNumbers) -> list[Table]:
        """Build the measures by judge and bias."""
        lines = [
            numbers.build_line(f"{row['model']}, {row['part']}", row, COLUMNS.values())
            for row in sorted(numbers.rows, key=lambda row: row["part"] != ALL)
        ]
        return [Table.plain("By bias", "Judge", COLUMNS, lines)]


def _select_changed_pictures(answers: pd.DataFrame, judge: str) -> pd.DataFrame:
    """A judge's answers about other pictures than before, with both scores."""
    chosen = answers[answers["model"].eq(judge)]
    scores = chosen.pivot(index="item_id", columns="side", values="score").dropna()
    scores = scores.reindex(columns=[*SIDES]).set_axis(["before", "after"], axis=1)
    is_other = chosen["sha256"].ne("") & chosen["sha256"].ne(chosen["picture_id"])
    changed = chosen[chosen["side"].eq(SIDES[1]) & is_other]
    return changed.merge(scores, left_on="item_id", right_index=True)


def _describe_scores(row: Row) -> WrongAnswer:
    cells = {
        "answer": f"Of {SCALE[1]}, before → after: {row['before']:g} → {row['after']:g}",
        "ground_truth": "The evidence is another one: the score should fall",
    }
    question = f"To “{row['instruction'] or ''}”, how good is “{row['judged_response']}”?"
    bias = row["bias"].replace("_", " ")
    return WrongAnswer(
        {**row, **cells}, question, f"Changed: {bias}", row["picture_id"], "As it was"
    )
