"""The accuracy table, turned into what is printed: judges down, topics or subtopics across."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple, TypeAlias

import pandas as pd

from assets.site.rows import Judge, Row, judges_of, rows
from assets.site.writing import Rate, titled
from metrics import QUESTION_GROUPS, TASK_MEAN, WHOLE_TOPIC

COUNTING, NAMING = QUESTION_GROUPS["Q1"], QUESTION_GROUPS["Q3"]
BENCHMARK, ORIGINALS = "benchmark", "originals"

Measure = Literal["accuracy", "bias_rate", "bias_share_of_wrong"]
Outcome = Literal["unparsed_rate", "refused_rate", "failed_rate"]
OUTCOMES: tuple[Outcome, ...] = ("unparsed_rate", "refused_rate", "failed_rate")


class Column(NamedTuple):
    """Which rows of the accuracy table a printed column shows, and the section it leads to."""

    label: str
    topic: str
    subtopic: str = WHOLE_TOPIC
    measure: Measure | Outcome = "accuracy"
    questions: str = COUNTING
    image_set: str = BENCHMARK
    section: str = ""


LEADING = Column("Task mean", TASK_MEAN)


class Group(NamedTuple):
    """Columns under one heading; a group without a heading has an empty label."""

    label: str
    columns: Sequence[Column]


class Line(NamedTuple):
    """One judge's row."""

    judge: Judge
    rates: list[Rate]


class Printed(NamedTuple):
    """A table ready to be printed, its lines split into models and reference judges."""

    groups: Sequence[Group]
    scenes: list[int | None]
    models: list[Line]
    references: list[Line]


Key: TypeAlias = tuple[Judge, str, str, str, str]
"""Judge, image set, questions, topic and subtopic: what tells one row from another."""


@dataclass(frozen=True, slots=True)
class Accuracy:
    """The accuracy table by judge, image set, questions, topic and subtopic."""

    judges: list[Judge]
    topics: list[str]
    cells: dict[Key, Row]

    @classmethod
    def of(cls, frame: pd.DataFrame, topics: Sequence[str]) -> "Accuracy":
        """Read the table; `topics` gives the order of those that it holds.

        The judge with the best task mean comes first, in every table and chart.
        """
        found = list(rows(frame))
        held = {row.topic for row in found}
        cells = {_key(row): row for row in found}
        accuracy = cls(judges_of(found), [topic for topic in topics if topic in held], cells)
        accuracy.judges.sort(key=lambda judge: -(accuracy.rate(judge, LEADING).value or 0))
        return accuracy

    def subtopics(self, topic: str) -> list[str]:
        """The subtopics of a topic in the benchmark, in the table's order."""
        rows_of_topic = (row for row in self.cells.values() if row.topic == topic)
        found = (row.subtopic for row in rows_of_topic if row.image_set == BENCHMARK)
        return [subtopic for subtopic in dict.fromkeys(found) if subtopic != WHOLE_TOPIC]

    def rate(self, judge: Judge, column: Column) -> Rate:
        """The judge's rate in a column; empty where the table has no such row."""
        row = self._row(judge, column)
        if row is None:
            return Rate(None)
        return Rate(
            getattr(row, column.measure),
            getattr(row, f"{column.measure}_low", None),
            getattr(row, f"{column.measure}_high", None),
            self._note(judge, column),
        )

    def print(self, groups: Sequence[Group]) -> Printed:
        """Print columns, the reference judges apart from the models."""
        columns = [column for group in groups for column in group.columns]
        lines = [Line(judge, [self.rate(judge, c) for c in columns]) for judge in self.judges]
        return Printed(
            groups,
            [self._scenes(column) for column in columns],
            [line for line in lines if not line.judge.reference],
            [line for line in lines if line.judge.reference],
        )

    def _row(self, judge: Judge, column: Column) -> Row | None:
        return self.cells.get(
            (judge, column.image_set, column.questions, column.topic, column.subtopic)
        )

    def _note(self, judge: Judge, column: Column) -> str:
        """How many topics a task mean lacks that were asked about; the titles say which."""
        if column.topic != TASK_MEAN:
            return ""
        parts = [column._replace(topic=topic) for topic in self.topics]
        asked = [part for part in parts if self._scenes(part) is not None]
        answered = [part for part in asked if self._has_answers(judge, part)]
        return f"{len(answered)} of {len(asked)} topics" if len(answered) < len(asked) else ""

    def _has_answers(self, judge: Judge, column: Column) -> bool:
        """Whether the rate rests on anything; how many replies fail does so even if all do."""
        row = self._row(judge, column)
        return row is not None and (column.measure in OUTCOMES or row.answers > 0)

    def _scenes(self, column: Column) -> int | None:
        found = (self._row(judge, column) for judge in self.judges)
        return max((row.base_images for row in found if row is not None), default=None)


def _key(row: Row) -> Key:
    return (
        Judge(row.model, row.prompting),
        row.image_set,
        row.questions,
        row.topic,
        row.subtopic,
    )


def by_topic(
    topics: Sequence[tuple[str, str]],
    *,
    measure: Measure = "accuracy",
    questions: str = COUNTING,
) -> list[Group]:
    """The task mean, then a column a topic, given as (topic, title)."""
    shown = [LEADING, *(Column(title, name, section=f"topic-{name}") for name, title in topics)]
    columns = [column._replace(measure=measure, questions=questions) for column in shown]
    return [Group("Benchmark images", columns)]


def unmodified(questions: str) -> Group:
    """The task mean on the unmodified originals (VLMBias, Table 2, last column)."""
    column = LEADING._replace(questions=questions, image_set=ORIGINALS)
    return Group("Unmodified", [column])


def without_answer() -> Group:
    """How many replies held no answer, and why."""
    labels = ("Unparsed", "Refused", "Failed")
    shown = zip(labels, OUTCOMES, strict=True)
    columns = [Column(label, TASK_MEAN, measure=measure) for label, measure in shown]
    return Group("Without an answer", columns)


def by_subtopic(subtopics: Sequence[str], topic: str) -> list[Group]:
    """Accuracy and bias rate of one topic as a whole and by subtopic (VLMBias, Tables 3 and 9)."""
    kinds: tuple[tuple[str, Measure], ...] = (("Accuracy", "accuracy"), ("Bias rate", "bias_rate"))
    return [
        Group(
            label,
            [Column("All", topic, measure=measure)]
            + [Column(titled(subtopic), topic, subtopic, measure) for subtopic in subtopics],
        )
        for label, measure in kinds
    ]
