"""The answers that count: a fine-tuned judge's, without the cases that it was trained on."""

from collections.abc import Sequence
from typing import NamedTuple

import pandas as pd

from assets.kit.tuning import TRAINED_ON, load_adapter_marks
from assets.vhexpansion.common import asset_key
from assets.vhexpansion.training import add_base_pictures
from resources.models.catalog import Model
from resources.storage.data_root import DataRoot

_PICTURE = ["image_id", "original"]


class CountedAnswers(NamedTuple):
    """Answers of one judge to a dataset that count."""

    answers: pd.DataFrame
    excluded_cases: int | None
    """Cases that are left out; None where what the judge was trained on is not known."""

    def warning(self, judge: str, dataset: str) -> str:
        """Describe the limits of these numbers for the user; empty if there are none."""
        if self.excluded_cases is None:
            return (
                f"{judge}: the training cases of its adapter are unknown: its folder has no "
                f"record.json, or one without {TRAINED_ON}. Its numbers on {dataset} may include "
                "such cases, and are shown as a trial. Fetch the folder with its record."
            )
        if self.excluded_cases:
            message = f"{judge}: {self.excluded_cases:,} cases of {dataset} are left out"
            return f"{message}, since it was trained on their pictures."
        return ""


def load_counted_answers(
    home: DataRoot, judge: Model, dataset: str, columns: Sequence[str]
) -> CountedAnswers | None:
    """Load columns of a judge's answers, with `base_id`, which groups versions of one picture.

    Answers about pictures that it was trained on are left out. None where it was never asked.
    Raises `BadRecord`.
    """
    read = dict.fromkeys([*columns, *_PICTURE])
    table = home.find(asset_key(f"answers_{judge.name}"), dataset, [*read])
    if table is None:
        return None
    answers = add_base_pictures(dataset, table)
    counting = answers[[*columns, "base_id"]]
    adapter = judge.parameters.get("adapter")
    if not adapter:
        return CountedAnswers(counting, 0)
    marks = load_adapter_marks(home, str(adapter))
    if marks is None:
        return CountedAnswers(counting, None)
    learned = answers["base_id"].isin(marks) | answers["original"].isin(marks)
    left_out = int(answers.loc[learned, "case_id"].nunique())
    return CountedAnswers(counting[~learned].reset_index(drop=True), left_out)
