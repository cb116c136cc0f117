"""Accuracy on yes/no cases and on their negations together (VHExpansion, §4 and Tables 3 to 5).

A case is asked as it stands and negated, both in several repeats. A pair is right in a repeat where
both answers are: symmetric accuracy is the share of such pairs. A judge that guesses yes with
probability p is right in 1 + (2p − 1)q − p of the cases where a share q of them has the answer yes,
and in p(1 − p) of the pairs whatever q is (Theorems 1 and 2).

- Shares are first averaged over the repeats of a case, then over cases, each weighing the same.
- What has no answer is neither right nor wrong, and a pair needs both answers. `…_least` and
  `…_most` are what the share would be were all of these answers wrong, or all right.
- New successful cases are the wrong ones among those that were generated: the negations alone where
  the picture is as it was (Table 3), and both forms where it was perturbed (Tables 4 and 5). A case
  is wrong where most of its answers are, and counts one half where half of them are.

Intervals are by a bootstrap over base images, each with all of its cases
(`metrics.statistics.cluster_intervals`). A
base image is what is one picture to a person: three sizes of a scene are answered alike.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from metrics.statistics.cluster_bootstrap import Interval
from metrics.statistics.cluster_intervals import stratified_interval
from metrics.statistics.paired_intervals import paired_interval

ORIGINAL, NEGATED = "original", "negated"
YES, NO = "yes", "no"
NUMBERS = (
    *("cases", "images", "requests", "unanswered", "true_yes_rate"),
    *(f"accuracy{end}" for end in ("", "_low", "_high", "_least", "_most")),
    "negated_accuracy",
    *(f"symmetric{end}" for end in ("", "_low", "_high", "_least", "_most")),
    *("change", "change_low", "change_high"),
    *("generated", "new_cases", "new_cases_low", "new_cases_high"),
    *("yes_rate", "yes_rate_low", "yes_rate_high", "both_yes_rate"),
)
"""The columns of numbers of `symmetry_table`."""
_NEEDED = ["case_id", "base_id", "form", "truth", "answer", "repeat"]
_NOTHING = float("nan")
Values = NDArray[np.float64]


class CasePairs(NamedTuple):
    """Answers to cases and their negations: forms × cases × repeats, the original form first.

    `right` and `yes` are 1, 0, or NaN where there is no answer; `is_requested` marks what was
    asked, and `is_truth_yes` is 1 where the answer to the original is yes, else 0.
    """

    cases: Sequence[str]
    images: NDArray[np.generic]
    is_truth_yes: Values
    is_requested: NDArray[np.bool_]
    right: Values
    yes: Values

    @property
    def both_right(self) -> Values:
        """1 where both answers are right, 0 where not, NaN without both; by case and repeat."""
        return np.asarray(self.right[0] * self.right[1], np.float64)


def arrange_pairs(answers: pd.DataFrame) -> CasePairs:
    """Arrange the answers of one judge under one perturbation.

    `answers` has a row for each case, form and repeat, in any order: `case_id`, `base_id` (the base
    image), `form` (original or negated), `truth` (the right answer to what was asked) and
    `answer`, yes or no, empty where there is none, and `repeat`, from 0.
    """
    case, names = pd.factorize(answers["case_id"], sort=True)
    repeat = answers["repeat"].to_numpy(np.int64)
    negated = answers["form"].eq(NEGATED).to_numpy()
    answer, truth = answers["answer"].to_numpy(object), answers["truth"].to_numpy(object)
    shape = (2, len(names), int(repeat.max(initial=-1)) + 1)
    index = (negated.astype(np.int64), case, repeat)
    is_answered = np.isin(answer, (YES, NO))
    is_asked, right, yes = np.zeros(shape, np.bool_), np.full(shape, np.nan), np.full(shape, np.nan)
    is_asked[index] = True
    right[index] = np.where(is_answered, answer == truth, np.nan)
    yes[index] = np.where(is_answered, answer == YES, np.nan)
    images = np.empty(len(names), object)
    images[case] = answers["base_id"].to_numpy(object)
    is_truth_yes = np.zeros(len(names))
    is_truth_yes[case] = (truth == YES) != negated
    return CasePairs(
        cases=[str(name) for name in names],
        images=images,
        is_truth_yes=is_truth_yes,
        is_requested=is_asked,
        right=right,
        yes=yes,
    )


def measure_symmetry(
    answers: pd.DataFrame,
    before: pd.DataFrame | None = None,
    *,
    perturbed: bool = False,
    seed: int = 0,
) -> dict[str, Any]:
    """The numbers of one judge under one perturbation, by the names of `NUMBERS`.

    `answers` are as `arrange_pairs` takes them; `before` those on the pictures as they were:
    `change` is how far symmetric accuracy is above that there, over the cases that have it both
    times. NaN stands for unknown values.
    """
    pairs = arrange_pairs(answers)
    accuracy, symmetric = average_by_case(pairs.right[0]), average_by_case(pairs.both_right)
    is_asked = pairs.is_requested
    numbers = {
        "cases": len(pairs.cases),
        "images": len(np.unique(pairs.images.astype(str))),
        "requests": int(is_asked.sum()),
        "unanswered": int((is_asked & np.isnan(pairs.right)).sum()),
        "true_yes_rate": _mean(pairs.is_truth_yes),
        **_share("accuracy", accuracy, pairs.images, seed),
        **_bounds("accuracy", pairs.right[0], is_asked[0]),
        "negated_accuracy": _mean(average_by_case(pairs.right[1])),
        **_share("symmetric", symmetric, pairs.images, seed),
        **_bounds("symmetric", pairs.both_right, is_asked[0] & is_asked[1], pairs.right),
        **_change(symmetric, pairs, None if before is None else arrange_pairs(before), seed),
        **_count_new_cases(pairs, perturbed, seed),
        **_share(
            "yes_rate", average_by_case(np.concatenate(pairs.yes, axis=1)), pairs.images, seed
        ),
        "both_yes_rate": _mean(average_by_case(pairs.yes[0] * pairs.yes[1])),
    }
    return {name: numbers[name] for name in NUMBERS}


def symmetry_table(
    answers: pd.DataFrame, by: Sequence[str], unchanged: Mapping[str, Any], *, seed: int = 0
) -> pd.DataFrame:
    """Compute one row for each value of the columns `by`, in order of first appearance.

    `answers` has these columns, none of them empty, beside those of `arrange_pairs`. `unchanged`
    gives for some of them the values of a picture as it was: rows that have these are what others
    are changes of, where the rest of `by` is the same.
    """
    groups = dict(list(answers[[*by, *_NEEDED]].groupby(list(by), sort=False)))
    records = []
    for key, rows in groups.items():
        labels = dict(zip(by, key, strict=True))
        origin = groups.get(tuple((labels | dict(unchanged)).values()))
        is_perturbed = any(labels[name] != value for name, value in unchanged.items())
        numbers = measure_symmetry(
            rows, origin if is_perturbed else None, perturbed=is_perturbed, seed=seed
        )
        records.append(labels | numbers)
    return pd.DataFrame(records, columns=[*by, *NUMBERS])


def select_repeats(answers: pd.DataFrame, repeats: int) -> pd.DataFrame:
    """Select the answers of the first `repeats` repeats of each case (Table 6)."""
    return answers[answers["repeat"].lt(repeats)]


def average_by_case(values: Values) -> Values:
    """The mean over the repeats of each case; NaN where it has none."""
    is_answered = ~np.isnan(values)
    number = is_answered.sum(axis=1)
    total = np.where(is_answered, values, 0.0).sum(axis=1)
    means: Values = np.divide(total, number, out=np.full(len(values), np.nan), where=number > 0)
    return means


def _mean(values: Values) -> float:
    return float(np.nanmean(values)) if (~np.isnan(values)).any() else _NOTHING


def _interval(values: Values, images: NDArray[Any], seed: int) -> Interval:
    """The interval of the mean over cases, by resampled images."""
    if np.isnan(values).all():
        return Interval(_NOTHING, _NOTHING)
    return stratified_interval(values, images.astype(str), np.zeros(len(values)), seed=seed)


def _share(name: str, values: Values, images: NDArray[Any], seed: int) -> dict[str, float]:
    low, high = _interval(values, images, seed)
    return {name: _mean(values), f"{name}_low": low, f"{name}_high": high}


def _bounds(
    name: str, values: Values, is_asked: NDArray[np.bool_], forms: Values | None = None
) -> dict[str, float]:
    """The share were every missing answer wrong, or right where none of `forms` is wrong."""
    hopeless = values == 0 if forms is None else (forms == 0).any(axis=0)
    least, most = (np.where(is_asked, indicator, np.nan) for indicator in (values == 1, ~hopeless))
    return {
        f"{name}_least": _mean(average_by_case(least.astype(float))),
        f"{name}_most": _mean(average_by_case(most.astype(float))),
    }


def _change(
    symmetric: Values, after: CasePairs, before: CasePairs | None, seed: int
) -> dict[str, float]:
    change, interval = _NOTHING, Interval(_NOTHING, _NOTHING)
    if before is not None:
        scores_before = pd.Series(average_by_case(before.both_right), [*before.cases])
        gains = symmetric - scores_before.reindex([*after.cases]).to_numpy(np.float64)
        change = _mean(gains)
        if not np.isnan(change):
            strata = np.zeros(len(gains))
            interval = paired_interval(gains, after.images.astype(str), strata, seed=seed)
    return {"change": change, "change_low": interval.low, "change_high": interval.high}


def _count_new_cases(pairs: CasePairs, perturbed: bool, seed: int) -> dict[str, float]:
    """The wrong ones among the generated cases that have an answer, and how many these are."""
    forms: Iterable[int] = (0, 1) if perturbed else (1,)
    shares = np.concatenate([1 - average_by_case(pairs.right[form]) for form in forms])
    images = np.concatenate([pairs.images for _ in forms])
    wrong = np.where(np.isnan(shares), np.nan, (np.sign(shares - 0.5) + 1) / 2)
    generated = int((~np.isnan(wrong)).sum())
    low, high = _interval(wrong, images, seed)
    return {
        "generated": generated,
        "new_cases": float(np.nansum(wrong)) if generated else _NOTHING,
        "new_cases_low": low * generated,
        "new_cases_high": high * generated,
    }
