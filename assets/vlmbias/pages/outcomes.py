"""Replies without an answer: how many, of which kind and why."""

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass

import pandas as pd

from assets.report.formats import Rate, count, titled
from assets.report.rows import Row, rows
from assets.vlmbias.pages.figures import NOT_ASKED, Head, Line, Printed
from assets.vlmbias.pages.judges import Judge, judge_of
from metrics import TASK_MEAN, outcomes_table

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
        found = list(rows(outcomes_table(answers)))
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
