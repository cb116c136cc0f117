"""The page of the benchmark."""

from collections.abc import Sequence

import pandas as pd

from assets.game_rules.common import QUESTION, TITLE
from assets.game_rules.results import RESULTS
from assets.kit.columns import to_plain_records
from assets.kit.step_run import Row
from assets.report.cells import Table, points_cell
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
from metrics.game_rules.rule_rates import ALL_GOALS
from metrics.statistics.firmness import Evidence

USUAL = Measure(
    "Usual rule's answer",
    "lower",
    "share",
    "Share of questions by the inverse rule that are answered by the usual one.",
)
CHANGE = Measure(
    "Right by the inverse rule less by the usual one",
    "near 0",
    "points",
    "Change of the share of right answers, about the same positions, where the rule is inverted.",
    "points of 100",
)
MIN_POSITIONS = 10
"""Positions of a game that a result needs."""
_MOST_PICTURES = 2
METHOD = (
    "Each picture shows the end of a game. Each is asked about by the usual rule and by its "
    "inverse, which stands in the question: the mated side loses, or wins; the side with more "
    "pieces wins, or the one with fewer. In half of the positions of chess the mated side has more "
    "pieces; either colour wins equally often. python-chess decides who is mated; code that never "
    "saw the position reads it back from the pixels. A reply that cannot be read is not right, and "
    "in no share of usual answers. A share is the mean of both games; its "
    "interval resamples positions with all of their answers. By a coin half of the answers are "
    "the usual rule's."
)
COLUMNS = {
    "Right, usual rule": rate_column("right_usual"),
    "Right, inverse rule": rate_column("right_inverse"),
    "Usual answer, inverse rule": rate_column("usual_answers"),
    "Right, inverse less usual, points": rate_column("change", points_cell),
}


class RuleReport(JudgeReport):
    """The rates of all judges by either rule, and answers by the usual one."""

    title, question, place = TITLE, QUESTION, 6
    results, opens_with_highest, partition_unit = RESULTS, True, "games"
    measures = (
        ReportedMeasure(USUAL, "usual_answers", "positions", "positions"),
        ReportedMeasure(CHANGE, "change", "positions", "positions"),
    )
    method = METHOD

    def build_evidence(self, total: Row, parts: Sequence[Row], items: pd.DataFrame) -> Evidence:
        """Count positions by game and goal: the fewest decide."""
        return Evidence(
            requests=total["requests"],
            answers=total["readable"],
            units=min(row["positions"] for row in parts),
            min_units=MIN_POSITIONS,
            unit="positions",
            part=name_part(total["requests"], len(items), "questions"),
        )

    def write_finding(self, total: Row) -> str:
        """Write how often a judge keeps to the usual rule."""
        if total["usual_answers"] is None:
            return "No judge has given an answer that can be read."
        shares = {"usual": total["right_usual"], "inverse": total["right_inverse"]}
        right = " and ".join(
            f"{format_whole_percent(share)} by the {rule} rule"
            for rule, share in shares.items()
            if share is not None
        )
        return (
            f"{total['model']} names the usual rule's winner in "
            f"{format_whole_percent(total['usual_answers'])} of the questions that invert the "
            f"rule. It is right in {right}."
        )

    def list_wrong_answers(self, numbers: JudgeNumbers) -> list[WrongAnswer]:
        """List answers by the usual rule to inverse questions, of each judge and goal in turn."""
        answers = numbers.answers
        is_wrong = answers["rule"].eq("inverse") & answers["usual"].eq(1.0)
        groups = answers[is_wrong].groupby(["goal", "model"], sort=False)
        return round_robin(
            [
                WrongAnswer(row, row["question"], f"Position of {row['game']}")
                for row in to_plain_records(rows.head(MOST))
            ]
            for _, rows in groups
        )

    def list_pictures(
        self, numbers: JudgeNumbers, wrong_answers: Sequence[WrongAnswer]
    ) -> list[tuple[str, str]]:
        """List the wrong answers' pictures, each once; without any, some positions."""
        if not wrong_answers:
            digests = numbers.answers["sha256"].unique()[:_MOST_PICTURES]
            return [("A position", digest) for digest in digests]
        rows = dict[str, Row]()
        for wrong in wrong_answers:
            rows.setdefault(wrong.row["sha256"], wrong.row)
        return [
            (
                f"{row['question'].split('. ')[1]}. {row['model']} answers {row['answer']}; "
                f"right is {row['ground_truth']}.",
                row["sha256"],
            )
            for row in [*rows.values()][:_MOST_PICTURES]
        ]

    def build_tables(self, numbers: JudgeNumbers) -> list[Table]:
        """Build the rates by judge, and by game and goal."""
        lines = [
            numbers.build_line(
                f"{row['model']}, {_label_part(row, numbers)}", row, COLUMNS.values()
            )
            for row in numbers.rows
        ]
        return [Table.plain("By game and goal", "Judge", COLUMNS, lines)]


def _label_part(row: Row, numbers: JudgeNumbers) -> str:
    if row["goal"] != ALL_GOALS:
        return f"{row['game']}, {row['goal']}"
    parts = (other for other in numbers.rows if other["model"] == row["model"])
    return " and ".join(dict.fromkeys(part["game"] for part in parts if part is not row))
