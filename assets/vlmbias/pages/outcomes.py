"""Replies without an answer: how many, of which kind and why."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

import pandas as pd

from assets.kit.columns import NamedRow, iterate_named_rows
from assets.report.cells import Group, Head, Table
from assets.report.formats import Rate, capitalize_first, format_count
from assets.vlmbias.pages.figures import NOT_ASKED, judge_table
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
        cls, answers: pd.DataFrame, titles: Mapping[str, str], references: Collection[str]
    ) -> "Outcomes":
        """Count them; `titles` are those of the topics that are shown."""
        outcome_rows = list(iterate_named_rows(outcome_rate_table(answers)))
        cells = {
            (prompted_judge(row, references), row.topic, row.ending): row for row in outcome_rows
        }
        return cls(cells, list(dict.fromkeys(row.ending for row in outcome_rows)), titles)

    def overall_table(self, judges: Sequence[PromptedJudge]) -> Table:
        """Tabulate outcomes over all topics, the kinds of refusal in a group of their own."""
        kinds = [outcome for outcome in self.outcomes if outcome not in _ALWAYS]
        outcomes_by_title = {
            "All topics": _ALWAYS,
            **({"Refused, by kind": kinds} if kinds else {}),
        }
        groups = {
            title: [(capitalize_first(outcome), TASK_MEAN, outcome) for outcome in outcomes]
            for title, outcomes in outcomes_by_title.items()
        }
        return self._table(_CAPTION, judges, groups)

    def topic_table(self, judges: Sequence[PromptedJudge]) -> Table | None:
        """Tabulate the outcomes that there were, by topic; None without any."""
        met = {key[2] for key, row in self.cells.items() if row.number and key[0] in set(judges)}
        groups = {
            capitalize_first(outcome): [
                (title, topic, outcome) for topic, title in self.topics.items()
            ]
            for outcome in self.outcomes
            if outcome in met
        }
        return self._table(f"{_CAPTION} by topic", judges, groups) if groups else None

    def _table(
        self,
        caption: str,
        judges: Sequence[PromptedJudge],
        groups: Mapping[str, Sequence[tuple[str, str, str]]],
    ) -> Table:
        """Tabulate in each group a column for each heading, topic and outcome."""
        places = [place for group_places in groups.values() for _, *place in group_places]
        rates = {judge: [self._rate(judge, *place) for place in places] for judge in judges}
        heads = [
            Group(title, [Head(head) for head, *_ in group_places])
            for title, group_places in groups.items()
        ]
        return judge_table(caption, heads, rates, {judge for judge, _, _ in self.cells})

    def _rate(self, judge: PromptedJudge, topic: str, outcome: str) -> Rate:
        row = self.cells.get((judge, topic, outcome))
        if row is None:
            return Rate(None, note=NOT_ASKED)
        note = f"{format_count(row.number)} of {format_count(row.requests)}" if row.number else ""
        return Rate(row.rate, row.low, row.high, note)
