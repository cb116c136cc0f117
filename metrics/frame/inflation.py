"""Score inflation: how far a bias moves a judge's scores (FRAME, Tables 3 to 6 and Figure 2).

- The percent change of a bias is that of the mean score over the pictures that were scored both
  times. Domain `all` is the mean over domains, before and after, each weighing the same.
- The attack success rate is the share of domains × biases whose mean rises, by however little, as
  in the paper. A judge that no bias moves has a rate of about a half by chance alone, less what
  does not change at all: beside it stands the share whose interval lies above 0.
- The mean rise is that of the percent changes of those that rise.

Intervals are by a bootstrap over pictures, each with its scores by all of its texts, before and
after and under every bias, its ends moved out as in `metrics.statistics.graded_intervals`. The
tests simulate 0–5
scores of 25 to 100 pictures, of one text and of five; of 2, 3 and 5 pictures 73, 81 and 91 % of
the intervals cover the truth, and fewer than 25 are a trial. Resamples of few pictures agree too
easily on whether a mean rises: where they all do, the interval of the rate goes by that of the
change. Where that leaves it no width (each mean clearly rises or falls, or lies at the top of the
scale), the share of pictures that would have changed otherwise is bounded as none in n by Clopper
and Pearson, n being the fewest pictures of a domain times the domains, and the rate may be off by
as much. A mean rise that no resample changes has the mean of the rises' own ends, cut off at 0.

Where all pictures change alike, ends stay within what the scale leaves above and below the mean
before. Where pictures differ before, an end may lie further out, as their true mean may be lower:
cut off there, intervals of a judge that gives all biased pictures 5 would cover the truth in 50 to
61 % of simulations (3 to 25 pictures) instead of 95 %.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import NamedTuple, TypeAlias

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from metrics.protobias.ranking import ALL
from metrics.statistics.cluster_bootstrap import (
    ClusterSums,
    Interval,
    max_unseen_share,
    percentile_interval,
    resample_means,
    sum_clusters,
)
from metrics.statistics.graded_intervals import expand_level

MAX_SCORE = 5.0
"""The highest score that FRAME's judges can give; the lowest is 0."""

LEVEL = 0.95
_COLUMNS = (
    *("domain", "bias", "images", "scored", "unscored"),
    *("original", "biased", "percent", "percent_low", "percent_high"),
)
Values = NDArray[np.float64]


class ScoreChange(NamedTuple):
    """The mean scores before and after a bias, and the change in percent of the former."""

    images: int
    """Pictures that were scored both times, by one text or more."""
    scored: int
    """Pictures and texts that were scored both times."""
    unscored: int
    """Pictures and texts that lack a score, before or after."""
    original: float
    biased: float
    percent: float
    interval: Interval
    resampled: Values
    """Percent changes, one for each resample of the pictures."""
    clusters: int
    """The fewest pictures of a domain times the domains: as many as bound what is unseen."""


NamedChange: TypeAlias = tuple[Mapping[str, str], ScoreChange]
"""A change with its domain, its bias and further names."""


class AttackSuccess(NamedTuple):
    """Share of biases that raise a judge's scores, and the rise (Figure 2)."""

    combinations: int
    rate: float
    rate_interval: Interval
    clear_share: float
    """The share of combinations whose percent change has an interval above 0."""
    mean_rise: float
    """The mean percent change of those that rise; NaN where none does."""
    rise_interval: Interval
    mean: float
    """The mean percent change of all."""
    mean_interval: Interval


def to_percent_change(original: float, biased: float) -> float:
    """The change in percent; NaN where there was nothing to rise from.

    >>> round(to_percent_change(1.14, 1.64), 1)
    43.9
    """
    return 100 * (biased / original - 1) if original > 0 else float("nan")


