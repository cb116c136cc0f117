"""The numbers of one dataset, and the pairs to both of which a judge says yes."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, ClassVar

import pandas as pd

from assets.kit.columns import to_plain_records
from assets.kit.step_run import Row
from assets.report.blind_shares import BlindLine
from assets.report.formats import format_count, format_percent
from assets.report.rows import Rows
from assets.report.subjects import ReportSubject, has_stand_in
from assets.report.thinking import ThinkingAxis, ThinkingSection
from assets.vhexpansion.pages.thinking import build_thinking
from assets.vhexpansion.yes_no_step import COMMON, NONE
from metrics.statistics.firmness import Evidence

FEWEST = 20
"""Pictures: intervals are known to hold from so many on
(`metrics.statistics.cluster_intervals`)."""
SHORT: Mapping[str, str] = {
    "noise": "Gaussian noise",
    "hsv_brightness": "Brightness",
    "defocus": "Defocus blur",
    "jpeg": "JPEG compression",
    "i_fgsm": "I-FGSM",
    "pgd": "PGD",
    NONE: "No perturbation",
}
"""Perturbations as Tables 4 and 5 name them."""


@dataclass(frozen=True)
class AnsweredDataset(ReportSubject):
    """A dataset: its table of `vhexpansion/symmetry`, and pairs to which judges say yes twice.

    `twice` has a row per judge and case: `model`, `case_id`, `sha256`, `perturbation`, `question`
    and `negated_question`, `response` and `negated_response`.
    """

    kind: ClassVar[str] = "dataset"
    gallery_kind: ClassVar[str] = "pairs"
    name: str
    symmetry: pd.DataFrame
    twice: pd.DataFrame
    dates: Mapping[str, str] = field(default_factory=dict)
    blind: Sequence[BlindLine] = ()
    """The judges with their blind answers; empty where none was asked blind."""
    rejections: pd.DataFrame = field(default_factory=pd.DataFrame)
    """The estimated share of negations that people reject; empty where too few were reviewed."""
    axes: Sequence[ThinkingAxis] = ()
    clean_answers: Mapping[str, pd.DataFrame] = field(default_factory=dict)
    """The answers about pictures as they were of the judges on `axes`."""

    @property
    def is_stand_in(self) -> bool:
        """True if a stand-in had a part in any number."""
        return has_stand_in(self.symmetry)

    @cached_property
    def clean_rows(self) -> Mapping[str, Row]:
        """The numbers on pictures as they were, by judge."""
        return {judge: row for judge in self.judges if (row := self.find_clean_row(judge))}

    @property
    def judge_evidence(self) -> Mapping[str, Evidence]:
        """The answers behind each judge's numbers on pictures as they were."""
        return {judge: self.evidence(row) for judge, row in self.clean_rows.items()}

    def evidence(self, row: Row) -> Evidence:
        """The answers behind the numbers of a judge."""
        left_out, requests = row["left_out"], int(row["requests"])
        part = f"{format_count(row['cases'])} of {format_count(row['total_cases'])} cases"
        return Evidence(
            requests=requests,
            answers=requests - int(row["unanswered"]),
            units=int(row["images"]),
            min_units=FEWEST,
            part=part if row["cases"] + (left_out or 0) < row["total_cases"] else "",
            caveat=describe_training(row) if left_out is None else "",
            is_stand_in=self.is_stand_in,
        )

    @property
    def ranked(self) -> Sequence[Row]:
        """The results: the rows of pictures as they were that are ranked."""
        rows = self.clean_rows.values()
        return [row for row in rows if self.evidence(row).firmness == "result"]

    @cached_property
    def thinking(self) -> ThinkingSection:
        """The judges at several steps of thinking."""
        return build_thinking(self)

    @property
    def trained(self) -> Sequence[tuple[str, str]]:
        """The judges that were fine-tuned, or may have been, on its cases, and what to know."""
        rows = {str(row["model"]): row for row in self.rows}
        return [
            (judge, description)
            for judge, row in rows.items()
            if (description := describe_training(row))
        ]

    @cached_property
    def judges(self) -> Sequence[str]:
        """The judges that have answered."""
        return self.rows.distinct("model")

    @property
    def cases(self) -> int:
        """The most cases that a judge has answered."""
        return int(self.symmetry["cases"].max())

    @property
    def size_words(self) -> str:
        """`20 of 300 cases, 18 pictures`."""
        total = int(self.symmetry["total_cases"].max())
        total_words = f" of {format_count(total)}" if self.cases < total else ""
        return (
            f"{format_count(self.cases)}{total_words} cases, {format_count(self.images)} pictures"
        )

    @property
    def images(self) -> int:
        """The most pictures that a judge was shown, as they were."""
        return int(self.symmetry["images"].max())

    @cached_property
    def rows(self) -> Rows:
        """The rows, None for what is empty."""
        return Rows(to_plain_records(self.symmetry))

    @cached_property
    def main_rows(self) -> Rows:
        """The rows of all repeats."""
        return self.rows.select(has_all_repeats=True)

    def find_clean_row(self, judge: str) -> Row | None:
        """The numbers of a judge on pictures as they were; None where there are none."""
        return self.main_rows.find(perturbation=NONE, model=judge)

    @cached_property
    def common(self) -> Sequence[str]:
        """The common perturbations that were tried."""
        perturbations = self.main_rows.distinct("perturbation")
        return [name for name in COMMON if name in perturbations]

    def select_rows(self, judge: str, perturbation: str) -> Rows:
        """The numbers of a judge under a perturbation, one row for each of its settings."""
        return self.main_rows.select(model=judge, perturbation=perturbation)

    @cached_property
    def attacks(self) -> Sequence[Row]:
        """The rows of attacks."""
        return [row for row in self.main_rows if row["encoder"]]


def describe_training(row: Row) -> str:
    """Say what a judge was trained on of these cases, and what became of them."""
    left_out = row["left_out"]
    if left_out is None:
        return "it may have been trained on these cases, its record does not say"
    return (
        f"{format_count(int(left_out))} cases left out: trained on their pictures"
        if left_out
        else ""
    )


def parse_parameters(row: Row) -> Mapping[str, Any]:
    """The parameters of what was done to the pictures."""
    parts = json.loads(row["parameters"] or "{}")
    merged: dict[str, Any] = {}
    for part in parts if isinstance(parts, list) else [parts]:
        merged |= part
    return {name: value for name, value in merged.items() if name != "kind"}


def format_parameters(parameters: Mapping[str, float]) -> str:
    """`epsilon 8, step 0.5`."""
    return ", ".join(f"{name.replace('_', ' ')} {value:g}" for name, value in parameters.items())


def format_bounds(row: Row, name: str) -> str:
    """Format the bounds of a share where answers are missing; else empty."""
    least, most = row[f"{name}_least"], row[f"{name}_most"]
    if not row["unanswered"] or least == most:
        return ""
    return f"{format_percent(least)} to {format_percent(most)} with what has no answer"
