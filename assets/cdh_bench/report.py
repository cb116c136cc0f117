"""The page of the benchmark."""

from collections.abc import Sequence

import pandas as pd

from assets.cdh_bench.common import QUESTION, TITLE
from assets.cdh_bench.results import RESULTS
from assets.kit.columns import to_plain_records
from assets.kit.step_run import Row
from assets.report.cells import Cell, Line, Table, change_cell, points_cell
from assets.report.formats import format_whole_percent
from assets.report.judge_report import (
    JudgeNumbers,
    JudgeReport,
    ReportedMeasure,
    WrongAnswer,
    name_part,
    rate_column,
)
from assets.report.standings import MOST, Measure, round_robin
from metrics.statistics.firmness import Evidence

COUNTERFACTUAL = Measure(
    "Counterfactual accuracy",
    "higher",
    "share",
    "Share of right answers about pictures that contradict common sense (CF-Acc).",
)
DROP = Measure(
    "Counterfactual drop",
    "lower",
    "points",
    "Right answers about commonsense pictures less those about counterfactual ones (CFAD).",
    "points of 100",
)
MIN_PAIRS = 25
"""Pairs that a result needs."""
_MOST_PICTURES = 2
COLUMNS = {
    "CF-Acc": rate_column("cf_accuracy"),
    "CS-Acc": rate_column("cs_accuracy"),
    "CFAD, points": rate_column("drop", points_cell),
    "CCR": rate_column("collapse"),
    "RPD": rate_column("dependency", change_cell),
}
PUBLISHED = {
    "Qwen3-VL-32B-Instruct, binary": (55.7, 93.3, 37.7, 100.0, 40.4),
    "Qwen3-VL-32B-Instruct, choice": (46.0, 92.7, 46.7, 84.6, 50.4),
    "Qwen3-VL-32B-Thinking, binary": (58.7, 90.0, 31.3, 78.2, 34.8),
    "Qwen3-VL-32B-Thinking, choice": (48.3, 77.7, 29.3, 56.8, 37.8),
}
"""Percent, by the authors' example results for all 300 pairs, with their own prompts."""


class ContrastReport(JudgeReport):
    """The accuracy of all judges with both kinds of pictures, and common sense's wrong answers."""

    title, question, place = TITLE, QUESTION, 9
    results, opens_with_highest = RESULTS, True
    measures = (
        ReportedMeasure(COUNTERFACTUAL, "cf_accuracy", "answered_pairs", "pairs"),
        ReportedMeasure(DROP, "drop", "answered_pairs", "pairs"),
    )
    method = (
        "Pairs of pictures by Chen et al. (CDH-Bench, 2026): one contradicts common sense, the "
        "other does not. Both are shown with the same two questions, one answered by yes or no, "
        "one by a letter. An unreadable answer is wrong; one that was refused or failed is none. "
        "CCR is the share of wrong answers about counterfactual pictures that are common sense's; "
        "with yes or no every readable one is. RPD is the drop divided by CS-Acc. Over both forms "
        "a pair counts by its mean. Intervals resample pairs. Questions with exchanged labels or "
        "repeated right options were rejected before any judge was asked, so that the authors' "
        "numbers are about more questions. photograph_contrasts, which come along, are six pairs "
        "of the project's own: photographs beside copies with other colours or upside down."
    )

    def build_evidence(self, total: Row, parts: Sequence[Row], items: pd.DataFrame) -> Evidence:
        """Count pairs."""
        return Evidence(
            requests=total["requests"],
            answers=total["readable"],
            units=total["answered_pairs"],
            min_units=MIN_PAIRS,
            unit="pairs",
            part=name_part(total["pairs"], total["total_pairs"], "pairs"),
        )

    def write_finding(self, total: Row) -> str:
        """Write how often a judge is right about either kind of picture."""
        if not total["readable"] or total["cf_accuracy"] is None or total["cs_accuracy"] is None:
            return "No judge has given readable answers about both kinds of pictures."
        return (
            f"{total['model']} is right in {format_whole_percent(total['cf_accuracy'])} about "
            "pictures that contradict common sense, and in "
            f"{format_whole_percent(total['cs_accuracy'])} about their usual counterparts."
        )

    def list_wrong_answers(self, numbers: JudgeNumbers) -> list[WrongAnswer]:
        """List common sense's answers about counterfactual pictures, of each judge in turn."""
        answers = numbers.answers
        usual = answers[answers["side"].eq("commonsense")]
        digests = dict(zip(usual["pair_id"], usual["sha256"], strict=True))
        followed = answers[answers["side"].eq("counterfactual") & answers["usual"].eq(1.0)]
        unusual, alt = "A picture that contradicts common sense", "Its usual counterpart"
        return round_robin(
            [
                WrongAnswer(row, row["question"], unusual, digests.get(row["pair_id"], ""), alt)
                for row in to_plain_records(followed[followed["model"].eq(judge)].head(MOST))
            ]
            for judge in numbers.totals
        )

    def list_pictures(
        self, numbers: JudgeNumbers, wrong_answers: Sequence[WrongAnswer]
    ) -> list[tuple[str, str]]:
        """List pictures that contradict common sense, with the answers about the first ones."""
        captions = {
            wrong.row["sha256"]: f"{wrong.row['model']} answers {wrong.row['answer']}; right is "
            f"{wrong.row['ground_truth']}. {wrong.question}"
            for wrong in reversed(wrong_answers)
        }
        answers = numbers.answers
        shown = answers.loc[answers["side"].eq("counterfactual"), "sha256"].unique()
        digests = [*dict.fromkeys([*reversed(captions), *shown])][:_MOST_PICTURES]
        return [(captions.get(digest, "Contradicts common sense"), digest) for digest in digests]

    def build_tables(self, numbers: JudgeNumbers) -> list[Table]:
        """Build the rates by judge, form and category, and the authors' own."""
        lines = [
            numbers.build_line(f"{row['model']}, {row['part']}", row, COLUMNS.values())
            for row in numbers.rows
        ]
        published = [
            Line(name, [*map(_write_published, COLUMNS, values)])
            for name, values in PUBLISHED.items()
        ]
        return [
            Table.plain("By form and category", "Judge", COLUMNS, lines),
            Table.plain("Published by the authors, all pairs", "Model", COLUMNS, published),
        ]


def _write_published(head: str, value: float) -> Cell:
    return Cell(f"{value:+.1f}" if "points" in head else f"{value:.1f} %")
