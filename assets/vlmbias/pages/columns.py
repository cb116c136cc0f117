"""Which columns each table of the report has, and where the paper has it."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TypeAlias

from assets.report.formats import titled
from assets.vlmbias.pages.figures import (
    COUNTERFACTUAL,
    COUNTING,
    LEADING,
    ORIGINAL,
    ORIGINALS,
    PARTIAL,
    SANITY,
    Column,
    Group,
    Measure,
)
from assets.vlmbias.pages.judges import prompting_title
from metrics import BASELINE

Titles: TypeAlias = Mapping[str, str]
"""Topics with their titles."""

VARIANTS = (COUNTERFACTUAL, ORIGINAL)

_KINDS: tuple[tuple[str, Measure], ...] = (("Accuracy", "accuracy"), ("Bias rate", "bias_rate"))


def _topics(titles: Titles, **changed: Any) -> list[Column]:
    """The task mean, then a column a topic; `changed` are other values of `Column`."""
    topics = (Column(title, name, section=f"topic-{name}") for name, title in titles.items())
    return [column._replace(**changed) for column in (LEADING, *topics)]


def of_benchmark(titles: Titles, **changed: Any) -> list[Group]:
    """The images of the benchmark by topic; what is told of them, if not accuracy, is `changed`."""
    return [Group("Benchmark images", _topics(titles, **changed))]


def leaderboard(titles: Titles, questions: str = COUNTING) -> list[Group]:
    """Accuracy by topic and on unmodified originals (Table 2)."""
    unmodified = LEADING._replace(questions=questions, image_set=ORIGINALS)
    return [*of_benchmark(titles, questions=questions), Group("Unmodified", [unmodified])]


def _both(columns: Sequence[Column]) -> list[Group]:
    """Accuracy and bias rate of the same."""
    return [
        Group(label, [c._replace(measure=measure) for c in columns]) for label, measure in _KINDS
    ]


def in_part(titles: Titles) -> list[Group]:
    """Accuracy and bias rate by topic, of what was asked in part, and the mean of several."""
    columns = _topics(titles, image_set=PARTIAL, section="")
    return _both(columns if len(titles) > 1 else columns[1:])


def original_and_counterfactual(titles: Titles, questions: str) -> list[Group]:
    """Accuracy on originals and on counterfactuals, and the difference (Table 4 for Q3)."""
    return [
        Group(
            column.label,
            [
                column._replace(
                    label=titled(variant),
                    questions=questions,
                    image_set=variant,
                    beside="difference" if variant == COUNTERFACTUAL else "",
                    section="",
                )
                for variant in (ORIGINAL, COUNTERFACTUAL)
            ],
        )
        for column in _topics(titles)
    ]


def by_size(topic: str, sizes: Iterable[str]) -> list[Group]:
    """Accuracy at each size, of originals and of counterfactuals."""
    sizes = list(sizes)
    return [
        Group(
            f"{titled(variant)} images",
            [Column(f"{size} px", topic, image_set=variant, size=size) for size in sizes],
        )
        for variant in VARIANTS
    ]


def by_prompting(topic: str, promptings: Iterable[str]) -> list[Group]:
    """Accuracy under each way of asking, with the change from the baseline (Table 5)."""
    columns = [
        Column(
            prompting_title(prompting),
            topic,
            prompting=prompting,
            beside="" if prompting == BASELINE else "change",
        )
        for prompting in promptings
    ]
    return [Group("", columns)]


def sanity_check() -> list[Group]:
    """Whether the subjects are known at all (section 4.1, Appendix N)."""
    columns = [
        LEADING._replace(label=label, questions=questions, image_set=ORIGINAL)
        for questions, label in zip(SANITY, ("What it is", "Its usual count"), strict=True)
    ]
    return [Group("Originals", columns)]


def separate_set(proof: str, variant: str) -> str:
    """What the image set of one proof's pictures of one variant is called."""
    return f"{proof}, {variant}"


def separate(titles: Titles, proof: str) -> list[Group]:
    """Accuracy and bias rate on counterfactuals, and accuracy on originals, by topic."""
    changed, usual = (separate_set(proof, variant) for variant in VARIANTS)
    return [
        Group(
            title,
            [
                Column("Counterfactual", topic, image_set=changed),
                Column("Bias rate", topic, measure="bias_rate", image_set=changed),
                Column("Original", topic, image_set=usual),
            ],
        )
        for topic, title in titles.items()
    ]


def separate_by_painter(
    titles: Titles, proof: str, painters: Mapping[str, Sequence[str]]
) -> list[Group]:
    """Accuracy on the counterfactuals of each painter, by topic."""
    image_set = separate_set(proof, COUNTERFACTUAL)
    return [
        Group(title, [Column(name, topic, name, image_set=image_set) for name in painters[topic]])
        for topic, title in titles.items()
        if topic in painters
    ]


def by_painter(painters: Sequence[str], topic: str) -> list[Group]:
    """Accuracy and bias rate on the accepted pictures of each painter."""
    return _both([Column(name, topic, name) for name in painters])


def by_subtopic(subtopics: Sequence[str], topic: str) -> list[Group]:
    """Accuracy and bias rate of one topic as a whole and by subtopic (Tables 3 and 9)."""
    return _both([Column("All", topic), *(Column(titled(part), topic, part) for part in subtopics)])
