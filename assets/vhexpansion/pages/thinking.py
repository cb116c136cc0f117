"""Judges at several steps of thinking: shares of right answers against tokens, by dataset."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

from assets.report.formats import read_rate
from assets.report.thinking import StepPoint, ThinkingCurve, ThinkingSection
from metrics.vhexpansion.judge_differences import compare_symmetry

if TYPE_CHECKING:
    from assets.vhexpansion.pages.dataset_page import AnsweredDataset

_MEASURES: Mapping[str, str] = {"symmetric": "Symmetric accuracy", "accuracy": "Accuracy"}


def build_thinking(dataset: "AnsweredDataset") -> ThinkingSection:
    """Build the section of the axes of which two steps have an answer; else it has no curves."""
    curves = []
    for axis in dataset.axes:
        points = [
            _build_point(dataset, label, model)
            for label, model in axis.steps.items()
            if model in dataset.clean_rows and dataset.judge_evidence[model].has_number
        ]
        if len(points) > 1:
            curves.append(
                ThinkingCurve.build(
                    axis,
                    points,
                    lambda names: compare_symmetry({n: dataset.clean_answers[n] for n in names}),
                    "is right about a question and its negation in",
                )
            )
    return ThinkingSection(_MEASURES, curves, {})


def _build_point(dataset: "AnsweredDataset", label: str, model: str) -> StepPoint:
    row, answers = dataset.clean_rows[model], dataset.clean_answers[model]
    return StepPoint.build(
        label,
        model,
        {name: read_rate(row, name) for name in _MEASURES},
        dataset.evidence(row),
        answers[answers["answer"].notna()].assign(domain=dataset.name),
    )
