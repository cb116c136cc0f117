"""The page of the benchmark."""

from collections.abc import Sequence

import pandas as pd

from assets.judge_sets.common import QUESTION, TITLE
from assets.judge_sets.results import RESULTS
from assets.kit.answer_results import ALL
from assets.kit.columns import to_plain_records
from assets.kit.step_run import Row
from assets.report.cells import Cell, Table
from assets.report.formats import Rate, format_interval, format_whole_percent
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
from generators.prompts.response_pairs import PICTURE_MARK
from metrics.statistics.firmness import Evidence

AGREEMENT = Measure(
    "Agreement with people",
    "higher",
    "share",
    "Share of pairs of responses in which the judge prefers what people prefer, a tie half.",
)
FLIPS = Measure(
    "Order flips",
    "lower",
    "share",
    "Share of pairs in which the judge's preference changes with the order of the responses.",
)
MIN_PICTURES = 20
"""Pictures of a set that a result needs: more than come along."""
METHOD = (
    "Each pair is shown in both orders. Agreement is the mean over both, a tie half, of pairs with "
    "two readable answers; a judge that always takes the first response agrees in 50 % and flips "
    "in 100 %. Bounds are of a share over all pairs, whatever the missing answers are. Intervals "
    "resample pictures, or prompts with their pictures, with all pairs; sets weigh the same. In "
    "photograph_pairs, which come along, nobody compared: the right answer is the preferred one. "
    "Sources were rejected before any judge was asked if their responses share no more words with "
    "their own questions than with others; where all questions are the same, or no response has "
    "words, this could not be checked."
)


def bounds_column(name: str) -> NumberColumn:
    """The column of a share's bounds over all pairs."""
    return lambda row, firmness: Cell(
        format_interval(Rate(0.0, row[f"{name}_least"], row[f"{name}_most"]))
    )


COLUMNS: dict[str, NumberColumn] = {
    "Agreement": rate_column("agreement"),
    "Order flips": rate_column("flips"),
    "Ties": rate_column("ties"),
    "Prefers the first shown": rate_column("first_shown"),
    "Bounds of agreement": bounds_column("agreement"),
    "Bounds of flips": bounds_column("flips"),
    "Pairs": lambda row, firmness: Cell(f"{row['answered_pairs']:,} of {row['pairs']:,}"),
}


class AgreementReport(JudgeReport):
    """How far all judges agree with people, and how often the order changes their preference."""

    title, question, place = TITLE, QUESTION, 8
    results, opens_with_highest = RESULTS, True
    measures = (
        ReportedMeasure(AGREEMENT, "agreement", "answered_pairs", "pairs"),
        ReportedMeasure(FLIPS, "flips", "answered_pairs", "pairs"),
    )
    method = METHOD

    def build_evidence(self, total: Row, parts: Sequence[Row], items: pd.DataFrame) -> Evidence:
        """Count pictures of pairs with both answers: the set with the fewest decides."""
        return Evidence(
            requests=total["requests"],
            answers=total["answers"],
            units=min(row["pictures"] for row in parts if row["domain"] == ALL),
            min_units=MIN_PICTURES,
            unit="pictures",
            part=name_part(total["pairs"], total["total_pairs"], "pairs"),
        )

    def write_finding(self, total: Row) -> str:
        """Write how often a judge agrees with people."""
        if total["agreement"] is None:
            return "No judge has compared a pair in both orders."
        agreement, flips = (format_whole_percent(total[name]) for name in ("agreement", "flips"))
        return (
            f"{total['model']} prefers the preferred response in {agreement} of comparisons, over "
            f"both orders; in {flips} of pairs its preference changes with the order."
        )

    def list_wrong_answers(self, numbers: JudgeNumbers) -> list[WrongAnswer]:
        """List responses in words that people do not prefer and judges do, of each in turn."""
        answers = numbers.answers
        texts = answers["response_a"] + answers["response_b"]
        is_shown = answers["sha256"].ne("") & ~texts.str.contains(PICTURE_MARK, regex=False)
        wrong = answers[is_shown & answers["agrees"].eq(0.0)]
        return round_robin(
            [
                _describe_preference(row)
                for row in to_plain_records(wrong[wrong["model"].eq(judge)].head(MOST))
            ]
            for judge in numbers.totals
        )

    def list_pictures(
        self, numbers: JudgeNumbers, wrong_answers: Sequence[WrongAnswer]
    ) -> list[tuple[str, str]]:
        """List two pictures with their questions."""
        shown = numbers.answers.drop_duplicates("sha256").head(2)
        return [*zip(shown["question"], shown["sha256"], strict=True)]

    def build_tables(self, numbers: JudgeNumbers) -> list[Table]:
        """Build the rates by judge, set and domain."""
        lines = [
            numbers.build_line(
                f"{row['model']}, {row['set']}, {row['domain']}", row, COLUMNS.values()
            )
            for row in numbers.rows
            if row["set"] != ALL
        ]
        return [Table.plain("By set and domain", "Judge", COLUMNS, lines)]


def _describe_preference(row: Row) -> WrongAnswer:
    texts = [row[name] for name in ("response_a", "response_b")]
    right = texts.pop("ab".index(row["preferred"]))
    cells = {"answer": f"Prefers “{texts[0]}”", "ground_truth": f"Preferred: “{right}”"}
    return WrongAnswer({**row, **cells}, row["question"], "The picture that is asked about")
