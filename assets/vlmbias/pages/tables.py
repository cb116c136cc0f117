"""The tables of accuracies by their columns, with their places in the paper."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

import pandas as pd

from assets.report.cells import Table
from assets.report.charts import Chart
from assets.report.formats import capitalize_first
from assets.vlmbias.pages.figures import (
    ALL_COUNTERFACTUALS,
    ALL_ORIGINALS,
    LEADING,
    NAMING,
    ORIGINALS,
    PARTIAL,
    PUBLISHED,
    SANITY,
    Accuracy,
    AccuracyColumn,
    Measure,
    chart_judges,
)
from assets.vlmbias.pages.judges import prompting_title
from assets.vlmbias.pages.proofs import APART, PROOFS, Proof
from assets.vlmbias.pages.site import VlmbiasSite
from metrics import TASK_MEAN, accuracy_table

_Q1_Q2 = "on Q1 and Q2"
_KINDS: Mapping[str, Measure] = {"Accuracy": "accuracy", "Bias rate": "bias_rate"}
_VARIANTS = {"counterfactual": ALL_COUNTERFACTUALS, "original": ALL_ORIGINALS}
"""Image sets of all images of a variant."""


def front_tables(site: VlmbiasSite, prompting: str) -> dict[str, Table]:
    """The tables of all topics under one way of asking."""
    accuracy = site.accuracy

    def table(caption: str, columns: Sequence[AccuracyColumn]) -> Table:
        return accuracy.table(caption, columns, prompting)

    topics = _topics(site, accuracy, group="Benchmark images")
    naming = [column._replace(questions=NAMING) for column in topics]
    unmodified = LEADING._replace(group="Unmodified", image_set=ORIGINALS)
    sanity = zip(SANITY, ("What it is", "Its usual count"), strict=True)
    return {
        # Table 2.
        "leaderboard": table(f"Accuracy {_Q1_Q2}", [*topics, unmodified]),
        # Fig. 4, Appendix L.5.
        "mistakes": table(
            "Answers to Q1 and Q2 and the bias share of the wrong ones",
            [column._replace(measure="bias_share_of_wrong") for column in topics],
        ),
        # Table 5.
        "promptings": table(
            f"Accuracy {_Q1_Q2} by way of asking", _by_prompting(accuracy, TASK_MEAN)
        ),
        "counting": table(
            f"Accuracy {_Q1_Q2} of originals and counterfactuals", _by_variant(topics)
        ),
        # Table 4.
        "naming": table("Accuracy on Q3 of originals and counterfactuals", _by_variant(naming)),
        "naming_by_topic": table(
            "Accuracy on Q3", [*naming, unmodified._replace(questions=NAMING)]
        ),
        "sizes": table(f"Accuracy {_Q1_Q2} by size", _by_size(accuracy, TASK_MEAN)),
        # Section 4.1, Appendix N.
        "sanity": table(
            "Accuracy on the sanity check",
            [
                LEADING._replace(
                    label=label, questions=questions, image_set=ALL_ORIGINALS, group="Originals"
                )
                for questions, label in sanity
            ],
        ),
        "bias": table(
            f"Bias rate {_Q1_Q2}", [column._replace(measure="bias_rate") for column in topics]
        ),
    }


def topic_tables(site: VlmbiasSite, topic: str, prompting: str) -> dict[str, Table]:
    """A topic's tables by heading; by size, way and painter only where there are several."""
    accuracy = site.accuracy
    # Tables 3 and 9.
    columns = {"By subtopic": _both([AccuracyColumn("All", topic), *_parts(accuracy, topic)])}
    if len(accuracy.sizes) > 1:
        columns["By size"] = _by_size(accuracy, topic)
    if len(site.scenes.ways) > 1:
        columns["By way of asking"] = _by_prompting(accuracy, topic)
    if painters := _parts(site.by_painter, topic):
        columns["By painter"] = _both([c._replace(label=c.subtopic) for c in painters])
    tables = {}
    for heading, of_heading in columns.items():
        measures = "accuracy and bias rate" if of_heading[0].group in _KINDS else "accuracy"
        caption = f"{site.scenes.titles[topic]} {heading.lower()}: {measures} {_Q1_Q2}"
        source = site.by_painter if heading == "By painter" else accuracy
        tables[heading] = source.table(caption, of_heading, prompting)
    return tables


def chart_topic(site: VlmbiasSite, topic: str, prompting: str) -> Chart:
    """Accuracy and bias rate of every judge on a topic."""
    bars = site.accuracy.bars(AccuracyColumn("", topic), prompting)
    return chart_judges(topic, site.scenes.titles[topic], bars)


def partial_table(site: VlmbiasSite, prompting: str) -> Table:
    """Accuracy and bias rate by topic, of what was asked in part, and the mean of several."""
    columns = _topics(site, site.in_part, image_set=PARTIAL, section="")
    return site.in_part.table(
        f"Accuracy and bias rate {_Q1_Q2}, of answers to a part of the questions",
        _both(columns if len(columns) > 2 else columns[1:]),
        prompting,
    )


