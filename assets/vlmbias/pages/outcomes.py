"""Replies without an answer: how many, of which kind and why."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

import pandas as pd

from assets.kit.columns import NamedRow, iterate_named_rows
from assets.report.cells import Head, Table
from assets.report.formats import Rate, capitalize_first, format_count
from assets.vlmbias.pages.figures import NOT_ASKED
from assets.vlmbias.pages.judge_table import judge_table
from assets.vlmbias.pages.judges import PromptedJudge, prompted_judge
from metrics import TASK_MEAN, outcome_rate_table

_ALWAYS = ("unparsed", "refused", "failed")
_CAPTION = "Unparsed, refused and failed replies"


@dataclass(frozen=True, slots=True)
class Outcomes:
    """The rates of replies without an answer by judge, topic and outcome."""

    cells: dict[tuple[PromptedJudge, str, str], NamedRow]
    outcomes: list[str]
    topics: Mapping[str, str]

    @classmethod
    def build(
        cls, answers: pd.DataFrame, titles: Mapping[str, str], stand_ins: Collection[str]
    ) -> "Outcomes":
        """Count them; `titles` are those of the topics that are shown."""
        rows = list(iterate_named_rows(outcome_rate_table(answers)))
        cells = {(prompted_judge(row, stand_ins), row.topic, row.ending): row for row in rows}
        return cls(cells, list(dict.fromkeys(row.ending for row in rows)), titles)

    def overall_table(self, judges: Sequence[PromptedJudge]) -> Table:
        """Tabulate outcomes over all topics, the kinds of refusal in a group of their own."""
        groups = dict.fromkeys(_ALWAYS, "All topics")
        groups |= {kind: "Refused, by kind" for kind in self.outcomes if kind not in groups}
        columns = [
            (group, capitalize_first(outcome), TASK_MEAN, outcome)
            for outcome, group in groups.items()
        ]
        return self._table(_CAPTION, judges, columns)

    def topic_table(self, judges: Sequence[PromptedJudge]) -> Table:
        """Tabulate the outcomes that there were, by topic; without any, no line."""
        met = {key[2] for key, row in self.cells.items() if row.number and key[0] in judges}
        columns = [
            (capitalize_first(outcome), title, topic, outcome)
            for outcome in self.outcomes
            if outcome in met
            for topic, title in self.topics.items()
        ]
        return self._table(f"{_CAPTION} by topic", judges if columns else (), columns)

    def _table(
        self,
        caption: str,
        judges: Sequence[PromptedJudge],
        columns: Sequence[tuple[str, str, str, str]],
    ) -> Table:
        """Tabulate columns of a group, heading, topic and outcome."""
        rates = {judge: [self._rate(judge, *place) for _, _, *place in columns] for judge in judges}
        heads = [(group, Head(head)) for group, head, *_ in columns]
        return judge_table(caption, heads, rates, {judge for judge, _, _ in self.cells})

    def _rate(self, judge: PromptedJudge, topic: str, outcome: str) -> Rate:
        row = self.cells.get((judge, topic, outcome))
        if row is None:
            return Rate(None, note=NOT_ASKED)
        note = f"{format_count(row.number)} of {format_count(row.requests)}" if row.number else ""
        return Rate(row.rate, row.low, row.high, note)