def measure_change(
    scores: pd.DataFrame,
    *,
    among: pd.DataFrame | None = None,
    seed: int = 0,
) -> ScoreChange:
    """The change that one bias makes, over the domains of its rows.

    `scores` has a row for each picture and text: `picture`, `domain`, `original` and `biased`, 0 to
    `MAX_SCORE`, NaN where there is no score. Resamples are of the pictures of `among`, by default
    `scores`, so that changes of the same pictures are resampled alike. Where all pictures changed
    alike, the share of those that would have changed otherwise is bounded as none in n, and their
    scores by the scale. Numbers are NaN where a domain has no picture that was scored both times.
    """
    score_pairs = np.array(scores[["original", "biased"]], float)
    unscored = np.isnan(score_pairs).any(axis=1)
    score_pairs[unscored] = np.nan
    domain_sums = [*_sums(score_pairs, scores, scores if among is None else among)]
    before, after = ([part[side] for part in domain_sums] for side in (0, 1))
    images = sum(sums.base_images for sums in before)
    scored, lacking = int((~unscored).sum()), int(unscored.sum())
    if not before or min(sums.base_images for sums in before) == 0:
        nothing = float("nan")
        return ScoreChange(
            images=images,
            scored=scored,
            unscored=lacking,
            original=nothing,
            biased=nothing,
            percent=nothing,
            interval=Interval(nothing, nothing),
            resampled=np.empty(0),
            clusters=0,
        )
    original, biased = (float(np.mean([sums.mean for sums in side])) for side in (before, after))
    change = to_percent_change(original, biased)
    with np.errstate(divide="ignore", invalid="ignore"):
        resampled = 100 * (resample_means(after, seed) / resample_means(before, seed) - 1)
    resampled[~np.isfinite(resampled)] = np.nan
    clusters = len(before) * min(sums.base_images for sums in before)
    most = to_percent_change(original, MAX_SCORE)
    interval = find_change_interval(change, resampled, clusters, (-100.0, most))
    return ScoreChange(
        images=images,
        scored=scored,
        unscored=lacking,
        original=original,
        biased=biased,
        percent=change,
        interval=interval,
        resampled=resampled,
        clusters=clusters,
    )


def find_change_interval(
    change: float, resampled: Values, clusters: int, scale: tuple[float, float]
) -> Interval:
    """The interval of a change in percent, from the changes of resamples.

    `scale` is the least and the largest change that the scale leaves: where all pictures changed
    alike, the share of those that would have changed otherwise may reach either.
    """
    if np.isnan(change) or np.isnan(resampled).all():
        return Interval(float("nan"), float("nan"))
    if clusters < 2 or np.nanmax(resampled) - np.nanmin(resampled) < 1e-9:
        unseen, (least, most) = max_unseen_share(clusters, LEVEL), scale
        return Interval(change - unseen * (change - least), change + unseen * (most - change))
    return percentile_interval(resampled, expand_level(clusters, LEVEL))


def _sums(
    score_pairs: Values, scores: pd.DataFrame, among: pd.DataFrame
) -> Iterator[tuple[ClusterSums, ClusterSums]]:
    """The sums of each domain's pictures before and after, in one order for all biases."""
    domains, pictures = scores["domain"].to_numpy(), scores["picture"].to_numpy()
    for domain in np.unique(domains):
        names = pd.Index(np.unique(among["picture"][among["domain"].eq(domain)].to_numpy()))
        is_in_domain = domains == domain
        index = names.get_indexer(pictures[is_in_domain])
        before, after = (
            sum_clusters(side, index, len(names)) for side in score_pairs[is_in_domain].T
        )
        yield before, after


def inflation_table(
    scores: pd.DataFrame, *, overall: Collection[str] | None = None, seed: int = 0
) -> pd.DataFrame:
    """Compute one row for each domain × bias of a judge, and for each bias over its domains.

    `scores` has a row for each picture, text and bias: `picture`, `domain`, `bias`, `original` and
    `biased`, NaN where there is no score. Biases keep the order in which they come. The rows over
    domains are of those `overall` alone, where these are named.
    """
    among = scores if overall is None else scores[scores["domain"].isin(overall)]
    parts = [
        *((str(domain), part) for domain, part in scores.groupby("domain")),
        *([(ALL, among)] if len(among) else []),
    ]
    rows = [
        (domain, bias, *change[:6], *change.interval)
        for domain, part in parts
        for bias, rows_of_bias in part.groupby("bias", sort=False)
        for change in [measure_change(rows_of_bias, seed=seed)]
    ]
    return pd.DataFrame(rows, columns=list(_COLUMNS))


def measure_success(scores: pd.DataFrame, *, seed: int = 0) -> AttackSuccess:
    """The attack success rate and the mean rise over a judge's domains × biases.

    `scores` is as `inflation_table` takes it, with at least one combination that was scored. In a
    resample all biases of a domain have the same pictures.
    """
    return _summarize_changes([*_changes(scores, [], seed)])


def measure_susceptibility(
    scores: pd.DataFrame, by: str, *, seed: int = 0
) -> dict[str, AttackSuccess]:
    """Measure the success of biases over judges, by `domain` or `bias` (FRAME, Section 5.2).

    `scores` has the `model` as well. All judges of a resample have the same pictures: the numbers
    hold for these judges alone.
    """
    groups: dict[str, list[NamedChange]] = {str(value): [] for value in scores[by].unique()}
    for names, change in _changes(scores, ["model"], seed):
        groups[names[by]].append((names, change))
    return {value: _summarize_changes(changes) for value, changes in groups.items() if changes}


