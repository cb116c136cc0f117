"""Figures made from the answers themselves: of pictures that prove nothing yet, and by painter."""

from collections.abc import Collection, Sequence
from typing import NamedTuple

import pandas as pd

from assets.report.cells import Table
from assets.vlmbias.pages import columns
from assets.vlmbias.pages.figures import PUBLISHED, Accuracy
from assets.vlmbias.pages.proofs import APART, PROOFS, Proof
from metrics import accuracy_table


class Part(NamedTuple):
    """What judges made of the pictures of one proof that is none, by topic and by painter."""

    proof: Proof
    title: str
    painters: int
    by_topic: Table
    by_painter: Table


def published(found: pd.DataFrame) -> pd.DataFrame:
    """The rows, of answers or of accuracies, that are about pictures whose label is proved."""
    return found[found["image_set"].isin(PUBLISHED)]


def separate_accuracy(
    answers: pd.DataFrame, topics: Sequence[str], references: Collection[str]
) -> Accuracy:
    """Accuracy on pictures that nobody has accepted, or that are of a stand-in run.

    Such an image set holds originals and counterfactuals; here each variant has a set of its own
    (`columns.separate_set`), and the subtopics are the painters.
    """
    found = answers[answers["image_set"].isin(APART)]
    sets = [
        columns.separate_set(*row)
        for row in found[["image_set", "variant"]].itertuples(index=False, name=None)
    ]
    return _by_painter(found.assign(image_set=sets), topics, references)


def accuracy_by_painter(
    answers: pd.DataFrame, topics: Sequence[str], references: Collection[str]
) -> Accuracy:
    """Accuracy on proved photographs, of topics that several painters have painted."""
    found = published(answers[answers["painter"].ne("")])
    painters = found.groupby("domain")["painter"].transform("nunique")
    return _by_painter(found[painters > 1], topics, references)


def parts_of(separate: Accuracy, titles: columns.Titles, prompting: str) -> list[Part]:
    """Both tables of every proof about which some judge was asked in this way."""
    asked = {where[0] for judge, where in separate.cells if judge.prompting == prompting}
    painters = {topic: separate.subtopics(topic) for topic in separate.topics}
    found = []
    for proof in APART:
        if asked.isdisjoint(columns.separate_set(proof, each) for each in columns.VARIANTS):
            continue
        title = PROOFS[proof].short
        captions = {
            "accuracy and bias rate on Q1 and Q2": columns.separate(titles, proof),
            "accuracy on the counterfactuals of each painter": columns.separate_by_painter(
                titles, proof, painters
            ),
        }
        by_topic, by_painter = (
            separate.table(f"{title}: {caption}", separate.held(groups), prompting)
            for caption, groups in captions.items()
        )
        number = len({head.label for group in by_painter.groups for head in group.heads})
        found.append(Part(proof, title, number, by_topic, by_painter))
    return found


def _by_painter(
    answers: pd.DataFrame, topics: Sequence[str], references: Collection[str]
) -> Accuracy:
    frame = accuracy_table(answers.assign(subtopic=answers["painter"]))
    return Accuracy.of(frame, topics, references)
