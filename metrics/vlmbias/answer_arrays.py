"""The long table of answers as arrays, and means over topics of what they hold."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from metrics.statistics.cluster_bootstrap import Interval

BASELINE = "baseline"
TASK_MEAN = "task mean"
QUESTION_GROUPS = {
    "Q1": "Q1 & Q2",
    "Q2": "Q1 & Q2",
    "Q3": "Q3",
    "N1": "Identification",
    "N2": "Known count",
}
"""What a question's rows are counted under; N1 and N2 are Appendix N's, of originals alone."""

_NAMES = {
    "image_set": "image_set",
    "variant": "variant",
    "size": "size",
    "topic": "domain",
    "subtopic": "subtopic",
    "base": "base_id",
}
_QUESTION = ["model", "image_id", "question_id", "question"]

Array = NDArray[Any]
IntervalFunction = Callable[..., Interval]


class RateWithInterval(NamedTuple):
    """A mean with the ends of its 95 % interval."""

    mean: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class AnswerRows:
    """Columns as arrays of equal length; those with `names` are codes, in sorted order.

    `at` is the place of a row in the table that was read.
    """

    columns: Mapping[str, Array]
    names: Mapping[str, list[Any]]

    @classmethod
    def of(cls, answers: pd.DataFrame) -> "AnswerRows":
        """Read the table of answers; missing scores are NaN."""
        columns: dict[str, Array] = {}
        names: dict[str, list[Any]] = {}
        for name, column in _NAMES.items():
            columns[name], found = pd.factorize(answers[column], sort=True)
            names[name] = list(found)
        judges = answers.groupby(["model", "prompting"])
        columns["judge"], names["judge"] = judges.ngroup().to_numpy(), list(judges.groups)
        asked = answers["question_id"].map(QUESTION_GROUPS.__getitem__)
        columns["questions"], found = pd.factorize(asked, sort=True)
        names["questions"] = list(found)
        biased = answers["answer"].eq(answers["expected_bias"]).fillna(False)
        columns |= {
            "score": _real(answers["score"]),
            "before": _baseline_scores(answers),
            "biased": biased.to_numpy(bool),
            "at": np.arange(len(answers)),
            "tempting": answers["expected_bias"].ne(answers["ground_truth"]).to_numpy(bool),
        }
        outcomes = ("unparsed", "refused", "failed")
        columns |= {name: _real(answers["outcome"].eq(name)) for name in outcomes}
        return cls(columns, names)

    def __len__(self) -> int:
        return len(self.columns["score"])

    def __getitem__(self, name: str) -> Array:
        return self.columns[name]

    def where(self, mask: Array) -> "AnswerRows":
        """The rows that a mask holds."""
        return AnswerRows({name: column[mask] for name, column in self.columns.items()}, self.names)

    def among(self, name: str, values: Sequence[Any]) -> Array:
        """Whether a named column has one of some values, row by row."""
        return np.isin(
            self[name], [at for at, value in enumerate(self.names[name]) if value in values]
        )

    def iterate_groups(self, name: str) -> Iterator[tuple[Any, "AnswerRows"]]:
        """The rows of each value of a named column, values in their order of first appearance."""
        codes, first = np.unique(self[name], return_index=True)
        for code in codes[np.argsort(first)]:
            yield self.names[name][code], self.where(self[name] == code)

    def count(self, name: str) -> int:
        """How many values a named column has."""
        return len(np.unique(self[name]))

    def mean(self, column: Array, topics: int) -> float:
        """The mean over topics of the values there are; NaN if they are of fewer than `topics`."""
        there = ~np.isnan(column)
        codes = self["topic"][there]
        counts = np.bincount(codes)
        present = counts > 0
        if present.sum() < max(1, topics):
            return float("nan")
        sums = np.bincount(codes, column[there])
        return float(np.mean(sums[present] / counts[present]))

    def rate(self, of: IntervalFunction, column: Array, topics: int, seed: int) -> RateWithInterval:
        """That mean with its interval; both NaN if the mean is."""
        mean = self.mean(column, topics)
        if np.isnan(mean):
            return RateWithInterval(mean, mean, mean)
        return RateWithInterval(mean, *of(column, self["base"], self["topic"], seed=seed))


def _real(column: "pd.Series[Any]") -> NDArray[np.float64]:
    return np.asarray(column.astype(np.float64))


def _baseline_scores(answers: pd.DataFrame) -> NDArray[np.float64]:
    """The judge's baseline score on the same question and image."""
    before = np.full(len(answers), np.nan)
    varied = answers["prompting"].ne(BASELINE).to_numpy(bool)
    if varied.any():
        plain = answers.loc[~varied, [*_QUESTION, "score"]]
        both = answers.loc[varied, _QUESTION].merge(plain, "left", validate="m:1")
        before[varied] = _real(both["score"])
    return before
