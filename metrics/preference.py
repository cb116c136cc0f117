"""Pairwise preference: picture A against picture B, shown in both orders (FRAME, Figure 3).

A comparison is asked twice, with the pictures swapped, and the two preferences for A are averaged:
1 where A wins, 0 where B does, a half for a tie. A judge that always takes the first picture thus
gets ties, and `swayed` says how often the order decided.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from metrics.graded_means import graded_interval
from metrics.paired_differences import paired_interval
from metrics.ranking import ALL, mean_over
from metrics.resampling import Interval

_SHARES = ("win", "tie", "loss", "swayed")
_NUMBERS = [f"{name}{end}" for name in ("preference", "gain") for end in ("", "_low", "_high")]
_COLUMNS = ["domain", "pairs", "unscored", *_SHARES, *_NUMBERS]
Values = NDArray[np.float64]


def win_rates(comparisons: pd.DataFrame, *, seed: int = 0) -> pd.DataFrame:
    """One row for each domain, and domain `all`, the mean over domains.

    `comparisons` has a row for each pair: `picture`, which A is, `domain`, and the preference for
    A, 0 to 1, `first` where A was shown first and `second` where it was second, NaN where there is
    none; a pair needs both. `first_before` and `second_before` are those of the original A, if
    there are any: `gain` is then how far the preference rose, over the pairs that have all four.

    `win`, `tie` and `loss` are shares of pairs by their average; `preference` is the mean, with its
    95 % interval by a bootstrap over pictures. Numbers are NaN where a domain has no pair for them.
    """
    after = comparisons[["first", "second"]].to_numpy(float)
    before = comparisons.reindex(columns=["first_before", "second_before"]).to_numpy(float)
    preference = after.mean(axis=1)
    scored = ~np.isnan(preference)
    values = {
        "win": preference > 0.5,
        "tie": preference == 0.5,
        "loss": preference < 0.5,
        "swayed": (after > 0.5)[:, 0] != (after > 0.5)[:, 1],
    }
    shares = {name: np.where(scored, value, np.nan) for name, value in values.items()}
    gain = preference - before.mean(axis=1)
    rows = []
    for domain, held in _domains(comparisons["domain"].to_numpy()):
        domains = comparisons["domain"].to_numpy()[held]
        images = comparisons["picture"].to_numpy()[held]
        found: dict[str, Any] = {
            "domain": domain,
            "pairs": int(scored[held].sum()),
            "unscored": int((~scored[held]).sum()),
        }
        found |= {name: _mean(value[held], domains) for name, value in shares.items()}
        for name, value, interval in (
            ("preference", preference[held], graded_interval),
            ("gain", gain[held], paired_interval),
        ):
            mean = _mean(value, domains)
            ends = Interval(mean, mean)
            if not np.isnan(mean):
                ends = interval(value, images, domains, seed=seed)
            found |= {name: mean, f"{name}_low": ends.low, f"{name}_high": ends.high}
        rows.append(found)
    return pd.DataFrame(rows, columns=_COLUMNS)


def _domains(domains: NDArray[Any]) -> Iterator[tuple[str, NDArray[np.bool_]]]:
    for domain in np.unique(domains):
        yield str(domain), domains == domain
    yield ALL, np.ones(len(domains), bool)


def _mean(values: Values, domains: NDArray[Any]) -> float:
    """The mean over domains; NaN unless each has a value."""
    there = ~np.isnan(values)
    if len(np.unique(domains[there])) < len(np.unique(domains)):
        return float("nan")
    return mean_over(values, np.unique(domains, return_inverse=True)[1])
