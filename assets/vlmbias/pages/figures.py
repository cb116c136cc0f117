"""The accuracy table, turned into what is printed: judges down, topics or subtopics across."""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Literal, NamedTuple, TypeAlias
from urllib.parse import quote

import pandas as pd

from assets.report.cells import Body, Cell, Table, numbers_of
from assets.report.cells import Group as Columns
from assets.report.cells import Head as Heading
from assets.report.cells import Line as Printable
from assets.report.formats import Bar, Rate, count, interval, percent, signed
from assets.report.rows import Row, rows
from assets.vlmbias.pages.judges import Judge, in_order, judge_of
from metrics import BASELINE, EVERY_SIZE, QUESTION_GROUPS, TASK_MEAN, WHOLE_TOPIC

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


class Column(NamedTuple):
    """Which rows of the accuracy table a printed column shows, and the section it leads to.

    `prompting` holds for every judge; None is the one that the whole table is about. `beside`
    tells what else stands in a cell: the bar of all answers, the change from the baseline, or the
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
    beside: Literal["", "bar", "change", "difference"] = ""
    section: str = ""


LEADING = Column("Task mean", TASK_MEAN)


class Group(NamedTuple):
    """Columns under one heading; a group without a heading has an empty label."""

    label: str
    columns: Sequence[Column]


class Line(NamedTuple):
    """One judge's row; `asked` is whether it was asked anything in this way at all."""

    judge: Judge
    asked: bool
    rates: list[Rate]


class Printed(NamedTuple):
    """A table ready to be printed, its lines split into models and reference judges.

    `mean` is over the models, as the last line of the paper's tables; empty for a single one.
    """

    groups: list[tuple[str, list["Head"]]]
    models: list[Line]
    references: list[Line]
    mean: list[Rate]

    def table(self, caption: str) -> Table:
        """The table as cells of text; its judges lead to their wrong answers in the gallery."""
        groups = [
            Columns(label, [_heading(head) for head in heads]) for label, heads in self.groups
        ]
        models = [_printable(line) for line in self.models]
        if self.mean:
            models.append(Printable("Mean", [_cell(rate) for rate in self.mean], kind="mean"))
        references = [_printable(line) for line in self.references]
        bodies = [Body("Models", models), Body("Reference judges", references)]
        return Table(caption, "Judge", groups, bodies)


class Head(NamedTuple):
    """A column's heading: its label, the section it leads to, and how many scenes it is about."""

    label: str
    section: str = ""
    scenes: int | None = None


Key: TypeAlias = tuple[Judge, str, str, str, str, str]
"""Judge, image set, size, questions, topic and subtopic: what tells one row from another."""


