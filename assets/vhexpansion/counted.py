"""The answers that count: a fine-tuned judge's, without the cases that it was trained on."""

from collections.abc import Sequence
from typing import NamedTuple

import pandas as pd

from assets.kit.tuning import TRAINED_ON, marks_in
from assets.vhexpansion.common import key
from assets.vhexpansion.training import with_bases
from resources.home import Home
from resources.models.catalog import Model

_PICTURE = ["image_id", "original"]


class Counted(NamedTuple):
    """Answers of one judge to a dataset that count."""

    answers: pd.DataFrame
    left_out: int | None
    """Cases that are left out; None where what the judge was trained on is not known."""

    def warning(self, judge: str, dataset: str) -> str:
        """What a user must know of these numbers; empty where that is nothing."""
        if self.left_out is None:
            return (
                f"{judge}: which cases its adapter was trained on is unknown: its folder has no "
                f"record.json, or one without {TRAINED_ON}. Its numbers on {dataset} may be of "
                "such cases, and are shown as a trial. Fetch the folder with its record."
            )
        if self.left_out:
            told = f"{judge}: {self.left_out:,} cases of {dataset} are left out"
            return f"{told}, since it was trained on their pictures."
        return ""


def counted(home: Home, judge: Model, dataset: str, columns: Sequence[str]) -> Counted | None:
    """Some columns of what a judge answered, and `base_id`: what is one picture to a person.

    Answers about pictures that it was trained on are left out. None where it was never asked.
    Raises `BadRecord`.
    """
    read = dict.fromkeys([*columns, *_PICTURE])
    table = home.find(key(f"answers_{judge.name}"), dataset, [*read])
    if table is None:
        return None
    answers = with_bases(dataset, table)
    counting = answers[[*columns, "base_id"]]
    adapter = judge.parameters.get("adapter")
    if not adapter:
        return Counted(counting, 0)
    marks = marks_in(home, str(adapter))
    if marks is None:
        return Counted(counting, None)
    learned = answers["base_id"].isin(marks) | answers["original"].isin(marks)
    left_out = int(answers.loc[learned, "case_id"].nunique())
    return Counted(counting[~learned].reset_index(drop=True), left_out)
