"""The search for the configuration that moves a judge most, as the paper does it and held out.

FRAME's Appendix B.3 tries a grid, keeps the configuration with the highest mean score and reports
that very mean: the luckiest of 16 that do nothing looks like an effect. Held out, the configuration
is chosen on one half of the pictures and reported on the other. A picture with all of its texts
lies in one half, and where there is one configuration, nothing is chosen and all pictures count.
"""

from collections.abc import Iterable
from hashlib import sha256
from typing import NamedTuple

import numpy as np
import pandas as pd

from metrics.frame.inflation import ScoreChange, measure_change, to_percent_change


class BestConfiguration(NamedTuple):
    """The configuration that was chosen, and the change that it makes."""

    configuration: str
    change: ScoreChange


class HeldOutSearch(NamedTuple):
    """The best configuration, in sample and held out."""

    in_sample: BestConfiguration
    """Chosen and reported on all pictures: biased upwards by the choice, its interval as well."""
    held_out: BestConfiguration
    """Chosen on one half of the pictures, reported on the other; on all without a choice."""


def search_held_out(scores: pd.DataFrame, *, seed: int = 0) -> HeldOutSearch:
    """The best configuration of a bias, for the pictures of one judge and domain.

    `scores` has a row for each picture, text and configuration: `picture`, `domain`,
    `configuration`, `original` and `biased`, NaN where there is no score. The best is that with the
    highest percent change over the pictures that were scored both times, and of equal ones the
    first. The halves depend on `seed` and the pictures' names alone; there are at least two
    pictures, unless there is one configuration. The changes are NaN where nothing was scored that
    could be compared.
    """
    if scores["configuration"].nunique() == 1:
        only = BestConfiguration(find_best_configuration(scores), measure_change(scores, seed=seed))
        return HeldOutSearch(only, only)
    is_selected = scores["picture"].isin(select_half(scores["picture"], seed=seed))
    choices = find_best_configuration(scores), find_best_configuration(scores[is_selected])
    reports = scores, scores[~is_selected]
    return HeldOutSearch(
        *(
            BestConfiguration(
                name, measure_change(report[report["configuration"] == name], seed=seed)
            )
            for name, report in zip(choices, reports, strict=True)
        )
    )


def select_half(pictures: Iterable[str], *, seed: int = 0) -> set[str]:
    """The pictures on which a search that is held out chooses; it reports on the others."""
    order = sorted(
        set(pictures), key=lambda name: sha256(f"halves/{seed}/{name}".encode()).digest()
    )
    return set(order[: len(order) // 2])


def find_best_configuration(scores: pd.DataFrame) -> str:
    """The configuration with the highest percent change; the first where none has any."""
    both = scores.dropna(subset=["original", "biased"])
    means = both.groupby("configuration", sort=False)[["original", "biased"]].mean()
    names = scores["configuration"].unique()
    changes = {
        str(name): to_percent_change(*means.loc[name]) for name in names if name in means.index
    }
    risen = {name: change for name, change in changes.items() if not np.isnan(change)}
    return max(risen, key=risen.__getitem__) if risen else str(names[0])
