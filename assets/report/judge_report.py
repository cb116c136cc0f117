"""A report of one page about the numbers of all judges, as a benchmark declares it."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from textwrap import shorten
from typing import ClassVar, NamedTuple, TypeAlias

import pandas as pd
from dagster import AssetsDefinition

from assets.kit.answer_results import ALL, AnswerResults, JudgedItems
from assets.kit.columns import to_plain_records
from assets.kit.limits import format_count_of_total
from assets.kit.step_run import Row
from assets.kit.table_asset import NotMaterialized, TablesMismatch
from assets.report.asset import ReportSources, report_asset
from assets.report.cells import Cell, Line, Table, mark_trial, share_cell
from assets.report.formats import Rate, read_rate
from assets.report.one_page import SHOWN_PX, one_page
from assets.report.openings import Entry
from assets.report.publish import Site, Thumbnail
from assets.report.standings import Failure, JudgeResults, Measure, Standing
from metrics.statistics.firmness import FIRMNESS, Evidence, Firmness
from resources.models.catalog import Model

_shorten_text = partial(shorten, width=400, placeholder=" …")
"""Shortens a text of a card, which may be a prompt or a response of a thousand words."""
NumberColumn: TypeAlias = Callable[[Row, Firmness], Cell]
"""Builds a cell of a row of numbers, and of how firm they are."""


class ReportedMeasure(NamedTuple):
    """A measure, its column of the rows over everything, and the column that counts its items."""

    measure: Measure
    column: str
    count_column: str
    unit: str
    """The items, in the plural."""


class WrongAnswer(NamedTuple):
    """A row of the answers that is wrong in a telling way, and a picture to compare its own with.

    `alt` and `comparison_alt` say what the pictures show.
    """

    row: Row
    question: str
    alt: str
    comparison: str = ""
    """The sha256 of the other picture; empty for none."""
    comparison_alt: str = ""


@dataclass(frozen=True, kw_only=True)
class JudgeNumbers:
    """What a page is made of: rows of results, and the answers behind them.

    The judge in the finding is the first.
    """

    rows: Sequence[Row]
    totals: Mapping[str, Row]
    """The row over everything of each judge."""
    evidence: Mapping[str, Evidence]
    answers: pd.DataFrame

    @property
    def first_judge(self) -> str:
        """The judge in the finding."""
        return next(iter(self.totals))

    def build_line(
        self, label: str, row: Row, columns: Iterable[NumberColumn], small: str = ""
    ) -> Line:
        """Build the line of a table about a row."""
        firmness = self.evidence[row["model"]].firmness
        return Line(label, [column(row, firmness) for column in columns], small)


def rate_column(name: str, cell: Callable[[Rate], Cell] = share_cell) -> NumberColumn:
    """The column of a number with its interval, marked where it is a trial's."""
    return lambda row, firmness: mark_trial(cell(read_rate(row, name)), firmness)


def name_part(count: int, total: int, unit: str) -> str:
    """The part that was asked about, such as "20 of 300 cases"; empty for all of it."""
    return format_count_of_total(count, total, unit) if count < total else ""


