"""Agreement between people who score the same pictures: quadratic weighted kappa (Figure 4).

Kappa is one less the mean squared difference of two annotators' scores over what it would be if
each gave the same scores to pictures at random. With quadratic weights that is

    2 cov(a, b) / (var(a) + var(b) + (mean(a) - mean(b))²)

with the variances of a whole population. It is undefined if both gave one score throughout.
"""

from itertools import combinations
from typing import NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from metrics.statistics.cluster_bootstrap import Interval, draw_counts, percentile_interval


class AnnotatorAgreement(NamedTuple):
    """Agreement of two annotators on the pictures that both have scored."""

    first: str
    second: str
    images: int
    """Pictures that both have scored."""
    kappa: float | None
    """-1 to 1; None if it is undefined; `reason` explains it."""
    interval: Interval | None
    """Interval; None if kappa is undefined, or the same in every resample."""
    reason: str = ""


def quadratic_weighted_kappa(first: ArrayLike, second: ArrayLike) -> float | None:
    """Cohen's kappa with quadratic weights of two annotators' scores, item by item.

    None for no items, or one score throughout.
    """
    a, b = np.asarray(first, float), np.asarray(second, float)
    if not len(a):
        return None
    (kappa,) = _kappas(_sums(a, b, np.zeros(len(a)))).tolist()
    return None if np.isnan(kappa) else float(kappa)


def pairwise_agreement(
    scores: pd.DataFrame, *, seed: int, level: float = 0.95
) -> list[AnnotatorAgreement]:
    """The agreement of every two annotators, by name; empty for fewer than two.

    `scores` has a row for each picture that an annotator has scored: `image_id`, `annotator`,
    `score` (1 to 4) and `concept_id`, the prompt. Intervals are by a percentile bootstrap of
    prompts with all of their pictures.
    """
    wide = scores.pivot(index=["concept_id", "image_id"], columns="annotator", values="score")
    return [
        _compare_annotators(wide[[first, second]].dropna(), seed, level)
        for first, second in combinations(sorted(wide.columns), 2)
    ]


def _compare_annotators(scores: pd.DataFrame, seed: int, level: float) -> AnnotatorAgreement:
    first, second = scores.columns
    a, b = scores[first].to_numpy(float), scores[second].to_numpy(float)
    kappa = quadratic_weighted_kappa(a, b)
    if kappa is None:
        reason = (
            f"both gave {a[0]:g} to every picture" if len(a) else "no picture was scored by both"
        )
        return AnnotatorAgreement(
            first=first, second=second, images=len(a), kappa=None, interval=None, reason=reason
        )
    prompt_sums = _sums(a, b, scores.index.get_level_values("concept_id").to_numpy())
    prompts = len(prompt_sums)
    weights = draw_counts(f"kappa/{seed}/{prompts}", prompts, np.full(prompts, 1 / prompts))
    bounds = percentile_interval(_kappas(np.einsum("ij,jk->ik", weights, prompt_sums)), level)
    interval = bounds if bounds.low < bounds.high else None
    return AnnotatorAgreement(
        first=first, second=second, images=len(a), kappa=kappa, interval=interval
    )


def _sums(
    a: NDArray[np.float64], b: NDArray[np.float64], clusters: NDArray[np.generic]
) -> NDArray[np.float64]:
    """Sum by cluster: one row each with the items and the sums of a, b, (a - b)², a² + b²."""
    _, index = np.unique(clusters, return_inverse=True)
    values = (np.ones(len(a)), a, b, (a - b) ** 2, a**2 + b**2)
    return np.stack([np.bincount(index, column) for column in values], axis=1)


def _kappas(sums: NDArray[np.float64]) -> NDArray[np.float64]:
    """Kappa of each row of sums; NaN where it is undefined. Scores are whole, so sums are exact."""
    items, a, b, differences, squares = sums.T
    # Squared differences of every score of the one from every score of the other.
    chance_differences = items * squares - 2 * a * b
    chance_differences[chance_differences == 0] = np.nan
    kappas: NDArray[np.float64] = 1 - items * differences / chance_differences
    return kappas