def unproved_tables(site: VlmbiasSite, prompting: str) -> dict[Proof, dict[str, Table]]:
    """The tables of pictures of each proof that is none, of those that some judge was asked about.

    By topic; and by painter where there are several.
    """
    unproved, titles = site.unproved, site.scenes.titles
    asked_sets = {place[0] for judge, place in unproved.cells if judge.prompting == prompting}
    tables: dict[Proof, dict[str, Table]] = {}
    for proof in APART:
        changed, usual = (_name_set(proof, variant) for variant in _VARIANTS)
        if asked_sets.isdisjoint((changed, usual)):
            continue
        by_topic = [
            column._replace(group=title)
            for topic, title in titles.items()
            for column in (
                AccuracyColumn("Counterfactual", topic, image_set=changed),
                AccuracyColumn("Bias rate", topic, measure="bias_rate", image_set=changed),
                AccuracyColumn("Original", topic, image_set=usual),
            )
            if column.place in unproved.places
        ]
        by_painter = [
            column._replace(image_set=changed, label=column.subtopic, group=title)
            for topic, title in titles.items()
            for column in _parts(unproved, topic)
            if column._replace(image_set=changed).place in unproved.places
        ]
        columns = {f"accuracy and bias rate {_Q1_Q2}": ("By topic", by_topic)}
        if len({column.subtopic for column in by_painter}) > 1:
            caption = "accuracy on the counterfactuals of each painter"
            columns[caption] = ("By painter", by_painter)
        tables[proof] = {
            heading: unproved.table(f"{PROOFS[proof].short}: {caption}", of_heading, prompting)
            for caption, (heading, of_heading) in columns.items()
        }
    return tables


def select_proved(table: pd.DataFrame) -> pd.DataFrame:
    """The rows, of answers or of accuracies, that are about pictures whose label is proved."""
    return table[table["image_set"].isin(PUBLISHED)]


def unproved_accuracy(
    answers: pd.DataFrame, topics: Iterable[str], stand_ins: Collection[str]
) -> Accuracy:
    """Accuracy on pictures that nobody has accepted, or that are of a stand-in run.

    Such an image set holds originals and counterfactuals; here each variant has a set of its own,
    and the subtopics are the painters.
    """
    unproved = answers[answers["image_set"].isin(APART)]
    sets = [_name_set(*row) for row in unproved[["image_set", "variant"]].to_numpy()]
    return _by_painter(unproved.assign(image_set=sets), topics, stand_ins)


def accuracy_by_painter(
    answers: pd.DataFrame, topics: Iterable[str], stand_ins: Collection[str]
) -> Accuracy:
    """Accuracy on proved photographs, of topics that several painters have painted."""
    proved = select_proved(answers[answers["painter"].ne("")])
    painters = proved.groupby("domain")["painter"].transform("nunique")
    return _by_painter(proved[painters > 1], topics, stand_ins)


def _by_painter(
    answers: pd.DataFrame, topics: Iterable[str], stand_ins: Collection[str]
) -> Accuracy:
    frame = accuracy_table(answers.assign(subtopic=answers["painter"]))
    return Accuracy.build(frame, topics, stand_ins)


def _name_set(proof: str, variant: str) -> str:
    """Name the image set of one proof's pictures of one variant."""
    return f"{proof}, {variant}"


def _topics(site: VlmbiasSite, accuracy: Accuracy, **changed: Any) -> list[AccuracyColumn]:
    """The task mean, then a column per topic; `changed` are other values of their fields."""
    topics = (
        AccuracyColumn(site.scenes.titles[topic], topic, section=f"topic-{topic}")
        for topic in accuracy.topics
    )
    return [column._replace(**changed) for column in (LEADING, *topics)]


def _parts(accuracy: Accuracy, topic: str) -> list[AccuracyColumn]:
    return [
        AccuracyColumn(capitalize_first(part), topic, part) for part in accuracy.subtopics(topic)
    ]


def _both(columns: Sequence[AccuracyColumn]) -> list[AccuracyColumn]:
    """Accuracy and bias rate of the same."""
    return [
        column._replace(measure=measure, group=label)
        for label, measure in _KINDS.items()
        for column in columns
    ]


def _by_variant(topics: Sequence[AccuracyColumn]) -> list[AccuracyColumn]:
    """Accuracy on originals and on counterfactuals, and the difference."""
    columns = []
    for topic in topics:
        usual = topic._replace(
            label="Original", image_set=ALL_ORIGINALS, group=topic.label, section=""
        )
        changed = usual._replace(label="Counterfactual", image_set=ALL_COUNTERFACTUALS, less=usual)
        columns += [usual, changed]
    return columns


def _by_size(accuracy: Accuracy, topic: str) -> list[AccuracyColumn]:
    """Accuracy at each size, of originals and of counterfactuals."""
    return [
        AccuracyColumn(
            f"{size} px",
            topic,
            image_set=image_set,
            size=size,
            group=f"{capitalize_first(variant)} images",
        )
        for variant, image_set in _VARIANTS.items()
        for size in accuracy.sizes
    ]


def _by_prompting(accuracy: Accuracy, topic: str) -> list[AccuracyColumn]:
    """Accuracy under each way of asking, with the change from the baseline."""
    return [
        AccuracyColumn(prompting_title(prompting), topic, prompting=prompting)
        for prompting in accuracy.promptings
    ]
