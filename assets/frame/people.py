"""Statistics of people's scores: Table 2's bins, Table 7's correlations, and those with judges."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations
from typing import NamedTuple

import pandas as pd

from generators.prompts.judging_templates import SCALE
from generators.prompts.visual_concepts import DOMAINS
from metrics import correlate
from metrics.protobias.ranking import ALL
from metrics.statistics.correlation import Correlation
from metrics.statistics.people_estimates import estimate_people

_, _HIGHEST = SCALE
BINS: Mapping[str, tuple[int, int]] = {f"{low}–{low + 1}": (low, low + 1) for low in range(*SCALE)}
"""The bins of Table 2, which has none below 1. The lower end is in it; the last has both."""


class ScorerAgreement(NamedTuple):
    """Agreement of two scorers on the same pictures of a domain."""

    domain: str
    first: str
    second: str
    correlation: Correlation


class BinnedScores(NamedTuple):
    """Counts of a domain's pictures by mean score in each of `BINS`, and the mean of all."""

    domain: str
    counts: Sequence[int]
    mean: float


def mean_by_picture(scores: pd.DataFrame) -> pd.DataFrame:
    """Compute one row per picture, `image_id`, `domain` and `score`: the mean over annotators."""
    means = scores.groupby(["domain", "image_id"])["score"].mean()
    return means.reset_index()


def bin_scores(scores: pd.DataFrame) -> list[BinnedScores]:
    """Table 2: a line per domain, and one for all pictures."""
    means = mean_by_picture(scores)
    parts = [
        (domain, means["score"][means["domain"].eq(domain)]) for domain in _list_domains(means)
    ]
    return [
        BinnedScores(
            domain,
            [_count_between(values, *interval) for interval in BINS.values()],
            float(values.mean()),
        )
        for domain, values in [*parts, (ALL, means["score"])]
        if len(values)
    ]


def correlate_annotators(scores: pd.DataFrame) -> list[ScorerAgreement]:
    """Table 7: of every two annotators by domain; none where there are not two."""
    named = ["domain", "image_id", "sha256"]
    wide = scores.pivot(index=named, columns="annotator", values="score").reset_index("sha256")
    domains, annotators = wide.index.get_level_values("domain"), sorted({*scores["annotator"]})
    return [
        ScorerAgreement(
            domain=domain,
            first=first,
            second=second,
            correlation=correlate(group[first], group[second], group["sha256"], seed=0),
        )
        for domain in _list_domains(wide.reset_index())
        for first, second in combinations(annotators, 2)
        for group in [wide[domains == domain]]
    ]


def correlate_judge_with_people(
    scores: pd.DataFrame, people: pd.DataFrame
) -> Iterator[ScorerAgreement]:
    """Correlate a judge's scores of originals with people's, by domain and over all pictures.

    `scores` have `model`, `image_id`, `original`, `domain` and `score`; `people` are human scores.
    """
    means = mean_by_picture(people).rename(columns={"score": "people"})
    for judge, judge_scores in scores.groupby("model", sort=False):
        both = judge_scores.merge(means[["image_id", "people"]], on="image_id")
        for domain in [*_list_domains(both), ALL]:
            pictures = both if domain == ALL else both[both["domain"].eq(domain)]
            correlation = correlate(
                pictures["score"], pictures["people"], pictures["original"], seed=0
            )
            yield ScorerAgreement(
                domain=domain, first=str(judge), second="people", correlation=correlation
            )


def estimate_mean_score(scores: pd.DataFrame, people: pd.DataFrame) -> pd.DataFrame:
    """Estimate people's mean score of all judged pictures, as a share of the highest one.

    `scores` and `people` are those of `correlate_judge_with_people`. Rows with one picture are a
    cluster, domains are strata (`estimate_people`).
    """
    names = {"model": "judge", "image_id": "item", "original": "cluster", "domain": "stratum"}
    judged = scores.dropna(subset="score").rename(columns=names)
    judged = judged.assign(prediction=judged["score"] / _HIGHEST)
    labels = mean_by_picture(people).set_index("image_id")["score"] / _HIGHEST
    items = judged.drop_duplicates("item")[["item", "cluster", "stratum"]]
    items = items.assign(label=items["item"].map(labels))
    if "chance" in people:  # Else scores of before there were chances.
        chances = people.drop_duplicates("image_id").set_index("image_id")["chance"]
        items = items.assign(chance=items["item"].map(chances))
    return estimate_people(items, judged)


def _list_domains(rows: pd.DataFrame) -> list[str]:
    row_domains = set(rows["domain"])
    return [domain for domain in DOMAINS if domain in row_domains]


def _count_between(scores: "pd.Series[float]", low: int, high: int) -> int:
    below = scores.le(high) if high == _HIGHEST else scores.lt(high)
    return int((scores.ge(low) & below).sum())