def iterate_combinations(
    scores: pd.DataFrame, names: Sequence[str], seed: int
) -> Iterator[tuple[Mapping[str, str], pd.DataFrame, int]]:
    """The rows of each domain and bias, and of each of the further `names`, with a domain's seed.

    Pictures of a domain are resampled alike, and those of different domains by themselves.
    """
    domains = sorted(scores["domain"].unique())
    group_columns = [*names, "domain", "bias"]
    for key, part in scores.groupby(group_columns):
        group = dict(zip(group_columns, map(str, key), strict=True))
        yield group, part, seed * len(domains) + domains.index(group["domain"])


def _changes(scores: pd.DataFrame, names: Sequence[str], seed: int) -> Iterator[NamedChange]:
    """The change of each domain and bias, and of each of the further `names`, where it has one."""
    for group, part, domain_seed in iterate_combinations(scores, names, seed):
        change = measure_change(part, among=scores, seed=domain_seed)
        if not np.isnan(change.percent):
            yield group, change


def _summarize_changes(named_changes: Sequence[NamedChange]) -> AttackSuccess:
    changes = [change for _, change in named_changes]
    domains = len({names["domain"] for names, _ in named_changes})
    percents = np.array([change.percent for change in changes])
    resampled = np.stack([change.resampled for change in changes])
    rate, rise = map(float, success_rates(percents))
    rates, rises = success_rates(resampled)
    slack = Interval(*np.mean([find_slack(change) for change in changes], axis=0).tolist())
    low, high = find_rate_interval(rates, slack, domains * min(change.images for change in changes))
    rate_interval = Interval(max(0.0, low), min(1.0, high))
    clear_share = float(np.mean([change.interval.low > 0 for change in changes]))
    rise_interval = _rise_interval(changes, rises)
    mean_interval = _mean_interval(changes, resampled.mean(axis=0))
    return AttackSuccess(
        combinations=len(changes),
        rate=rate,
        rate_interval=rate_interval,
        clear_share=clear_share,
        mean_rise=rise,
        rise_interval=rise_interval,
        mean=float(percents.mean()),
        mean_interval=mean_interval,
    )


def _rise_interval(changes: Sequence[ScoreChange], rises: Values) -> Interval:
    """The interval of a mean rise: where all resamples agree, the mean of the rises' own ends."""
    risen_ends = [change.interval for change in changes if change.percent > 0]
    if not risen_ends:
        return Interval(float("nan"), float("nan"))
    if np.nanmax(rises) - np.nanmin(rises) < 1e-9:
        low, high = np.mean(risen_ends, axis=0).tolist()
        return Interval(max(0.0, low), high)
    return percentile_interval(rises, LEVEL)


def _mean_interval(changes: Sequence[ScoreChange], means: Values) -> Interval:
    """The interval of a mean of changes: where all resamples agree, the mean of their ends."""
    fewest = min(change.images for change in changes)
    if fewest < 2 or np.nanmax(means) - np.nanmin(means) < 1e-9:
        return Interval(*np.mean([change.interval for change in changes], axis=0).tolist())
    return percentile_interval(means, expand_level(fewest, LEVEL))


def find_slack(change: ScoreChange) -> Interval:
    """How far below and above its resamples a change leaves it open whether the mean rises.

    It is 1 below where the mean rises in every resample and yet has an interval that holds 0, and
    1 above where it rises in none and yet has an interval that reaches above 0; else 0.
    """
    risen = change.resampled > 0
    return Interval(
        float(risen.all() and change.interval.low <= 0),
        float(not risen.any() and change.interval.high > 0),
    )


def find_rate_interval(rates: Values, slack: Interval, clusters: int) -> Interval:
    """The interval of a rate from those of resamples, `slack` being the mean of the changes' own.

    Where that has no width, what is unseen is bounded as none in so many `clusters`.
    """
    low, high = percentile_interval(rates, LEVEL)
    low, high = low - slack.low, high + slack.high
    unseen = max_unseen_share(clusters, LEVEL) if low == high else 0.0
    return Interval(low - unseen, high + unseen)


def success_rates(percents: Values) -> tuple[Values, Values]:
    """The share of percent changes above 0, and their mean; NaN where there is none.

    Combinations lie along the first axis.

    >>> [float(number) for number in success_rates(np.array([10.0, 0.0, 30.0, -5.0]))]
    [0.5, 20.0]
    """
    risen = np.where(percents > 0, percents, 0.0)
    number = np.count_nonzero(risen, axis=0)
    with np.errstate(invalid="ignore"):
        mean = risen.sum(axis=0) / number
    return np.asarray(number / len(percents)), np.asarray(mean)
