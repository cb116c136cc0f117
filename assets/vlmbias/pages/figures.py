"""The accuracy table by judge and place: rates, the evidence behind them, and charts of them."""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple, TypeAlias

import pandas as pd

from assets.kit.columns import NamedRow, iterate_named_rows
from assets.report.cells import Head, Table
from assets.report.charts import PERCENT, Bar, Chart, Mark
from assets.report.formats import (
    Rate,
    Shares,
    format_count,
    format_percent,
    format_rate,
    read_rate,
)
from assets.vlmbias.pages.judge_table import judge_table
from assets.vlmbias.pages.judges import PromptedJudge, prompted_judge, sort_judges
from generators.topics import DRAWN, PHOTOGRAPHED
from metrics import BASELINE, EVERY_SIZE, QUESTION_GROUPS, TASK_MEAN, WHOLE_TOPIC
from metrics.statistics.firmness import Evidence

COUNTING, NAMING = QUESTION_GROUPS["Q1"], QUESTION_GROUPS["Q3"]
SANITY = (QUESTION_GROUPS["N1"], QUESTION_GROUPS["N2"])
BENCHMARK, ORIGINALS = "benchmark", "originals"
ALL_ORIGINALS, ALL_COUNTERFACTUALS = "all_originals", "all_counterfactuals"
PUBLISHED = (BENCHMARK, ORIGINALS, ALL_ORIGINALS, ALL_COUNTERFACTUALS)
"""The image sets whose labels are proved, and the variants of both together."""
PARTIAL = "partial"
"""The image set of answers to a part of a topic's questions, as a limit has left them."""
NOT_ASKED, ASKED_IN_PART = "not asked", "asked in part"

Measure = Literal["accuracy", "bias_rate", "bias_share_of_wrong"]
Place: TypeAlias = tuple[str, str, str, str, str]
"""Image set, size, questions, topic and subtopic."""


class AccuracyColumn(NamedTuple):
    """A printed column: its rows of the accuracy table, its group, and the section it leads to.

    `prompting` holds for every judge, and shows the change from the baseline; None is the one that
    the whole table is about. With `less` the difference to that column is shown as well.
    """

    label: str
    topic: str
    subtopic: str = WHOLE_TOPIC
    measure: Measure = "accuracy"
    questions: str = COUNTING
    image_set: str = BENCHMARK
    size: str = EVERY_SIZE
    prompting: str | None = None
    less: "AccuracyColumn | None" = None
    group: str = ""
    section: str = ""

    @property
    def place(self) -> Place:
        """The key of these rows, of every judge."""
        return self.image_set, self.size, self.questions, self.topic, self.subtopic


LEADING = AccuracyColumn("Task mean", TASK_MEAN)


