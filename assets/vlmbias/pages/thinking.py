"""Judges at several steps of thinking: accuracy and bias rate against tokens, by topic."""

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

import pandas as pd

from assets.report.thinking import (
    StepPoint,
    ThinkingCurve,
    ThinkingSection,
    sort_points,
)
from assets.vlmbias.pages.figures import LEADING
from assets.vlmbias.pages.judges import PromptedJudge
from metrics import BASELINE, TASK_MEAN
from metrics.vlmbias.judge_differences import compare_judges

if TYPE_CHECKING:
    from assets.vlmbias.pages.site import TaskMean, VlmbiasSite

_MEASURES: Mapping[str, str] = {"accuracy": "Accuracy on Q1 and Q2", "bias_rate": "Bias rate"}


def build_thinking(site: "VlmbiasSite") -> ThinkingSection:
    """Build the section of the axes of which two steps have an answer; else it has no curves."""
    answers = site.counted.answers[site.counted.answers["prompting"].eq(BASELINE)]
    means = {judge.model: (judge, mean) for judge, mean in site.task_means(BASELINE).items()}
    curves, parts = [], dict[str, list[ThinkingCurve]]()
    for axis in site.axes:
        answered = {
            label: means[model]
            for label, model in axis.steps.items()
            if model in means and means[model][1].evidence.has_number
        }
        if len(answered) < 2:
            continue
        topic = _find_topic(site, answered)
        curves.append(
            ThinkingCurve.build(
                axis,
                # A part of the topics stays a trial.
                [
                    point._replace(evidence=answered[point.label][1].evidence)
                    for point in _iterate_points(answered, answers, topic)
                ],
                lambda names: compare_judges(answers[answers["model"].isin(names)], names),
                "counts right in",
                "" if topic == TASK_MEAN else f"{site.scenes.titles[topic].lower()} alone",
            )
        )
        for topic in site.accuracy.topics or site.in_part.topics:
            topic_points = sort_points(_iterate_points(answered, answers, topic))
            if topic_points:
                title = site.scenes.titles[topic]
                parts.setdefault(title, []).append(ThinkingCurve(axis, topic_points))
    return ThinkingSection(_MEASURES, curves, parts)


def _find_topic(
    site: "VlmbiasSite", answered: Mapping[str, tuple[PromptedJudge, "TaskMean"]]
) -> str:
    """All topics, or where a step lacks some, the only one that every step has answered."""
    asked_topics = [
        topic
        for topic in site.accuracy.topics
        if all(
            site.accuracy.rate(judge, LEADING._replace(topic=topic)).value is not None
            for judge, _ in answered.values()
        )
    ]
    rates = [mean.table.rate(judge, mean.column) for judge, mean in answered.values()]
    has_means = all(rate.value is not None for rate in rates)
    return TASK_MEAN if has_means or len(asked_topics) != 1 else asked_topics[0]


def _iterate_points(
    answered: Mapping[str, tuple[PromptedJudge, "TaskMean"]], answers: pd.DataFrame, topic: str
) -> Iterator[StepPoint]:
    """The steps with an answer to a topic, or to all topics for the task mean."""
    for label, (judge, mean) in answered.items():
        column = mean.column._replace(topic=topic)
        evidence = mean.table.evidence(judge, column)
        if not evidence.has_number:
            continue
        rows = answers[
            answers["model"].eq(judge.model)
            & answers["image_set"].eq(column.image_set)
            & answers["score"].notna()
        ]
        if topic != TASK_MEAN:
            rows = rows[rows["domain"].eq(topic)]
        rates = {
            "accuracy": mean.table.rate(judge, column),
            "bias_rate": mean.table.rate(judge, column._replace(measure="bias_rate")),
        }
        yield StepPoint.build(label, judge.model, rates, evidence, rows)
