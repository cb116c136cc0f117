"""Figures made from the answers themselves: of pictures that prove nothing yet, and by painter."""

from collections.abc import Collection, Sequence
from typing import NamedTuple

import pandas as pd

from assets.vlmbias.pages import columns as tables
from assets.vlmbias.pages.figures import PUBLISHED, Accuracy, Printed
from assets.vlmbias.pages.proofs import APART, PROOFS, Proof
from metrics import accuracy_table


class Part(NamedTuple):
    """What judges made of the pictures of one proof that is none, by topic and by painter."""

    proof: Proof
    title: str
    painters: int
    by_topic: Printed
    by_painter: Printed


def published(found: pd.DataFrame) -> pd.DataFrame:
    """The rows, of answers or of accuracies, that are about pictures whose label is proved."""
    return found[found["image_set"].isin(PUBLISHED)]


def accuracy_apart(
    answers: pd.DataFrame, topics: Sequence[str], references: Collection[str]
) -> Accuracy:
    """Accuracy on pictures that nobody has accepted, or that are a rehearsal.

    Such an image set holds originals and counterfactuals; here each variant has a set of its own
    (`tables.apart_set`), and the subtopics are the painters.
    """
    found = answers[answers["image_set"].isin(APART)]
    sets = [
        tables.apart_set(*row)
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


def parts_of(apart: Accuracy, titles: tables.Titles, prompting: str) -> list[Part]:
    """Both tables of every proof about which some judge was asked in this way."""
    asked = {key[1] for key in apart.cells if key[0].prompting == prompting}
    painters = {topic: apart.subtopics(topic) for topic in apart.topics}
    found = []
    for proof in APART:
        by_topic = apart.held(tables.apart(titles, proof))
        by_painter = apart.held(tables.apart_by_painter(titles, proof, painters))
        if not asked.isdisjoint(tables.apart_set(proof, each) for each in tables.VARIANTS):
            number = len({column.label for group in by_painter for column in group.columns})
            printed = (apart.print(each, prompting) for each in (by_topic, by_painter))
            found.append(Part(proof, PROOFS[proof].short, number, *printed))
    return found


def _by_painter(
    answers: pd.DataFrame, topics: Sequence[str], references: Collection[str]
) -> Accuracy:
    frame = accuracy_table(answers.assign(subtopic=answers["painter"]))
    return Accuracy.of(frame, topics, references)
