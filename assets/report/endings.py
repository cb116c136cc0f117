"""Replies without an answer: how many, of which kind and why, and which model replied at all."""

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import pandas as pd

from assets.report import cells
from assets.report.board import NOT_ASKED, Head, Line, Printed
from assets.report.rows import Judge, Row, judge_of, rows
from assets.report.writing import Rate, count, titled
from metrics import TASK_MEAN, endings_table

_ALWAYS = ("unparsed", "refused", "failed")


@dataclass(frozen=True, slots=True)
class Endings:
    """The table of endings by judge, topic and ending."""

    cells: dict[tuple[Judge, str, str], Row]
    endings: list[str]
    topics: list[tuple[str, str]]

    @classmethod
    def of(
        cls, answers: pd.DataFrame, titles: Sequence[tuple[str, str]], references: Collection[str]
    ) -> "Endings":
        """Count them; `titles` are the topics that are shown, with their titles."""
        found = list(rows(endings_table(answers)))
        cells = {(judge_of(row, references), row.topic, row.ending): row for row in found}
        return cls(cells, list(dict.fromkeys(row.ending for row in found)), list(titles))

    def overall(self, judges: Sequence[Judge]) -> Printed:
        """Every ending over all topics, the kinds of refusal in a group of their own."""
        kinds = [ending for ending in self.endings if ending not in _ALWAYS]
        groups = [("All topics", [(TASK_MEAN, ending) for ending in _ALWAYS])]
        if kinds:
            groups.append(("Refused, by kind", [(TASK_MEAN, kind) for kind in kinds]))
        return self._print(judges, groups, lambda _, ending: titled(ending))

    def by_topic(self, judges: Sequence[Judge]) -> Printed | None:
        """Every ending that there was, by topic; None where there was none."""
        judged = set(judges)
        met = {
            ending
            for (judge, _, ending), row in self.cells.items()
            if row.number and judge in judged
        }
        groups = [
            (titled(ending), [(topic, ending) for topic, _ in self.topics])
            for ending in self.endings
            if ending in met
        ]
        titles = dict(self.topics)
        return self._print(judges, groups, lambda topic, _: titles[topic]) if groups else None

    def _print(
        self,
        judges: Sequence[Judge],
        groups: Sequence[tuple[str, list[tuple[str, str]]]],
        label: Callable[[str, str], str],
    ) -> Printed:
        columns = [column for _, parts in groups for column in parts]
        asked = {judge for judge, _, _ in self.cells}
        lines = [
            Line(judge, judge in asked, [self._rate(judge, *column) for column in columns])
            for judge in judges
        ]
        return Printed(
            [(title, [Head(label(*column)) for column in parts]) for title, parts in groups],
            [line for line in lines if not line.judge.reference],
            [line for line in lines if line.judge.reference],
            [],
        )

    def _rate(self, judge: Judge, topic: str, ending: str) -> Rate:
        row = self.cells.get((judge, topic, ending))
        if row is None:
            return Rate(None, note=NOT_ASKED)
        note = f"{count(row.number)} of {count(row.asked)}" if row.number else ""
        return Rate(row.rate, row.low, row.high, note)


class Served(NamedTuple):
    """The models that replied under one name of ours, as the provider named them, and how often.

    A reply that names none is under an empty name.
    """

    name: str
    replies: Sequence[tuple[str, int]]

    @property
    def mixed(self) -> int:
        """How many models replied if it was more than one, so that the figures mix them."""
        named = sum(1 for name, _ in self.replies if name)
        return named if named > 1 else 0


def served(replies: pd.DataFrame) -> list[Served]:
    """Which models replied, the most frequent first.

    `replies` are rows with the columns `name`, `outcome` and `served_model`.
    """
    replied = replies[replies["outcome"].ne("failed")]
    names = replied["served_model"].fillna("").groupby(replied["name"])
    return [
        Served(str(name), [(str(each), held) for each, held in found.value_counts().items()])
        for name, found in names
    ]


def served_table(corner: str, found: Sequence[Served]) -> cells.Table:
    """Which models replied, a line a name."""
    lines = [
        cells.Line(
            each.name,
            [cells.Cell(name, note="" if name else "not named"), cells.number(held)],
            f"{each.mixed} models" if each.mixed else "",
        )
        for each in found
        for name, held in each.replies
    ]
    heads = [cells.Head("Named by the provider"), cells.Head("Replies")]
    return cells.Table(
        "Models that replied", corner, [cells.Group("", heads)], [cells.Body("", lines)]
    )
