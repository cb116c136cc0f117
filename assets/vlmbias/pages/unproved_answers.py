"""Figures made from the answers themselves: of pictures that prove nothing yet, and by painter."""

from collections.abc import Collection, Sequence
from typing import NamedTuple

import pandas as pd

from assets.report.cells import Table
from assets.vlmbias.pages import columns
from assets.vlmbias.pages.figures import PUBLISHED, Accuracy
from assets.vlmbias.pages.proofs import APART, PROOFS, Proof
from metrics import accuracy_table


class UnprovedPart(NamedTuple):
    """Tables of pictures of one proof that is none, by topic and by painter."""

    proof: Proof
    title: str
    painters: int
    by_topic: Table
    by_painter: Table


def select_proved(table: pd.DataFrame) -> pd.DataFrame:
    """The rows, of answers or of accuracies, that are about pictures whose label is proved."""
    return table[table["image_set"].isin(PUBLISHED)]


def separate_accuracy(
    answers: pd.DataFrame, topics: Sequence[str], references: Collection[str]
) -> Accuracy:
    """Accuracy on pictures that nobody has accepted, or that are of a stand-in run.

    Such an image set holds originals and counterfactuals; here each variant has a set of its own
    (`columns.name_unproved_set`), and the subtopics are the painters.
    """
    unproved = answers[answers["image_set"].isin(APART)]
    sets = [
        columns.name_unproved_set(*row)
        for row in unproved[["image_set", "variant"]].itertuples(index=False, name=None)
    ]
    return _by_painter(unproved.assign(image_set=sets), topics, references)


def accuracy_by_painter(
    answers: pd.DataFrame, topics: Sequence[str], references: Collection[str]
) -> Accuracy:
    """Accuracy on proved photographs, of topics that several painters have painted."""
    proved = select_proved(answers[answers["painter"].ne("")])
    painters = proved.groupby("domain")["painter"].transform("nunique")
    return _by_painter(proved[painters > 1], topics, references)


def build_unproved_parts(
    separate: Accuracy, titles: columns.Titles, prompting: str
) -> list[UnprovedPart]:
    """Both tables of every proof about which some judge was asked in this way."""
    asked_sets = {place[0] for judge, place in separate.cells if judge.prompting == prompting}
    painters = {topic: separate.subtopics(topic) for topic in separate.topics}
    parts = []
    for proof in APART:
        if asked_sets.isdisjoint(
            columns.name_unproved_set(proof, variant) for variant in columns.VARIANTS
        ):
            continue
        title = PROOFS[proof].short
        captions = {
            "accuracy and bias rate on Q1 and Q2": columns.unproved_columns(titles, proof),
            "accuracy on the counterfactuals of each painter": columns.unproved_painter_columns(
                titles, proof, painters
            ),
        }
        by_topic, by_painter = (
            separate.table(f"{title}: {caption}", separate.select_groups(groups), prompting)
            for caption, groups in captions.items()
        )
        number = len({head.label for group in by_painter.groups for head in group.heads})
        parts.append(UnprovedPart(proof, title, number, by_topic, by_painter))
    return parts


def _by_painter(
    answers: pd.DataFrame, topics: Sequence[str], references: Collection[str]
) -> Accuracy:
    frame = accuracy_table(answers.assign(subtopic=answers["painter"]))
    return Accuracy.build(frame, topics, references)
