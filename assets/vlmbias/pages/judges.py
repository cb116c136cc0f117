"""Judges as named in tables."""

from collections.abc import Collection, Iterable
from typing import NamedTuple

from assets.kit.columns import NamedRow
from metrics import BASELINE

PROMPTINGS = {
    BASELINE: "The question alone.",
    "debiased": (
        "The question follows a request to assume nothing and to answer from what is visible."
    ),
    "double-check": "After its answer the judge is asked to check it; its second answer counts.",
    "in-image title": "The name of the familiar subject stands in a strip above the image.",
    "isolated": "The image shows what is counted alone, in its place, without what surrounds it.",
}
"""Description of each way of asking, by its name in run configs, in their order."""


class PromptedJudge(NamedTuple):
    """A model under one way of prompting it; a stand-in judge is there to bracket the models."""

    model: str
    prompting: str
    is_stand_in: bool

    @property
    def name(self) -> str:
        """The model's name, with the prompting where that is not the baseline."""
        return self.model if self.prompting == BASELINE else f"{self.model} ({self.prompting})"

    @property
    def label(self) -> str:
        """The name, and that it is a stand-in judge."""
        return f"{self.name}{' (stand-in)' * self.is_stand_in}"


def prompted_judge(row: NamedRow, stand_ins: Collection[str]) -> PromptedJudge:
    """The judge that a row is about."""
    return PromptedJudge(row.model, row.prompting, row.model in stand_ins)


def sort_judges(judges: Iterable[PromptedJudge]) -> list[PromptedJudge]:
    """Sort by prompting, the baseline first; real models before stand-in judges; by name."""
    promptings = list(PROMPTINGS)

    def place(judge: PromptedJudge) -> tuple[int, str, bool, str]:
        index = (
            promptings.index(judge.prompting) if judge.prompting in promptings else len(promptings)
        )
        return index, judge.prompting, judge.is_stand_in, judge.model

    return sorted(judges, key=place)


def prompting_title(prompting: str) -> str:
    """Title of a way of asking: its name, with a capital at its front."""
    return prompting.capitalize()
