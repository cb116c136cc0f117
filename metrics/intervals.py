"""Intervals of a mean of scores whose rows come in clusters: one base image, many rows.

Three sizes and two wordings of one scene are not six independent facts, so what is resampled is
the base image with all of its rows. A plain percentile bootstrap of base images is too narrow
where a judge is nearly always wrong, which is where this benchmark lives: with 3 to 10 % right,
its 95 % interval covered the truth in 84 to 94 % of simulated data sets of 20 to 90 base images
(six rows each, correlation 0.3 and 0.7 inside a base image). BCa covered 90 to 98 % there, the
basic and the studentised bootstrap fell as low as 78 and 66 %. What covered best, and is used,
is the percentile bootstrap after adding one base image that is all right and one that is all
wrong (Agresti and Coull's idea, for clusters): 94 to 99 % everywhere, from 20 base images to
90, and for means over topics. It is on the wide side near 0 % and 100 % and for few base images
(97 % on average at 20), and close to exact elsewhere.
"""

from functools import lru_cache
from hashlib import sha256
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.stats import binomtest

RESAMPLES = 4000


class Interval(NamedTuple):
    """The ends of an interval, both between 0 and 1."""

    low: float
    high: float


class _Sums(NamedTuple):
    """What the resampling needs of each base image: the sum of its scores, and its rows."""

    scores: NDArray[np.float64]
    rows: NDArray[np.float64]


def stratified_interval(
    scores: ArrayLike, clusters: ArrayLike, strata: ArrayLike, *, seed: int, level: float = 0.95
) -> Interval:
    """The interval of the mean over `strata` (topics) of the means of their `scores`.

    `scores` are 0 to 1, one a row, no nulls, at least one; `clusters` names the base image of each
    row, `strata` its topic. Rows may come in any order; the same seed gives the same interval.

    Base images are resampled inside their own stratum, and every stratum weighs the same
    (VLMBias, Table 2). Where the base images of every stratum agree among themselves, a
    bootstrap has no width: the share of base images that would have differed is then bounded by
    Clopper and Pearson's interval for none in n, and the mean may be off by as much. At 0 % and
    100 % that is Clopper and Pearson's interval itself, with n base images. Over several strata
    n is the fewest base images of a stratum times the number of strata: no more is certain when
    everything that was missed may sit in the smallest one.
    """
    score, cluster, stratum = np.asarray(scores, float), np.asarray(clusters), np.asarray(strata)
    sums = [
        _sums_by_cluster(score[stratum == name], cluster[stratum == name])
        for name in np.unique(stratum)
    ]
    base_images = len(sums) * min(len(each.rows) for each in sums)
    if all(np.ptp(each.scores / each.rows) == 0 for each in sums):
        mean = float(np.mean([each.scores.sum() / each.rows.sum() for each in sums]))
        unseen = _most_unseen(base_images, level)
        return Interval(max(0.0, mean - unseen), min(1.0, mean + unseen))
    means = np.mean([_resampled_means(each, seed, i) for i, each in enumerate(sums)], axis=0)
    low, high = np.quantile(
        _with_one_right_and_one_wrong(means, base_images, seed), [(1 - level) / 2, (1 + level) / 2]
    )
    return Interval(float(low), float(high))


def _sums_by_cluster(scores: NDArray[np.float64], clusters: NDArray[np.generic]) -> _Sums:
    _, index = np.unique(clusters, return_inverse=True)
    rows = np.bincount(index).astype(np.float64)
    return _Sums(np.bincount(index, scores).astype(np.float64), rows)


def _resampled_means(sums: _Sums, seed: int, stratum: int) -> NDArray[np.float64]:
    weights = _weights(len(sums.rows), seed, stratum)
    means: NDArray[np.float64] = (weights @ sums.scores) / (weights @ sums.rows)
    return means


def _with_one_right_and_one_wrong(
    means: NDArray[np.float64], base_images: int, seed: int
) -> NDArray[np.float64]:
    right, seen = _shares(base_images, seed)
    mixed: NDArray[np.float64] = right + seen * means
    return mixed


@lru_cache(maxsize=64)
def _weights(base_images: int, seed: int, stratum: int) -> NDArray[np.float64]:
    """How often each base image is drawn, resamples × base images.

    Kept, because every judge and metric has the same base images: it saves most of the time,
    and two judges are compared on the same resamples.
    """
    draws = _generator(f"weights/{seed}/{stratum}/{base_images}").multinomial(
        base_images, np.full(base_images, 1 / base_images), RESAMPLES
    )
    weights = draws.astype(float)
    weights.flags.writeable = False
    return weights


@lru_cache(maxsize=64)
def _shares(base_images: int, seed: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The share of each resample that is the added right base image, and that is none added."""
    total = base_images + 2
    draws = _generator(f"shares/{seed}/{base_images}").multinomial(
        total, [1 / total, 1 / total, base_images / total], RESAMPLES
    )
    return draws[:, 0] / total, draws[:, 2] / total


@lru_cache(maxsize=64)
def _most_unseen(base_images: int, level: float) -> float:
    return float(binomtest(0, base_images).proportion_ci(level, method="exact").high)


def _generator(name: str) -> np.random.Generator:
    return np.random.default_rng(int.from_bytes(sha256(name.encode()).digest()[:8], "big"))
