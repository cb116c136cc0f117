"""Answers about isolated pictures beside those about the same scenes with their surroundings."""

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import pandas as pd

from assets.kit.columns import iterate_named_rows, to_plain_records
from assets.report.cells import Cell, Table, part_cell, points_cell, share_cell
from assets.report.columns import RowHead, TableColumn, tabulate
from assets.report.formats import format_points, format_whole_percent, read_rate
from assets.vlmbias.pages.figures import BENCHMARK, COUNTING, NAMING, PARTIAL
from assets.vlmbias.pages.scenes import PicturedScene, ShownPicture
from generators.domains import load_isolated_domains
from metrics import ISOLATED, isolation_table
from metrics.statistics.firmness import Evidence

_MIN_SCENES = 20
"""Scenes that an interval needs (`metrics.statistics.cluster_intervals`)."""
_QUESTION = ["model", "image_id", "question_id", "question"]


class IsolationExample(NamedTuple):
    """A scene with its isolated picture, and a judge's answers about both."""

    scene: PicturedScene
    isolated: ShownPicture
    judge: str
    question: str
    truth: str
    whole_answer: str
    isolated_answer: str


class IsolationLine(NamedTuple):
    """A judge, and its rows of `metrics.isolation_table` by questions; without any if not asked."""

    judge: str
    rows: Mapping[str, Mapping[str, Any]]
    is_stand_in: bool
    topics: int
    """Count of topics with isolated pictures."""

    @property
    def evidence(self) -> Evidence:
        """The pairs of answers to Q1 and Q2 behind the judge's numbers."""
        if (row := self.rows.get(COUNTING)) is None:
            return Evidence(requests=0, answers=0, is_stand_in=self.is_stand_in)
        return Evidence(
            requests=row["requests"],
            answers=row["pairs"],
            units=row["independent_scenes"],
            min_units=_MIN_SCENES,
            unit="scenes that differ isolated",
            part=f"{row['topics']} of {self.topics} topics" if row["topics"] < self.topics else "",
            is_stand_in=self.is_stand_in,
        )

    @property
    def sentence(self) -> str:
        """The finding in a sentence; empty where the numbers may not be ranked."""
        if self.evidence.firmness != "result":
            return ""
        row = self.rows[COUNTING]
        isolated_share, share = (
            format_whole_percent(row[f"{name}_accuracy"]) for name in ("isolated", "whole")
        )
        points = format_points(read_rate(row, "difference"))
        return (
            f"{self.judge} is right in {isolated_share} without the surroundings and in {share} "
            f"with them: {points} points."
        )

    def count_cell(self) -> Cell:
        """The cell of the pairs, of all requests about isolated pictures."""
        row = self.rows.get(COUNTING)
        return (
            Cell("", note="not asked") if row is None else part_cell(row["pairs"], row["requests"])
        )

    def share_cell(self, name: str) -> Cell:
        """The cell of an accuracy on Q1 and Q2."""
        row = self.rows.get(COUNTING)
        return Cell("", note="not asked") if row is None else share_cell(read_rate(row, name))

    def points_cell(self, questions: str) -> Cell:
        """The cell of the paired difference on some questions."""
        row = self.rows.get(questions)
        return (
            Cell("", note="not asked") if row is None else points_cell(read_rate(row, "difference"))
        )


_COLUMNS = (
    TableColumn[IsolationLine]("Pairs", IsolationLine.count_cell, group=COUNTING),
    TableColumn[IsolationLine](
        "With", lambda line: line.share_cell("whole_accuracy"), ranked=True, group=COUNTING
    ),
    TableColumn[IsolationLine](
        "Without", lambda line: line.share_cell("isolated_accuracy"), ranked=True, group=COUNTING
    ),
    TableColumn[IsolationLine](
        "Difference", lambda line: line.points_cell(COUNTING), ranked=True, group=COUNTING
    ),
    TableColumn[IsolationLine](
        "Difference", lambda line: line.points_cell(NAMING), ranked=True, group=NAMING
    ),
)


@dataclass(frozen=True, slots=True)
class IsolationComparison:
    """The numbers of every judge that was asked about whole pictures, and one scene in pictures."""

    lines: Sequence[IsolationLine]
    example: IsolationExample | None

    @classmethod
    def build(
        cls,
        answers: pd.DataFrame,
        stand_ins: Collection[str],
        scenes: Sequence[PicturedScene],
    ) -> "IsolationComparison":
        """Pair answers about isolated pictures with those about the same pictures whole."""
        changed = answers[answers["image_set"].isin((BENCHMARK, PARTIAL))]
        rows: defaultdict[str, dict[str, Mapping[str, Any]]] = defaultdict(dict)
        for row in to_plain_records(isolation_table(changed)):
            rows[row["model"]][row["questions"]] = row
        asked_topics = changed.loc[changed["prompting"].eq(ISOLATED), "domain"]
        topics = len({*load_isolated_domains(), *asked_topics})
        lines = [
            IsolationLine(judge=name, rows=rows[name], is_stand_in=name in stand_ins, topics=topics)
            for name in sorted(answers["model"].unique())
        ]
        return cls(lines, _find_example(changed, stand_ins, scenes))

    @property
    def is_asked(self) -> bool:
        """True if any judge was asked about isolated pictures."""
        return any(line.rows for line in self.lines)

    @property
    def sentences(self) -> list[str]:
        """The findings."""
        return [line.sentence for line in self.lines if line.sentence]

    @property
    def table(self) -> Table:
        """The numbers; a judge that was not asked about isolated pictures is shown as such."""
        bodies = {
            label: [line for line in self.lines if line.is_stand_in == is_stand_in]
            for label, is_stand_in in (("Models", False), ("Stand-in judges", True))
        }
        head = RowHead[IsolationLine](
            label=lambda line: line.judge, evidence=lambda line: line.evidence
        )
        return tabulate("Accuracy with and without surroundings", "Judge", head, _COLUMNS, bodies)


def _find_example(
    answers: pd.DataFrame, stand_ins: Collection[str], scenes: Sequence[PicturedScene]
) -> IsolationExample | None:
    """Find a question that a judge answers wrong about the whole picture, and right isolated.

    Of a model before a stand-in; without any, the first question that both were asked about.
    """
    is_isolated = answers["prompting"].eq(ISOLATED)
    baseline_rows = answers.loc[
        answers["prompting"].eq("baseline"), [*_QUESTION, "answer", "score"]
    ]
    pairs = answers[is_isolated & answers["question_id"].eq("Q1")].merge(
        baseline_rows, on=_QUESTION, suffixes=("", "_whole"), validate="m:1"
    )
    pairs = pairs[pairs["shown_sha256"].ne(pairs["sha256"])].dropna(
        subset=["answer", "answer_whole"]
    )
    scenes_by_id = {scene.row.base_id: scene for scene in scenes}
    candidates = [row for row in iterate_named_rows(pairs) if row.base_id in scenes_by_id]
    row = min(
        candidates,
        key=lambda row: (row.score <= row.score_whole, row.model in stand_ins, row.size),
        default=None,
    )
    if row is None:
        return None
    return IsolationExample(
        scene=scenes_by_id[row.base_id],
        isolated=ShownPicture(row.size, row.shown_sha256, painted=bool(row.painter)),
        judge=row.model,
        question=row.question,
        truth=row.ground_truth,
        whole_answer=row.answer_whole,
        isolated_answer=row.answer,
    )
