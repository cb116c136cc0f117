"""Pairwise preference: picture A against picture B, shown in both orders (FRAME, Figure 3).

A comparison is asked twice, with the pictures swapped, and the two preferences for A are averaged:
1 where A wins, 0 where B does, a half for a tie. A judge that always takes the first picture thus
gets ties; `swayed` is the share of pairs whose preference another order changes, a tie into a win
as well as a win into a loss, and `first_shown` how far what is shown first is preferred.
"""

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from metrics.protobias.ranking import ALL, stratified_mean
from metrics.statistics.cluster_bootstrap import Interval
from metrics.statistics.cluster_intervals import stratified_interval
from metrics.statistics.graded_intervals import graded_interval
from metrics.statistics.paired_intervals import paired_interval

_SHARES = ("win", "tie", "loss", "swayed")
_MEASURES = (*_SHARES, "first_shown", "preference", "gain")
_NUMBERS = [f"{name}{end}" for name in _MEASURES for end in ("", "_low", "_high")]
_COLUMNS = ["domain", "pairs", "unscored", *_NUMBERS]
_INTERVALS: Mapping[str, Callable[..., Interval]] = {
    **dict.fromkeys(_SHARES, stratified_interval),
    "gain": paired_interval,
}
Values = NDArray[np.float64]


def win_rates(comparisons: pd.DataFrame, *, seed: int = 0) -> pd.DataFrame:
    """Compute one row for each domain, and for domain `all`, the mean over domains.

    `comparisons` has a row for each pair: `picture`, which A is, `domain`, and the preference for
    A, 0 to 1, `first` where A was shown first and `second` where it was second, NaN where there is
    none; a pair needs both. `first_before` and `second_before` are those of the original A, if
    there are any: `gain` is then how far the preference rose, over the pairs that have all four.

    `win`, `tie` and `loss` are shares of pairs by their average, and `preference` is its mean. All
    have 95 % intervals by a bootstrap over pictures. Numbers are NaN where a domain has no pair for
    them.
    """
    after = comparisons[["first", "second"]].to_numpy(float)
    before = comparisons.reindex(columns=["first_before", "second_before"]).to_numpy(float)
    preference = after.mean(axis=1)
    shares = {
        "win": preference > 0.5,
        "tie": preference == 0.5,
        "loss": preference < 0.5,
        "swayed": after[:, 0] != after[:, 1],
    }
    scored = ~np.isnan(preference)
    values = {name: np.where(scored, value, np.nan) for name, value in shares.items()} | {
        "first_shown": (1 + after[:, 0] - after[:, 1]) / 2,
        "preference": preference,
        "gain": preference - before.mean(axis=1),
    }
    domains, pictures = (comparisons[name].to_numpy() for name in ("domain", "picture"))
    rows = []
    for domain, is_in_domain in _domains(domains):
        row: dict[str, Any] = {
            "domain": domain,
            "pairs": int(scored[is_in_domain].sum()),
            "unscored": int((~scored[is_in_domain]).sum()),
        }
        for name, value in values.items():
            mean = _mean(value[is_in_domain], domains[is_in_domain])
            low, high = mean, mean
            if not np.isnan(mean):
                bootstrap = _INTERVALS.get(name, graded_interval)
                low, high = bootstrap(
                    value[is_in_domain], pictures[is_in_domain], domains[is_in_domain], seed=seed
                )
            row |= {name: mean, f"{name}_low": low, f"{name}_high": high}
        rows.append(row)
    return pd.DataFrame(rows, columns=_COLUMNS)


def _domains(domains: NDArray[Any]) -> Iterator[tuple[str, NDArray[np.bool_]]]:
    for domain in np.unique(domains):
        yield str(domain), domains == domain
    yield ALL, np.ones(len(domains), bool)


def _mean(values: Values, domains: NDArray[Any]) -> float:
    """The mean over domains; NaN unless each has a value."""
    is_scored = ~np.isnan(values)
    if len(np.unique(domains[is_scored])) < len(np.unique(domains)):
        return float("nan")
    return stratified_mean(values, np.unique(domains, return_inverse=True)[1])
