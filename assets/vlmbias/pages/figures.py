"""The accuracy table as printed: judges down, topics or subtopics across."""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Literal, NamedTuple, TypeAlias
from urllib.parse import quote

import pandas as pd

from assets.kit.columns import NamedRow, iterate_named_rows
from assets.report import cells
from assets.report.cells import Body, Cell, Head, Table, mark_trial, rate_numbers
from assets.report.charts import PERCENT, Bar, Chart, Mark
from assets.report.formats import (
    Rate,
    Shares,
    format_count,
    format_interval,
    format_percent,
    format_points,
    format_rate,
    read_rate,
)
from assets.vlmbias.pages.judges import PromptedJudge, prompted_judge, sort_judges
from generators.topics import DRAWN, PHOTOGRAPHED
from metrics import BASELINE, EVERY_SIZE, QUESTION_GROUPS, TASK_MEAN, WHOLE_TOPIC
from metrics.statistics.firmness import Evidence

COUNTING, NAMING = QUESTION_GROUPS["Q1"], QUESTION_GROUPS["Q3"]
SANITY = (QUESTION_GROUPS["N1"], QUESTION_GROUPS["N2"])
BENCHMARK, ORIGINALS = "benchmark", "originals"
ORIGINAL, COUNTERFACTUAL = "original", "counterfactual"
PUBLISHED = (BENCHMARK, ORIGINALS, ORIGINAL, COUNTERFACTUAL)
"""The image sets whose labels are proved, and the variants of both together."""
PARTIAL = "partial"
"""The image set of answers to a part of a topic's questions, as a limit has left them."""
NOT_ASKED, ASKED_IN_PART = "not asked", "asked in part"

Measure = Literal["accuracy", "bias_rate", "bias_share_of_wrong"]
Where: TypeAlias = tuple[str, str, str, str, str]
"""Image set, size, questions, topic and subtopic."""


class AccuracyColumn(NamedTuple):
    """A printed column: its rows of the accuracy table, and the section it leads to.

    `prompting` holds for every judge; None is the one that the whole table is about. `extra`
    says what else stands in a cell: the bar of all answers, the change from the baseline, or the
    difference to the column before.
    """

    label: str
    topic: str
    subtopic: str = WHOLE_TOPIC
    measure: Measure = "accuracy"
    questions: str = COUNTING
    image_set: str = BENCHMARK
    size: str = EVERY_SIZE
    prompting: str | None = None
    extra: Literal["", "bar", "change", "difference"] = ""
    section: str = ""

    @property
    def place(self) -> Where:
        """The key of these rows, of every judge."""
        return self.image_set, self.size, self.questions, self.topic, self.subtopic


LEADING = AccuracyColumn("Task mean", TASK_MEAN)


class AccuracyGroup(NamedTuple):
    """Columns under one heading; a group without a heading has an empty label."""

    label: str
    columns: Sequence[AccuracyColumn]


