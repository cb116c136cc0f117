"""Answers about changed pictures beside the answers that the same judges give blind."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import pandas as pd

from assets.kit.columns import iterate_named_rows, to_plain_records
from assets.report.blind_shares import BlindLine, tabulate_blind_shares
from assets.report.cells import Table
from assets.vlmbias.blind_answers import QUESTION_ID
from assets.vlmbias.pages.figures import ASKED_IN_PART, BENCHMARK, PARTIAL
from assets.vlmbias.pages.scenes import PicturedScene
from metrics import BASELINE, blind_answer_table

_QUESTION = ["model", "base_id", "question"]


class BlindExample(NamedTuple):
    """A changed picture about which a judge gives the wrong answer that it gives blind."""

    scene: PicturedScene
    judge: str
    question: str
    answer: str
    truth: str


@dataclass(frozen=True, slots=True)
class BlindComparison:
    """The shares of every judge that was asked about pictures, and one answer in pictures."""

    lines: Sequence[BlindLine]
    example: BlindExample | None

    @classmethod
    def build(
        cls,
        answers: pd.DataFrame,
        blind_answers: pd.DataFrame,
        stand_ins: Collection[str],
        scenes: Sequence[PicturedScene],
    ) -> "BlindComparison":
        """Pair answers to Q1 about changed pictures with the blind answers of the same judges.

        A blind answer to other words than those of the scene's question is left out.
        """
        sighted = answers[
            answers["image_set"].isin((BENCHMARK, PARTIAL))
            & answers["variant"].eq("counterfactual")
            & answers["question_id"].eq(QUESTION_ID)
            & answers["prompting"].eq(BASELINE)
        ]
        blind = blind_answers[[*_QUESTION, "answer"]].rename(columns={"answer": "blind_answer"})
        pairs = sighted.merge(blind, on=_QUESTION, validate="m:1")
        rows = {row["model"]: row for row in to_plain_records(blind_answer_table(pairs))}
        counts, paired_counts = sighted["model"].value_counts(), pairs["model"].value_counts()
        partial = set(sighted.loc[sighted["image_set"].eq(PARTIAL), "model"])
        lines = [
            BlindLine(
                model,
                rows.get(model),
                part=ASKED_IN_PART
                if model in partial or paired_counts.get(model, 0) < counts[model]
                else "",
                is_stand_in=model in stand_ins,
            )
            for model in sorted(counts.index)
        ]
        return cls(lines, _find_example(pairs, stand_ins, scenes))

    @property
    def is_asked(self) -> bool:
        """True if any judge was asked blind."""
        return any(line.row is not None for line in self.lines)

    @property
    def sentences(self) -> list[str]:
        """The findings."""
        return [line.sentence for line in self.lines if line.sentence]

    @property
    def table(self) -> Table:
        """The shares; a judge without blind answers is shown as not asked."""
        bodies = {
            label: [line for line in self.lines if line.is_stand_in == is_stand_in]
            for label, is_stand_in in (("Models", False), ("Stand-in judges", True))
        }
        return tabulate_blind_shares(bodies)


def _find_example(
    pairs: pd.DataFrame, stand_ins: Collection[str], scenes: Sequence[PicturedScene]
) -> BlindExample | None:
    """Find the first wrong answer that equals the blind one, of a model before a stand-in."""
    scenes_by_id = {scene.row.base_id: scene for scene in scenes if scene.original is not None}
    is_memory = (
        pairs["answer"].eq(pairs["blind_answer"]).fillna(False)
        & pairs["score"].eq(0)
        & pairs["base_id"].isin(scenes_by_id)
    )
    rows = iterate_named_rows(pairs[is_memory])
    row = min(rows, key=lambda row: row.model in stand_ins, default=None)
    if row is None:
        return None
    return BlindExample(
        scenes_by_id[row.base_id], row.model, row.question, row.answer, row.ground_truth
    )
