"""Columns of the report's tables, with their places in the paper."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TypeAlias

from assets.report.formats import capitalize_first
from assets.vlmbias.pages.figures import (
    COUNTERFACTUAL,
    COUNTING,
    LEADING,
    ORIGINAL,
    ORIGINALS,
    PARTIAL,
    SANITY,
    AccuracyColumn,
    AccuracyGroup,
    Measure,
)
from assets.vlmbias.pages.judges import prompting_title
from metrics import BASELINE

Titles: TypeAlias = Mapping[str, str]
"""Topics with their titles."""

VARIANTS = (COUNTERFACTUAL, ORIGINAL)

_KINDS: tuple[tuple[str, Measure], ...] = (("Accuracy", "accuracy"), ("Bias rate", "bias_rate"))


def _topics(titles: Titles, **changed: Any) -> list[AccuracyColumn]:
    """The task mean, then a column a topic; `changed` are other values of `Column`."""
    topics = (
        AccuracyColumn(title, name, section=f"topic-{name}") for name, title in titles.items()
    )
    return [column._replace(**changed) for column in (LEADING, *topics)]


def benchmark_columns(titles: Titles, **changed: Any) -> list[AccuracyGroup]:
    """The images of the benchmark by topic; what is told of them, if not accuracy, is `changed`."""
    return [AccuracyGroup("Benchmark images", _topics(titles, **changed))]


def leaderboard_columns(titles: Titles, questions: str = COUNTING) -> list[AccuracyGroup]:
    """Accuracy by topic and on unmodified originals (Table 2)."""
    unmodified = LEADING._replace(questions=questions, image_set=ORIGINALS)
    return [
        *benchmark_columns(titles, questions=questions),
        AccuracyGroup("Unmodified", [unmodified]),
    ]


def _both(columns: Sequence[AccuracyColumn]) -> list[AccuracyGroup]:
    """Accuracy and bias rate of the same."""
    return [
        AccuracyGroup(label, [c._replace(measure=measure) for c in columns])
        for label, measure in _KINDS
    ]


def partial_columns(titles: Titles) -> list[AccuracyGroup]:
    """Accuracy and bias rate by topic, of what was asked in part, and the mean of several."""
    columns = _topics(titles, image_set=PARTIAL, section="")
    return _both(columns if len(titles) > 1 else columns[1:])


def variant_columns(titles: Titles, questions: str) -> list[AccuracyGroup]:
    """Accuracy on originals and on counterfactuals, and the difference (Table 4 for Q3)."""
    return [
        AccuracyGroup(
            column.label,
            [
                column._replace(
                    label=capitalize_first(variant),
                    questions=questions,
                    image_set=variant,
                    extra="difference" if variant == COUNTERFACTUAL else "",
                    section="",
                )
                for variant in (ORIGINAL, COUNTERFACTUAL)
            ],
        )
        for column in _topics(titles)
    ]


def size_columns(topic: str, sizes: Iterable[str]) -> list[AccuracyGroup]:
    """Accuracy at each size, of originals and of counterfactuals."""
    sizes = list(sizes)
    return [
        AccuracyGroup(
            f"{capitalize_first(variant)} images",
            [AccuracyColumn(f"{size} px", topic, image_set=variant, size=size) for size in sizes],
        )
        for variant in VARIANTS
    ]


def prompting_columns(topic: str, promptings: Iterable[str]) -> list[AccuracyGroup]:
    """Accuracy under each way of asking, with the change from the baseline (Table 5)."""
    columns = [
        AccuracyColumn(
            prompting_title(prompting),
            topic,
            prompting=prompting,
            extra="" if prompting == BASELINE else "change",
        )
        for prompting in promptings
    ]
    return [AccuracyGroup("", columns)]


def sanity_columns() -> list[AccuracyGroup]:
    """Columns of the sanity check: are the subjects known (section 4.1, Appendix N)?"""
    columns = [
        LEADING._replace(label=label, questions=questions, image_set=ORIGINAL)
        for questions, label in zip(SANITY, ("What it is", "Its usual count"), strict=True)
    ]
    return [AccuracyGroup("Originals", columns)]


def name_unproved_set(proof: str, variant: str) -> str:
    """Name the image set of one proof's pictures of one variant."""
    return f"{proof}, {variant}"


def unproved_columns(titles: Titles, proof: str) -> list[AccuracyGroup]:
    """Accuracy and bias rate on counterfactuals, and accuracy on originals, by topic."""
    changed, usual = (name_unproved_set(proof, variant) for variant in VARIANTS)
    return [
        AccuracyGroup(
            title,
            [
                AccuracyColumn("Counterfactual", topic, image_set=changed),
                AccuracyColumn("Bias rate", topic, measure="bias_rate", image_set=changed),
                AccuracyColumn("Original", topic, image_set=usual),
            ],
        )
        for topic, title in titles.items()
    ]


def unproved_painter_columns(
    titles: Titles, proof: str, painters: Mapping[str, Sequence[str]]
) -> list[AccuracyGroup]:
    """Accuracy on the counterfactuals of each painter, by topic."""
    image_set = name_unproved_set(proof, COUNTERFACTUAL)
    return [
        AccuracyGroup(
            title,
            [AccuracyColumn(name, topic, name, image_set=image_set) for name in painters[topic]],
        )
        for topic, title in titles.items()
        if topic in painters
    ]


def painter_columns(painters: Sequence[str], topic: str) -> list[AccuracyGroup]:
    """Accuracy and bias rate on the accepted pictures of each painter."""
    return _both([AccuracyColumn(name, topic, name) for name in painters])


def subtopic_columns(subtopics: Sequence[str], topic: str) -> list[AccuracyGroup]:
    """Accuracy and bias rate of one topic as a whole and by subtopic (Tables 3 and 9)."""
    return _both(
        [
            AccuracyColumn("All", topic),
            *(AccuracyColumn(capitalize_first(part), topic, part) for part in subtopics),
        ]
    )
