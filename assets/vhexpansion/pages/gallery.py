"""The pairs to which a judge says yes twice: the picture, both questions, both answers."""

import pandas as pd

from assets.kit.columns import to_records
from assets.report.exhibits import Exhibit, Gallery
from assets.report.publish import Thumbnail
from assets.vhexpansion.pages.dataset_page import SHORT, AnsweredDataset
from assets.vhexpansion.yes_no_step import NONE
from metrics.vhexpansion.symmetry import NEGATED, ORIGINAL, YES

SHOWN = 448
"""The longer side in px of a picture."""
MOST = 12
"""Pairs of a judge."""
_MAX_LENGTH = 200
"""Characters of an answer."""
_NO_BRACKETS = str.maketrans("", "", "{}")
_PAIR = ["case_id", "sha256", "perturbation", "parameters", "repeat"]


def yes_twice(answers: pd.DataFrame) -> pd.DataFrame:
    """The pairs to which a judge says yes twice: each case and picture once.

    `answers` are of one judge; the columns are those of `AnsweredDataset.twice`.
    """
    yes_answers = answers[answers["answer"].eq(YES)].fillna({"parameters": ""})
    yes_answers = yes_answers.drop_duplicates([*_PAIR, "form"])
    forms = {form: yes_answers[yes_answers["form"].eq(form)] for form in (ORIGINAL, NEGATED)}
    columns = [*_PAIR, "question", "response"]
    both = forms[ORIGINAL][["model", *columns]].merge(
        forms[NEGATED][columns], on=_PAIR, suffixes=("", "_negated")
    )
    both = both.rename(
        columns={"question_negated": "negated_question", "response_negated": "negated_response"}
    )
    both["changed"] = both["perturbation"].ne(NONE)
    order = both.sort_values(["changed", "case_id", "repeat"], kind="stable")
    once = order.drop_duplicates("case_id").drop_duplicates("sha256")
    return once.head(MOST).drop(columns="changed")


def gallery(dataset: AnsweredDataset) -> Gallery:
    """Collect each judge's pairs."""
    exhibits: dict[str, list[Exhibit]] = {judge: [] for judge in dataset.judges}
    for row in to_records(dataset.twice):
        judge, changes = row["model"], []
        if row["perturbation"] != NONE:
            changes.append(SHORT[row["perturbation"]])
        questions = row["question"], row["negated_question"]
        answers = _clean(row["response"]), _clean(row["negated_response"])
        exhibit = Exhibit(
            Thumbnail(row["sha256"], SHOWN),
            title=", ".join([f"A picture from {dataset.name.replace('_', ' ')}", *changes]),
            lines=[*zip(questions, answers, strict=True)],
            small=", ".join([row["case_id"], *changes]),
            question=" Negated: ".join(questions) if judge in dataset.clean_rows else "",
            answer=f"{answers[0]}; to the negation: {answers[1]}",
            truth="Yes to one of the two, and no to the other",
        )
        exhibits[judge].append(exhibit)
    return Gallery(exhibits)


def _clean(text: str | None) -> str:
    """A response as one line that is not too long, without the brackets that it was asked for."""
    line = " ".join((text or "").translate(_NO_BRACKETS).split())
    return line if len(line) <= _MAX_LENGTH else f"{line[: _MAX_LENGTH - 1]}…"
