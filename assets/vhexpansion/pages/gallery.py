"""The pairs to which a judge says yes twice: the picture, both questions, both answers."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import pandas as pd

from assets.kit.columns import to_records
from assets.report.publish import Thumbnail
from assets.vhexpansion.pages.dataset_page import SHORT, Answered
from assets.vhexpansion.yes_no_step import NONE
from metrics.vhexpansion.symmetry import NEGATED, ORIGINAL, YES

SHOWN = 448
"""The longer side in px of a picture."""
MOST = 12
"""Pairs of a judge."""
_LONGEST = 200
"""Characters of an answer."""
_PAIR = ["case_id", "sha256", "perturbation", "parameters", "repeat"]


class Pair(NamedTuple):
    """A picture, and the two questions to which one judge said yes, with what it said."""

    picture: Thumbnail
    said: Sequence[tuple[str, str]]
    title: str
    told: str


def yes_twice(answers: pd.DataFrame) -> pd.DataFrame:
    """The pairs to which a judge says yes twice: each case and picture once.

    `answers` are of one judge; the columns are those of `Answered.twice`.
    """
    held = answers[answers["answer"].eq(YES)].fillna({"parameters": ""})
    held = held.drop_duplicates([*_PAIR, "form"])
    forms = {form: held[held["form"].eq(form)] for form in (ORIGINAL, NEGATED)}
    wanted = [*_PAIR, "question", "response"]
    both = forms[ORIGINAL][["model", *wanted]].merge(
        forms[NEGATED][wanted], on=_PAIR, suffixes=("", "_negated")
    )
    both = both.rename(
        columns={"question_negated": "negated_question", "response_negated": "negated_response"}
    )
    both["changed"] = both["perturbation"].ne(NONE)
    order = both.sort_values(["changed", "case_id", "repeat"], kind="stable")
    once = order.drop_duplicates("case_id").drop_duplicates("sha256")
    return once.head(MOST).drop(columns="changed")


def gallery(dataset: Answered) -> Mapping[str, Sequence[Pair]]:
    """By judge: its pairs."""
    found: dict[str, list[Pair]] = {judge: [] for judge in dataset.judges}
    for row in to_records(dataset.twice):
        asked = ("question", "response"), ("negated_question", "negated_response")
        said = [(row[question], _cut(row[response])) for question, response in asked]
        shown = Thumbnail(row["sha256"], SHOWN)
        done = "" if row["perturbation"] == NONE else SHORT[row["perturbation"]]
        found[row["model"]].append(Pair(shown, said, row["case_id"], done))
    return found


def _cut(text: str | None) -> str:
    """What a judge said, on one line and not too long."""
    line = " ".join((text or "").split())
    return line if len(line) <= _LONGEST else f"{line[: _LONGEST - 1]}…"
