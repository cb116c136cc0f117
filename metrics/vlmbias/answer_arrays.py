"""The long table of answers as arrays, and means over topics of what they hold."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from metrics.statistics.cluster_bootstrap import Interval

BASELINE = "baseline"
ISOLATED = "isolated"
"""The prompting under which isolated pictures are shown."""
TASK_MEAN = "task mean"
QUESTION_GROUPS = {
    "Q1": "Q1 & Q2",
    "Q2": "Q1 & Q2",
    "Q3": "Q3",
    "N1": "Identification",
    "N2": "Known count",
}
"""The group under which a question is counted; N1 and N2 are Appendix N's, of originals alone."""

_NAMES = {
    "image_set": "image_set",
    "variant": "variant",
    "size": "size",
    "topic": "domain",
    "subtopic": "subtopic",
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

    `row_number` is the place of a row in the table that was read, `base` its base image: scenes
    that were shown as one picture, as isolated ones may be, have one.
    """

    columns: Mapping[str, Array]
    names: Mapping[str, list[Any]]

    @classmethod
    def from_frame(cls, answers: pd.DataFrame) -> "AnswerRows":
        """Read the table of answers; missing scores are NaN."""
        columns: dict[str, Array] = {}
        names: dict[str, list[Any]] = {}
        for name, column in _NAMES.items():
            columns[name], categories = pd.factorize(answers[column], sort=True)
            names[name] = list(categories)
        columns["base"] = _number_bases(answers)
        judges = answers.groupby(["model", "prompting"])
        columns["judge"], names["judge"] = judges.ngroup().to_numpy(), list(judges.groups)
        question_groups = answers["question_id"].map(QUESTION_GROUPS.__getitem__)
        columns["questions"], categories = pd.factorize(question_groups, sort=True)
        names["questions"] = list(categories)
        biased = answers["answer"].eq(answers["expected_bias"]).fillna(False)
        columns |= {
            "score": _to_floats(answers["score"]),
            "before": _baseline_scores(answers),
            "biased": biased.to_numpy(bool),
            "row_number": np.arange(len(answers)),
            "tempting": answers["expected_bias"].ne(answers["ground_truth"]).to_numpy(bool),
        }
        outcomes = ("unparsed", "refused", "failed")
        columns |= {name: _to_floats(answers["outcome"].eq(name)) for name in outcomes}
        return cls(columns, names)

    def __len__(self) -> int:
        return len(self.columns["score"])

    def __getitem__(self, name: str) -> Array:
        return self.columns[name]

    def select(self, mask: Array) -> "AnswerRows":
        """The rows that a mask marks."""
        return AnswerRows({name: column[mask] for name, column in self.columns.items()}, self.names)

    def among(self, name: str, values: Sequence[Any]) -> Array:
        """Mask of the rows whose named column has one of some values."""
        return np.isin(
            self[name], [code for code, value in enumerate(self.names[name]) if value in values]
        )

    def iterate_groups(self, name: str) -> Iterator[tuple[Any, "AnswerRows"]]:
        """The rows of each value of a named column, values in their order of first appearance."""
        codes, first = np.unique(self[name], return_index=True)
        for code in codes[np.argsort(first)]:
            yield self.names[name][code], self.select(self[name] == code)

    def count(self, name: str) -> int:
        """Count the values of a named column."""
        return len(np.unique(self[name]))

    def mean(self, column: Array, topics: int) -> float:
        """The mean over topics of the values there are; NaN if they are of fewer than `topics`."""
        is_scored = ~np.isnan(column)
        codes = self["topic"][is_scored]
        counts = np.bincount(codes)
        has_rows = counts > 0
        if has_rows.sum() < max(1, topics):
            return float("nan")
        sums = np.bincount(codes, column[is_scored])
        return float(np.mean(sums[has_rows] / counts[has_rows]))

    def rate(
        self, interval_function: IntervalFunction, column: Array, topics: int, seed: int
    ) -> RateWithInterval:
        """`mean` with its interval; both NaN if the mean is."""
        mean = self.mean(column, topics)
        if np.isnan(mean):
            return RateWithInterval(mean, mean, mean)
        return RateWithInterval(
            mean, *interval_function(column, self["base"], self["topic"], seed=seed)
        )


def _to_floats(column: "pd.Series[Any]") -> NDArray[np.float64]:
    return np.asarray(column.astype(np.float64))


def _baseline_scores(answers: pd.DataFrame) -> NDArray[np.float64]:
    """The judge's baseline score on the same question and image."""
    scores = np.full(len(answers), np.nan)
    is_varied = answers["prompting"].ne(BASELINE).to_numpy(bool)
    if is_varied.any():
        baseline_rows = answers.loc[~is_varied, [*_QUESTION, "score"]]
        matches = answers.loc[is_varied, _QUESTION].merge(baseline_rows, "left", validate="m:1")
        scores[is_varied] = _to_floats(matches["score"])
    return scores


def _number_bases(answers: pd.DataFrame) -> NDArray[np.intp]:
    """A number for each row's base image, the same for scenes that share an isolated picture."""
    scenes, _ = pd.factorize(answers["base_id"], sort=True)
    if "shown_sha256" not in answers:
        return scenes
    promptings, _ = pd.factorize(answers["prompting"])
    isolated_pictures = answers["shown_sha256"].where(answers["prompting"].eq(ISOLATED))
    pictures, _ = pd.factorize(isolated_pictures.fillna(answers["base_id"]))
    bases = pd.Series(scenes)
    while True:
        linked = bases.groupby([promptings, pictures]).transform("min")
        linked = linked.groupby([promptings, scenes]).transform("min")
        if linked.equals(bases):
            return bases.to_numpy()
        bases = linked