@dataclass(frozen=True, slots=True)
class Accuracy:
    """The accuracy table by judge and place; `scenes` counts those that are asked about in a way.

    `in_part` are judges with a topic of which they were asked a part of the questions: these
    answers are in none of the cells.
    """

    judges: list[PromptedJudge]
    topics: list[str]
    cells: dict[tuple[PromptedJudge, Place], NamedRow]
    scenes: dict[tuple[str, Place], int]
    in_part: Collection[tuple[PromptedJudge, str]] = ()

    @classmethod
    def build(
        cls,
        frame: pd.DataFrame,
        topics: Iterable[str],
        stand_ins: Collection[str],
        in_part: pd.DataFrame | None = None,
    ) -> "Accuracy":
        """Read the table; `topics` gives the order of those that it holds.

        `in_part` is the table of what was asked in part.
        """
        cells: dict[tuple[PromptedJudge, Place], NamedRow] = {}
        scenes: dict[tuple[str, Place], int] = {}
        for row in iterate_named_rows(frame):
            place = (row.image_set, row.size, row.questions, row.topic, row.subtopic)
            judge = prompted_judge(row, stand_ins)
            cells[judge, place] = row
            count = scenes.get((judge.prompting, place), 0)
            scenes[judge.prompting, place] = max(row.base_images, count)
        present_topics = {place[3] for _, place in scenes}
        partly = [] if in_part is None else iterate_named_rows(in_part)
        return cls(
            sort_judges({judge for judge, _ in cells}),
            [topic for topic in topics if topic in present_topics],
            cells,
            scenes,
            {(prompted_judge(row, stand_ins), row.topic) for row in partly},
        )

    @property
    def promptings(self) -> list[str]:
        """The ways in which some judge was asked, the baseline always among them and first."""
        return list(dict.fromkeys([BASELINE, *(judge.prompting for judge in self.judges)]))

    @property
    def places(self) -> set[Place]:
        """All places with a row."""
        return {place for _, place in self.cells}

    @property
    def sizes(self) -> list[str]:
        """The sizes in px with rows of their own, in ascending order."""
        return sorted({place[1] for place in self.places} - {EVERY_SIZE}, key=int)

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

    def line_up(self, prompting: str) -> list[PromptedJudge]:
        """List every model under one way of asking, asked so or not, and the stand-in judges.

        The one with the best task mean comes first; trials stand below all results.
        """
        models = dict.fromkeys((judge.model, judge.is_stand_in) for judge in self.judges)
        judges = [
            PromptedJudge(model, BASELINE if is_stand_in else prompting, is_stand_in)
            for model, is_stand_in in models
        ]
        is_partial = LEADING.place not in self.places
        column = LEADING._replace(image_set=PARTIAL) if is_partial else LEADING
        rates = {judge: self.rate(judge, column) for judge in judges}

        def place(judge: PromptedJudge) -> tuple[bool, bool, float]:
            rate = rates[judge]
            return rate.value is None, rate.firmness == "trial", -(rate.value or 0.0)

        return sorted(judges, key=place)

    def rate(self, judge: PromptedJudge, column: AccuracyColumn) -> Rate:
        """The judge's rate in a column, how firm it is and why."""
        if column.prompting is not None:
            judge = judge._replace(prompting=column.prompting)
        row = self.cells.get((judge, column.place))
        if row is None:
            partly = (judge, column.topic) in self.in_part
            return Rate(None, note=ASKED_IN_PART if partly else NOT_ASKED)
        evidence = self.evidence(judge, column)
        if not evidence.has_number:
            return Rate(None, note="no answer", firmness=evidence.firmness)
        rate = read_rate(row._asdict(), column.measure)
        is_share = column.measure == "bias_share_of_wrong"
        note = self._lacking(judge, column) or ("none wrong" * (is_share and rate.value is None))
        reasons = () if note or column.image_set == PARTIAL else evidence.reasons
        rate = rate._replace(
            note=", ".join(filter(None, (note, *reasons))), firmness=evidence.firmness
        )
        if is_share and row.accuracy is not None:
            return rate._replace(bar=Shares(row.accuracy, row.biased_errors))
        if column.prompting is not None and row.change is not None:
            return rate._replace(change=read_rate(row._asdict(), "change"))
        other = self.rate(judge, column.less).value if column.less else None
        if rate.value is not None and other is not None:
            return rate._replace(change=Rate(rate.value - other))
        return rate

    def evidence(self, judge: PromptedJudge, column: AccuracyColumn) -> Evidence:
        """The answers behind a judge's rate in a column."""
        row = self.cells.get((judge, column.place))
        requests, unanswered = (0, 0) if row is None else (int(row.requests), int(row.unanswered))
        in_part = column.image_set == PARTIAL or (judge, column.topic) in self.in_part
        return Evidence(
            requests=requests,
            answers=requests - unanswered,
            part=ASKED_IN_PART if in_part else self._lacking(judge, column),
            is_stand_in=judge.is_stand_in,
        )

    def bars(self, column: AccuracyColumn, prompting: str) -> list[Bar]:
        """A column's bars, models before stand-in judges."""
        judges = sorted(self.line_up(prompting), key=lambda judge: judge.is_stand_in)
        return [self.bar(judge, column) for judge in judges]

    def bar(self, judge: PromptedJudge, column: AccuracyColumn) -> Bar:
        """Accuracy and bias rate of a judge in a column."""
        right = self.rate(judge, column)
        biased = self.rate(judge, column._replace(measure="bias_rate"))
        note, is_trial = f" ({right.note})" if right.note else "", right.firmness == "trial"
        return Bar(
            f"{judge.model}{' · stand-in' * judge.is_stand_in}{' · trial' * is_trial}",
            [
                Mark("accuracy", right, format_percent(right.value)),
                Mark("bias", biased, format_percent(biased.value)),
            ],
            f"accuracy {format_rate(right)}{note}, bias rate {format_rate(biased)}",
            right.note if right.value is None else "",
        )

    def table(self, caption: str, columns: Sequence[AccuracyColumn], prompting: str) -> Table:
        """A table of all judges, which lead to their wrong answers in the gallery."""
        rates = {
            judge: [self.rate(judge, column) for column in columns]
            for judge in self.line_up(prompting)
        }
        heads = [(column.group, self._head(column, prompting)) for column in columns]
        return judge_table(caption, heads, rates, self.judges, mean=True)

    def _head(self, column: AccuracyColumn, prompting: str) -> Head:
        """Count the scenes that models are asked about in this way, or else stand-in judges."""
        ways = [column.prompting] if column.prompting else [prompting, BASELINE]
        counts = (self.scenes.get((way, column.place)) for way in ways)
        scenes = next(filter(None, counts), None)
        plural = "" if scenes == 1 else "s"
        detail = "" if scenes is None else f"{format_count(scenes)} scene{plural}"
        return Head(column.label, detail, f"#{column.section}" if column.section else "")

    def _lacking(self, judge: PromptedJudge, column: AccuracyColumn) -> str:
        """`3 of 5 topics`, where a task mean lacks some; else empty."""
        if column.topic != TASK_MEAN:
            return ""
        places = [column._replace(topic=topic).place for topic in self.topics]
        rows = [self.cells.get((judge, place)) for place in places if place in self.places]
        answered = sum(row is not None and row.answers > 0 for row in rows)
        return f"{answered} of {len(rows)} topics" if answered < len(rows) else ""


def chart_judges(name: str, title: str, bars: Sequence[Bar]) -> Chart:
    """Chart the accuracy and bias rate of every judge."""
    return Chart(name, title, "accuracy and bias rate of every judge", PERCENT, bars)
