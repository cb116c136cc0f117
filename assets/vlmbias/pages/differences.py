"""Differences between judges on the questions that both have answered."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import pandas as pd

from assets.kit.columns import NamedRow, iterate_named_rows
from assets.report.cells import Cell, Table, number_cell, points_cell
from assets.report.columns import RowHead, TableColumn, tabulate
from assets.report.formats import NONE, Rate, format_p, format_points
from assets.vlmbias.pages.figures import BENCHMARK, COUNTING, PARTIAL
from assets.vlmbias.pages.judges import PromptedJudge
from metrics import QUESTION_GROUPS
from metrics.vlmbias.judge_differences import compare_judges

MOST_COMPARED = 8
"""Judges of which each two are compared: of more, the best, since pairs grow with the square."""
_LEVEL = 0.05
_MEASURES = {"accuracy": "Accuracy", "bias_rate": "Bias rate"}


@dataclass(frozen=True, slots=True)
class JudgeDifferences:
    """Both measures' rows by two judges, in the judges' order."""

    pairs: dict[tuple[str, str], dict[str, NamedRow]]

    @property
    def sentence(self) -> str:
        """How the two best differ in accuracy, in words."""
        (first, second), rows = next(iter(self.pairs.items()))
        row = rows["accuracy"]
        if row.difference is None:
            return f"{first} and {second} have answered no question that both were asked."
        points = format_points(Rate(abs(row.difference), *_ends(row)))
        better, other = (first, second) if row.difference >= 0 else (second, first)
        if row.p_holm >= _LEVEL:
            return (
                f"Which of {first} and {second} is right more often cannot be told from these "
                f"scenes: {points} percentage points, {format_p(row.p_holm)}."
            )
        return (
            f"{better} is right more often than {other} on the same questions: {points} "
            f"percentage points, {format_p(row.p_holm)}."
        )

    @property
    def table(self) -> Table:
        """A line for each two judges."""

        def measured(measure: str) -> Callable[[tuple[str, str]], Cell]:
            return lambda pair: _cell(self.pairs[pair][measure])

        def count_questions(pair: tuple[str, str]) -> Cell:
            row = self.pairs[pair]["accuracy"]
            return number_cell(row.questions, f"{row.topics} topics, {row.scenes} scenes")

        columns = [
            *(TableColumn(label, measured(measure)) for measure, label in _MEASURES.items()),
            TableColumn("Questions both answered", count_questions),
        ]
        head = RowHead[tuple[str, str]](label=" less ".join)
        return tabulate("Differences between judges", "Judges", head, columns, {"": self.pairs})


@dataclass(frozen=True, slots=True)
class CountedAnswers:
    """Answers to Q1 and Q2 about pictures of the benchmark, those to a part of a topic as well."""

    answers: pd.DataFrame

    @classmethod
    def select(cls, answers: pd.DataFrame) -> "CountedAnswers":
        """Select them from all answers."""
        is_counting = answers["question_id"].map(QUESTION_GROUPS.__getitem__).eq(COUNTING)
        return cls(answers[is_counting & answers["image_set"].isin((BENCHMARK, PARTIAL))])

    def compare(self, judges: Sequence[PromptedJudge]) -> JudgeDifferences:
        """Compare each two of the first judges, which are asked in one way."""
        names = [judge.model for judge in judges[:MOST_COMPARED]]
        promptings = {judge.prompting for judge in judges}
        is_of_these = (
            self.answers["model"].isin(names)
            & self.answers["prompting"].isin(promptings)
            & self.answers["image_set"].eq(BENCHMARK)
        )
        pairs: dict[tuple[str, str], dict[str, NamedRow]] = {}
        if len(names) > 1:
            compared = compare_judges(self.answers[is_of_these], names)
            for row in iterate_named_rows(compared):
                pairs.setdefault((row.first, row.second), {})[row.measure] = row
        return JudgeDifferences(pairs)


def _ends(row: NamedRow) -> tuple[float, float]:
    """The ends of the interval of a difference without its sign."""
    return (row.low, row.high) if row.difference >= 0 else (-row.high, -row.low)


def _cell(row: NamedRow) -> Cell:
    if row.difference is None:
        return Cell(NONE, note="no question in common")
    return points_cell(Rate(row.difference, row.low, row.high, format_p(row.p_holm)))