@dataclass(frozen=True, slots=True)
class Accuracy:
    """The accuracy table by judge and place; `scenes` counts those that a column is about.

    `in_part` are judges with a topic of which they were asked a part of the questions: these
    answers are in none of the cells.
    """

    judges: list[PromptedJudge]
    topics: list[str]
    cells: dict[tuple[PromptedJudge, Where], NamedRow]
    scenes: dict[Where, int]
    in_part: Collection[tuple[PromptedJudge, str]] = ()

    @classmethod
    def build(
        cls,
        frame: pd.DataFrame,
        topics: Sequence[str],
        references: Collection[str],
        in_part: pd.DataFrame | None = None,
    ) -> "Accuracy":
        """Read the table; `topics` gives the order of those that it holds.

        `in_part` is the table of what was asked in part.
        """
        rows_by_place: dict[tuple[PromptedJudge, Where], NamedRow] = {}
        scenes: dict[Where, int] = {}
        for row in iterate_named_rows(frame):
            place = (row.image_set, row.size, row.questions, row.topic, row.subtopic)
            rows_by_place[prompted_judge(row, references), place] = row
            scenes[place] = max(row.base_images, scenes.get(place, 0))
        present_topics = {place[3] for place in scenes}
        partly = [] if in_part is None else iterate_named_rows(in_part)
        return cls(
            sort_judges({judge for judge, _ in rows_by_place}),
            [topic for topic in topics if topic in present_topics],
            rows_by_place,
            scenes,
            {(prompted_judge(row, references), row.topic) for row in partly},
        )

    @property
    def promptings(self) -> list[str]:
        """The ways in which some judge was asked, the baseline always among them and first."""
        return list(dict.fromkeys([BASELINE, *(judge.prompting for judge in self.judges)]))

    @property
    def sizes(self) -> list[str]:
        """The sizes in px with rows of their own, in ascending order."""
        return sorted({place[1] for place in self.scenes} - {EVERY_SIZE}, key=int)

    def questions(self, prompting: str) -> set[str]:
        """The questions that some judge was asked in this way."""
        return {place[2] for judge, place in self.cells if judge.prompting == prompting}

    def subtopics(self, topic: str) -> list[str]:
        """The subtopics of a topic, in the table's order; not of the originals alone."""
        subtopics = dict.fromkeys(
            place[4] for _, place in self.cells if place[0] != ORIGINALS and place[3] == topic
        )
        return [subtopic for subtopic in subtopics if subtopic != WHOLE_TOPIC]

    @property
    def extent(self) -> str:
        """Over how many of the benchmark's topics a task mean is, if not over all."""
        total = len(DRAWN) + len(PHOTOGRAPHED)
        return f"over {len(self.topics)} of {total} topics" if len(self.topics) < total else ""

    def select_groups(self, groups: Iterable[AccuracyGroup]) -> list[AccuracyGroup]:
        """The groups without the columns about which nobody was asked anything."""
        groups_with_scenes = [
            AccuracyGroup(
                group.label, [column for column in group.columns if column.place in self.scenes]
            )
            for group in groups
        ]
        return [group for group in groups_with_scenes if group.columns]

    def line_up(self, prompting: str) -> list[PromptedJudge]:
        """List every model under one way of asking, asked so or not, and the reference judges.

        The one with the best task mean comes first; trials stand below all results.
        """
        models = dict.fromkeys((judge.model, judge.reference) for judge in self.judges)
        judges = [
            PromptedJudge(model, BASELINE if reference else prompting, reference)
            for model, reference in models
        ]
        is_partial = LEADING.place not in self.scenes
        column = LEADING._replace(image_set=PARTIAL) if is_partial else LEADING
        rates = {judge: self.rate(judge, column) for judge in judges}

        def place(judge: PromptedJudge) -> tuple[bool, bool, float]:
            rate = rates[judge]
            return rate.value is None, rate.firmness == "trial", -(rate.value or 0.0)

        return sorted(judges, key=place)

    def rate(
        self, judge: PromptedJudge, column: AccuracyColumn, before: AccuracyColumn | None = None
    ) -> Rate:
        """The judge's rate in a column, how firm it is and why; `before` is the column before."""
        if column.prompting is not None:
            judge = judge._replace(prompting=column.prompting)
        row = self.cells.get((judge, column.place))
        if row is None:
            partly = (judge, column.topic) in self.in_part
            return Rate(None, note=ASKED_IN_PART if partly else NOT_ASKED)
        rates, evidence = row._asdict(), self.evidence(judge, column)
        note = self._note(judge, column, row)
        if not evidence.has_number:
            return Rate(None, note="no answer", firmness=evidence.firmness)
        notes = [note, *(evidence.reasons if column.image_set != PARTIAL and not note else ())]
        rate = read_rate(rates, column.measure)._replace(
            note=", ".join(filter(None, notes)), firmness=evidence.firmness
        )
        if column.extra == "bar" and row.accuracy is not None:
            return rate._replace(bar=Shares(row.accuracy, row.biased_errors))
        if column.extra == "change" and row.change is not None:
            return rate._replace(change=read_rate(rates, "change"))
        if column.extra == "difference" and before is not None:
            other = self.rate(judge, before).value
            if rate.value is not None and other is not None:
                return rate._replace(change=Rate(rate.value - other))
        return rate

    def evidence(self, judge: PromptedJudge, column: AccuracyColumn) -> Evidence:
        """The answers behind a judge's rate in a column."""
        row = self.cells.get((judge, column.place))
        requests, unanswered = (0, 0) if row is None else (int(row.requests), int(row.unanswered))
        lacking = self._lacking(judge, column) if column.topic == TASK_MEAN else ""
        in_part = column.image_set == PARTIAL or (judge, column.topic) in self.in_part
        return Evidence(
            requests=requests,
            answers=requests - unanswered,
            part=ASKED_IN_PART if in_part else lacking,
            is_stand_in=judge.reference,
        )

    def table(self, caption: str, groups: Sequence[AccuracyGroup], prompting: str) -> Table:
        """A table of all judges, the reference judges in a body of their own.

        Its judges lead to their wrong answers in the gallery.
        """
        columns = [column for group in groups for column in group.columns]
        before = [None, *columns][: len(columns)]
        rates = {
            judge: [
                self.rate(judge, *column_and_before)
                for column_and_before in zip(columns, before, strict=True)
            ]
            for judge in self.line_up(prompting)
        }
        heads = [cells.Group(g.label, [self._head(column) for column in g.columns]) for g in groups]
        return judge_table(caption, heads, rates, self.judges, mean=True)

    def chart(self, name: str, title: str, column: AccuracyColumn, prompting: str) -> Chart:
        """Accuracy and bias rate of every judge in a column, models before reference judges."""
        description = "accuracy and bias rate of every judge"
        return Chart(name, title, description, PERCENT, self.bars(column, prompting))

    def bars(self, column: AccuracyColumn, prompting: str) -> list[Bar]:
        """The bars of such a chart."""
        judges = sorted(self.line_up(prompting), key=lambda judge: judge.reference)
        return [self.bar(judge, column) for judge in judges]

    def bar(self, judge: PromptedJudge, column: AccuracyColumn) -> Bar:
        """Accuracy and bias rate of a judge in a column."""
        right = self.rate(judge, column)
        biased = self.rate(judge, column._replace(measure="bias_rate"))
        note, is_trial = f" ({right.note})" if right.note else "", right.firmness == "trial"
        return Bar(
            f"{judge.model}{' · reference' * judge.reference}{' · trial' * is_trial}",
            [
                Mark("accuracy", right, format_percent(right.value)),
                Mark("bias", biased, format_percent(biased.value)),
            ],
            f"accuracy {format_rate(right)}{note}, bias rate {format_rate(biased)}",
            right.note if right.value is None else "",
        )

    def _head(self, column: AccuracyColumn) -> Head:
        scenes = self.scenes.get(column.place)
        detail = (
            "" if scenes is None else "1 scene" if scenes == 1 else f"{format_count(scenes)} scenes"
        )
        return Head(column.label, detail, f"#{column.section}" if column.section else "")

    def _note(self, judge: PromptedJudge, column: AccuracyColumn, row: NamedRow) -> str:
        """The reason for no rate, or the number of topics that it rests on.

        The columns of those topics say which.
        """
        if column.topic == TASK_MEAN and (lacking := self._lacking(judge, column)):
            return lacking
        share = column.measure == "bias_share_of_wrong"
        return "none wrong" if share and row.bias_share_of_wrong is None else ""

    def _lacking(self, judge: PromptedJudge, column: AccuracyColumn) -> str:
        """`3 of 5 topics`, where a task mean lacks some; else empty."""
        parts = [column._replace(topic=topic).place for topic in self.topics]
        asked_places = [part for part in parts if part in self.scenes]
        topic_rows = [self.cells.get((judge, part)) for part in asked_places]
        answered_rows = [row for row in topic_rows if row is not None and row.answers]
        return (
            f"{len(answered_rows)} of {len(asked_places)} topics"
            if len(answered_rows) < len(asked_places)
            else ""
        )