class JudgeReport(ABC):
    """The report of a benchmark: what its page says, from the table of all judges' numbers."""

    title: ClassVar[str]
    question: ClassVar[str]
    place: ClassVar[int]
    """The place among the benchmarks on the front page."""
    method: ClassVar[str]
    """A paragraph on how it is measured."""
    results: ClassVar[AnswerResults]
    measures: ClassVar[Sequence[ReportedMeasure]]
    """The measures on the front page; the page has a chart of the first."""
    opens_with_highest: ClassVar[bool]
    """Whether the finding is about the highest of the firmest judges by the first measure, or about
    the lowest."""
    partition_unit: ClassVar[str] = "sets"
    """The partitions of the items, in the plural."""

    def read_rows(self, table: pd.DataFrame) -> Sequence[Row]:
        """The rows of the results, None where there is no number."""
        return to_plain_records(table)

    @abstractmethod
    def build_evidence(self, total: Row, parts: Sequence[Row], items: pd.DataFrame) -> Evidence:
        """Build a judge's evidence from its row over everything, its other rows, and the items."""

    @abstractmethod
    def write_finding(self, total: Row) -> str:
        """Write the finding about a judge from its row over everything."""

    def list_wrong_answers(self, numbers: JudgeNumbers) -> Sequence[WrongAnswer]:
        """List telling wrong answers, the most telling one of the finding's judge first."""
        return ()

    @abstractmethod
    def list_pictures(
        self, numbers: JudgeNumbers, wrong_answers: Sequence[WrongAnswer]
    ) -> Sequence[tuple[str, str]]:
        """List the pictures below the finding: captions, each with a sha256."""

    @abstractmethod
    def build_tables(self, numbers: JudgeNumbers) -> Sequence[Table]:
        """Build the tables of all numbers."""

    def build_asset(self, judges: Sequence[Model]) -> AssetsDefinition:
        """Build the asset `report` over these judges."""
        return report_asset(
            self.results.key.path[0],
            lambda sources: self._build_site(sources, judges),
            deps=[self.results.key],
            description=self.question,
        )

    def _build_site(self, sources: ReportSources, judges: Sequence[Model]) -> Site:
        table = sources.table(self.results.name)
        if table is None:
            raise NotMaterialized(
                f"{sources.group}/report: no numbers yet. Materialize {sources.group}/"
                f"{self.results.name}."
            )
        judged = self.results.load_answers(sources.home, judges)
        count, partitions = (
            self.results.count_materialized(sources.home),
            self.results.list_partitions(),
        )
        part = name_part(count, len(partitions), self.partition_unit)
        numbers = self._build_numbers(self.read_rows(table), judged, judges, part)
        first = numbers.first_judge
        wrong_answers = self.list_wrong_answers(numbers)
        site = one_page(
            sources,
            Entry(
                self.title,
                self.question,
                self.write_finding(numbers.totals[first]),
                numbers.evidence[first].firmness,
                place=self.place,
            ),
            judged=JudgeResults(
                [reported.measure for reported in self.measures],
                self._build_standings(sources, numbers),
                [_build_failure(wrong, numbers.evidence) for wrong in wrong_answers],
            ),
            pictures=self.list_pictures(numbers, wrong_answers),
            tables=self.build_tables(numbers),
            method=self.method,
        )
        failed = [
            Thumbnail(digest, SHOWN_PX)
            for wrong in wrong_answers
            for digest in (wrong.row["sha256"], wrong.comparison)
            if digest
        ]
        return replace(site, thumbnails=[*dict.fromkeys([*site.thumbnails, *failed])])

    def _build_numbers(
        self, rows: Sequence[Row], judged: JudgedItems, judges: Sequence[Model], part: str
    ) -> JudgeNumbers:
        """Sort the judges; raises `TablesMismatch` where the results are of other answers.

        `part` names the materialized part of all partitions, and is empty for all of them.
        """
        totals = {row["model"]: row for row in rows if row[self.results.scope_column] == ALL}
        stand_ins = {judge.name for judge in judges if judge.is_stand_in}
        evidence = {}
        for model, answers in judged.answers.groupby("model", sort=False):
            counts = len(answers), answers[self.results.readable_column].notna().sum()
            parts = [row for row in rows if row["model"] == model and row is not totals.get(model)]
            counted = (
                self.build_evidence(totals[model], parts, judged.items) if model in totals else None
            )
            if counted is None or (counted.requests, counted.answers) != counts:
                name = self.results.key.to_user_string()
                answers_name = f"{self.results.step.asset.key.to_user_string()}_{model}"
                raise TablesMismatch(
                    f"{name} has other numbers than {answers_name} gives. Materialize {name} again."
                )
            evidence[str(model)] = replace(
                counted,
                part=", ".join(filter(None, (part, counted.part))),
                is_stand_in=model in stand_ins,
            )

        def find_place(model: str) -> tuple[int, bool, float]:
            value = totals[model][self.measures[0].column]
            sign = -1 if self.opens_with_highest else 1
            place = FIRMNESS.index(evidence[model].firmness)
            return place, value is None, sign * (value or 0)

        models = sorted(evidence, key=find_place)
        return JudgeNumbers(
            rows=[row for model in models for row in rows if row["model"] == model],
            totals={model: totals[model] for model in models},
            evidence=evidence,
            answers=judged.answers,
        )

    def _build_standings(self, sources: ReportSources, numbers: JudgeNumbers) -> list[Standing]:
        partitions = self.results.list_partitions()
        answers_name = self.results.step.asset.key.path[-1]
        return [
            Standing.build(
                model,
                reported.measure,
                numbers.evidence[model],
                read_rate(total, reported.column),
                items=int(total[reported.count_column]),
                unit=reported.unit,
                date=sources.made_on(f"{answers_name}_{model}", partitions),
                link="index.html",
            )
            for reported in self.measures
            for model, total in numbers.totals.items()
        ]


def _build_failure(wrong: WrongAnswer, evidence: Mapping[str, Evidence]) -> Failure:
    row, comparison = wrong.row, wrong.comparison
    return Failure(
        model=row["model"],
        firmness=evidence[row["model"]].firmness,
        picture=Thumbnail(row["sha256"], SHOWN_PX).file,
        alt=wrong.alt,
        question=_shorten_text(wrong.question),
        answer=_shorten_text(row["answer"]),
        truth=_shorten_text(row["ground_truth"]),
        link="index.html",
        comparison=Thumbnail(comparison, SHOWN_PX).file if comparison else "",
        comparison_alt=wrong.comparison_alt,
    )