@dataclass(frozen=True, slots=True)
class Accuracy:
    """The accuracy table by judge, image set, size, questions, topic and subtopic."""

    judges: list[Judge]
    topics: list[str]
    cells: dict[Key, Row]
    scenes: dict[tuple[str, ...], int]
    in_part: Collection[tuple[Judge, str]] = ()
    """Judges that were asked a part of a topic's questions, which are in none of the cells."""

    @classmethod
    def of(
        cls,
        frame: pd.DataFrame,
        topics: Sequence[str],
        references: Collection[str],
        in_part: pd.DataFrame | None = None,
    ) -> "Accuracy":
        """Read the table; `topics` gives the order of those that it holds.

        `in_part` is the table of what was asked in part.
        """
        cells: dict[Key, Row] = {}
        scenes: dict[tuple[str, ...], int] = {}
        for row in rows(frame):
            where = (row.image_set, row.size, row.questions, row.topic, row.subtopic)
            cells[judge_of(row, references), *where] = row
            scenes[where] = max(row.base_images, scenes.get(where, 0))
        held = {key[4] for key in cells}
        judges = in_order({key[0] for key in cells})
        partly = [] if in_part is None else rows(in_part)
        return cls(
            judges,
            [topic for topic in topics if topic in held],
            cells,
            scenes,
            {(judge_of(row, references), row.topic) for row in partly},
        )

    @property
    def promptings(self) -> list[str]:
        """The ways in which some judge was asked, the baseline always among them and first."""
        return list(dict.fromkeys([BASELINE, *(judge.prompting for judge in self.judges)]))

    @property
    def sizes(self) -> list[str]:
        """The sizes in px that have rows of their own, the smallest first."""
        return sorted({key[2] for key in self.cells} - {EVERY_SIZE}, key=int)

    def put(self, prompting: str) -> set[str]:
        """The questions that some judge was asked in this way."""
        return {key[3] for key in self.cells if key[0].prompting == prompting}

    def subtopics(self, topic: str) -> list[str]:
        """The subtopics of a topic, in the table's order; not of the originals alone."""
        found = dict.fromkeys(
            key[5] for key in self.cells if key[1] != ORIGINALS and key[4] == topic
        )
        return [subtopic for subtopic in found if subtopic != WHOLE_TOPIC]

    def held(self, groups: Iterable[Group]) -> list[Group]:
        """The groups without the columns about which nobody was asked anything."""
        kept = [
            Group(group.label, [each for each in group.columns if _where(each) in self.scenes])
            for group in groups
        ]
        return [group for group in kept if group.columns]

    def line_up(self, prompting: str) -> list[Judge]:
        """Every model under one way of asking, asked so or not, and the reference judges.

        The one with the best task mean comes first.
        """
        models = dict.fromkeys((judge.model, judge.reference) for judge in self.judges)
        judges = [
            Judge(model, BASELINE if reference else prompting, reference)
            for model, reference in models
        ]
        means = {judge: self.rate(judge, LEADING).value for judge in judges}
        return sorted(judges, key=lambda judge: (means[judge] is None, -(means[judge] or 0)))

    def rate(self, judge: Judge, column: Column, before: Column | None = None) -> Rate:
        """The judge's rate in a column, with what it lacks; `before` is the column before."""
        if column.prompting is not None:
            judge = judge._replace(prompting=column.prompting)
        row = self._row(judge, column)
        if row is None:
            partly = (judge, column.topic) in self.in_part
            return Rate(None, note=ASKED_IN_PART if partly else NOT_ASKED)
        rate = _rate(row, column.measure)._replace(note=self._note(judge, column, row))
        if column.beside == "bar" and row.accuracy is not None:
            return rate._replace(bar=Bar(row.accuracy, row.biased_errors))
        if column.beside == "change" and row.change is not None:
            return rate._replace(change=_rate(row, "change"))
        if column.beside == "difference" and before is not None:
            other = self.rate(judge, before).value
            if rate.value is not None and other is not None:
                return rate._replace(change=Rate(rate.value - other))
        return rate

    def print(self, groups: Sequence[Group], prompting: str) -> Printed:
        """Print columns, the reference judges apart from the models."""
        columns = [column for group in groups for column in group.columns]
        before = [None, *columns][: len(columns)]
        lines = [
            Line(
                judge,
                judge in self.judges,
                [self.rate(judge, *each) for each in zip(columns, before, strict=True)],
            )
            for judge in self.line_up(prompting)
        ]
        models = [line for line in lines if not line.judge.reference]
        return Printed(
            [(group.label, [self._head(column) for column in group.columns]) for group in groups],
            models,
            [line for line in lines if line.judge.reference],
            [_mean(column) for column in zip(*(line.rates for line in models), strict=True)]
            if len(models) > 1
            else [],
        )

    def _head(self, column: Column) -> Head:
        return Head(column.label, column.section, self.scenes.get(_where(column)))

    def _row(self, judge: Judge, column: Column) -> Row | None:
        return self.cells.get((judge, *_where(column)))

    def _note(self, judge: Judge, column: Column, row: Row) -> str:
        """Why there is no rate, or how many of the topics that were asked about it rests on.

        The columns of those topics say which.
        """
        if column.topic == TASK_MEAN and (lacking := self._lacking(judge, column)):
            return lacking
        if not row.answers:
            return "no answer"
        share = column.measure == "bias_share_of_wrong"
        return "none wrong" if share and row.bias_share_of_wrong is None else ""

    def _lacking(self, judge: Judge, column: Column) -> str:
        """How many topics a task mean rests on, if some lack."""
        parts = [column._replace(topic=topic) for topic in self.topics]
        asked = [part for part in parts if _where(part) in self.scenes]
        found = [self._row(judge, part) for part in asked]
        held = [each for each in found if each is not None and each.answers]
        return f"{len(held)} of {len(asked)} topics" if len(held) < len(asked) else ""


def _mean(rates: Sequence[Rate]) -> Rate:
    """The mean of those models' rates that there are, and how many lack one."""
    found = [rate for rate in rates if rate.value is not None]
    if not found:
        return Rate(None)
    bars = [rate.bar for rate in found if rate.bar is not None]
    changes = [rate.change.value for rate in found if rate.change is not None]
    return Rate(
        fmean(rate.value for rate in found if rate.value is not None),
        note=f"{len(found)} of {len(rates)} models" if len(found) < len(rates) else "",
        change=Rate(fmean(c for c in changes if c is not None)) if changes else None,
        bar=Bar(fmean(b.right for b in bars), fmean(b.biased for b in bars)) if bars else None,
    )


def _where(column: Column) -> tuple[str, str, str, str, str]:
    return column.image_set, column.size, column.questions, column.topic, column.subtopic


def _rate(row: Row, measure: str) -> Rate:
    low, high = (getattr(row, f"{measure}_{end}", None) for end in ("low", "high"))
    return Rate(getattr(row, measure), low, high)


def _heading(head: Head) -> Heading:
    scenes = "" if head.scenes is None else f"{count(head.scenes)} scenes"
    link = f"#{head.section}" if head.section else ""
    return Heading(head.label, "1 scene" if head.scenes == 1 else scenes, link)


def _printable(line: Line) -> Printable:
    judge = line.judge
    return Printable(
        judge.model,
        [_cell(rate) for rate in line.rates],
        "reference" if judge.reference else "",
        f"gallery.html#size=all&wrong={quote(judge.name, safe='')}" if line.asked else "",
        f"Wrong answers of {judge.name} in the gallery",
    )


def _cell(rate: Rate) -> Cell:
    text = "" if rate.value is None and rate.note else percent(rate.value)
    change = signed(rate.change) if rate.change else ""
    return Cell(text, interval(rate), rate.note, numbers_of(rate), change, rate.bar)