def judge_table(
    caption: str,
    groups: Sequence[cells.Group],
    rates: dict[PromptedJudge, list[Rate]],
    asked_judges: Collection[PromptedJudge],
    *,
    mean: bool = False,
) -> Table:
    """A line a judge; of those that were asked anything, with a link to their wrong answers.

    With `mean` the last line of several models is their mean, as in the paper's tables.
    """
    models = [judge for judge in rates if not judge.reference]
    lines = [_line(judge, rates[judge], judge in asked_judges) for judge in models]
    if mean and len(models) > 1:
        columns = zip(*(rates[judge] for judge in models), strict=True)
        lines.append(cells.Line("Mean", [_cell(_mean(column)) for column in columns], kind="mean"))
    references = [_line(j, rates[j], j in asked_judges) for j in rates if j.reference]
    bodies = [Body("Models", lines), Body("Reference judges", references)]
    return Table(caption, "Judge", groups, bodies)


def _line(judge: PromptedJudge, rates: Sequence[Rate], is_asked: bool) -> cells.Line:
    return cells.Line(
        judge.model,
        [_cell(rate) for rate in rates],
        "reference" if judge.reference else "",
        f"gallery.html#size=all&wrong={quote(judge.name, safe='')}" if is_asked else "",
        f"Wrong answers of {judge.name} in the gallery",
    )


def _cell(rate: Rate) -> Cell:
    text = "" if rate.value is None and rate.note else format_percent(rate.value)
    change = format_points(rate.change) if rate.change else ""
    cell = Cell(text, format_interval(rate), rate.note, rate_numbers(rate), change, rate.bar)
    return mark_trial(cell, rate.firmness)


def _mean(rates: Sequence[Rate]) -> Rate:
    """The mean of those models' rates that are results, and how many there are."""
    results = [rate for rate in rates if rate.value is not None and rate.firmness != "trial"]
    if not results:
        return Rate(None)
    bars = [rate.bar for rate in results if rate.bar is not None]
    changes = [rate.change.value for rate in results if rate.change is not None]
    return Rate(
        fmean(rate.value for rate in results if rate.value is not None),
        note=f"{len(results)} of {len(rates)} models" if len(results) < len(rates) else "",
        change=Rate(fmean(c for c in changes if c is not None)) if changes else None,
        bar=Shares(fmean(b.right for b in bars), fmean(b.biased for b in bars)) if bars else None,
    )
