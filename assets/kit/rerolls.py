"""A benchmark's pictures drawn anew with another seed, on which its judges are compared."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import pandas as pd
import pyarrow as pa
from dagster import AssetKey

from resources.storage.data_root import DataRoot
from resources.storage.image_store import ImageStore
from resources.storage.work_cache import WorkCache

DraftQuestions: TypeAlias = Callable[[DataRoot, ImageStore, WorkCache, str, int], pa.Table]
"""Draws the pictures of a partition with a seed, and returns the table of questions about them."""


class SameSeed(ValueError):
    """A seed that gives the set's own pictures."""


@dataclass(frozen=True, kw_only=True)
class Reroll:
    """The assets that compare judges on new pictures, for `counterfactory reroll`."""

    questions: AssetKey
    """Table of questions about new pictures, by partition; its config takes `seed`, which is a
    column as well."""
    draft_questions: DraftQuestions
    """Makes that table without storing it, for a quote."""
    released_answers: str
    """Name of the judges' answers about the set, before an underscore and the judge's name."""
    answers: str
    """Name of their answers about new pictures, likewise."""
    count_pairs: Callable[[DataRoot, str, str, pd.DataFrame], int]
    """Count the drafted questions of a partition with whose pair a judge was asked; arguments are
    the judge and then the partition."""
    results: AssetKey
    """Table over all judges, with the columns `model`, `released`, `fresh`, `difference`, `low`,
    `high`, `p_holm` and `verdict`, and a `finding` in words in one row of each judge."""
    select_partitions: Callable[[DataRoot, int], Sequence[str]]
    """Select the partitions that can be drawn anew with a seed. Raises `NotMaterialized` where
    there is none, and `SameSeed` for the seed of the set itself."""
    scope: str
    """Sentence on which parts take part, and why the others do not."""

    def released_key(self, judge: str) -> AssetKey:
        """The key of a judge's answers about the set."""
        return AssetKey([self.questions.path[0], f"{self.released_answers}_{judge}"])

    def answers_key(self, judge: str) -> AssetKey:
        """The key of a judge's answers about new pictures."""
        return AssetKey([self.questions.path[0], f"{self.answers}_{judge}"])
