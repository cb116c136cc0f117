"""Two readings of a reply: curly brackets, which rank, and plain words beside them."""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

import pandas as pd

from assets.kit.columns import NamedRow, iterate_named_rows
from assets.report.cells import Head, Table
from assets.report.formats import Rate, format_count, read_rate
from assets.vlmbias.pages.figures import ASKED_IN_PART, BENCHMARK, PARTIAL
from assets.vlmbias.pages.judge_table import judge_table
from assets.vlmbias.pages.judges import PromptedJudge, prompted_judge
from metrics import reading_table
from metrics.reply_parsing.plain_answers import VERSION
from metrics.statistics.firmness import Evidence, Firmness

_MUCH = 0.05
"""Share of the replies by which two readings differ by much."""
_HEADS = [
    ("Replies read", Head("In brackets")),
    ("Replies read", Head("In words")),
    ("Accuracy", Head("In brackets")),
    ("Accuracy", Head("In words")),
    ("Bias rate", Head("In brackets")),
    ("Bias rate", Head("In words")),
]


@dataclass(frozen=True, slots=True)
class Readings:
    """The numbers of both readings by judge, on Q1 and Q2 about pictures of the benchmark."""

    rows: dict[PromptedJudge, NamedRow]
    in_part: Collection[str]
    """Models that were asked a part of the questions."""
    older_versions: Sequence[str]
    """Versions of the rules, other than today's, by which stored replies were read."""

    @classmethod
    def build(cls, answers: pd.DataFrame, stand_ins: Collection[str]) -> "Readings":
        """Compare them; answers to a part of the questions count as well."""
        counting = answers[
            answers["image_set"].isin((BENCHMARK, PARTIAL))
            & answers["question_id"].isin(("Q1", "Q2"))
        ]
        rows = iterate_named_rows(reading_table(counting))
        in_part = set(counting.loc[counting["image_set"].eq(PARTIAL), "model"])
        versions = set(answers["reading_version"].dropna()) - {VERSION}
        judges = {prompted_judge(row, stand_ins): row for row in rows}
        return cls(judges, in_part, sorted(versions))

    @property
    def version(self) -> str:
        """Version of the rules for plain words."""
        return VERSION

    def select_judges(self, prompting: str) -> list[PromptedJudge]:
        """The models that replied under a way of asking; a stand-in judge writes brackets."""
        return [
            judge
            for judge, row in self.rows.items()
            if row.replies and judge.prompting == prompting and not judge.is_stand_in
        ]

    def table(self, prompting: str) -> Table:
        """Tabulate replies read, accuracy and bias rate by both readings."""
        judges = self.select_judges(prompting)
        rates = {
            judge: [*_iterate_rates(self.rows[judge], self._evidence(judge).firmness)]
            for judge in judges
        }
        return judge_table("Two readings of the replies", _HEADS, rates, self.rows.keys())

    def _evidence(self, judge: PromptedJudge) -> Evidence:
        row = self.rows[judge]
        return Evidence(
            requests=row.replies,
            answers=row.plain_read,
            part=ASKED_IN_PART if judge.model in self.in_part else "",
        )

    def sentences(self, prompting: str) -> list[str]:
        """A sentence for each model whose two readings differ by much."""
        return [
            f"Of {format_count(row.replies)} replies of {judge.model}, {format_count(row.read)} "
            f"are read in brackets and {format_count(row.plain_read)} in words."
            for judge in self.select_judges(prompting)
            if (row := self.rows[judge]).plain_read - row.read >= _MUCH * row.replies
        ]


def _iterate_rates(row: NamedRow, firmness: Firmness) -> Iterator[Rate]:
    """Yield a judge's cells, in the order of the heads."""
    for count in (row.read, row.plain_read):
        note = f"{format_count(count)} of {format_count(row.replies)}"
        yield Rate(count / row.replies, note=note, firmness=firmness)
    numbers = row._asdict()
    for name in ("accuracy", "plain_accuracy", "bias_rate", "plain_bias_rate"):
        change = read_rate(numbers, "change") if name == "plain_accuracy" else None
        yield read_rate(numbers, name)._replace(change=change, firmness=firmness)
