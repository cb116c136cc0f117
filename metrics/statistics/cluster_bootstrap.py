"""Bootstrap of base images with all of their rows."""

from collections.abc import Iterator
from functools import lru_cache
from hashlib import sha256
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

RESAMPLES = 4000
_FEW = 1_000
"""Base images whose weights are kept as floats; of more they would take 32 MB and more."""
_AT_ONCE = 250_000
"""Weights of more base images that are floats at a time."""


class Interval(NamedTuple):
    """The ends of an interval."""

    low: float
    high: float


class ClusterSums(NamedTuple):
    """Sum of scores and number of rows of each base image, as resampling needs them."""

    scores: NDArray[np.float64]
    rows: NDArray[np.float64]
    are_shared: bool = False
    """True where other strata have rows of these base images, in the same order."""

    @property
    def base_images(self) -> int:
        """The number of base images with a score."""
        return int((self.rows > 0).sum())

    @property
    def mean(self) -> float:
        """The mean over rows."""
        return float(self.scores.sum() / self.rows.sum())

    @property
    def is_constant(self) -> bool:
        """True where all base images have the same mean."""
        scored = self.rows > 0
        return bool(np.ptp(self.scores[scored] / self.rows[scored]) == 0)


def sum_by_stratum(
    scores: NDArray[np.float64], clusters: NDArray[np.generic], strata: NDArray[np.generic]
) -> list[ClusterSums]:
    """The sums of every base image, for each stratum (topic) that has a score, in sorted order.

    Where a base image has rows in several strata, all have the sums of all base images, in one
    order: it is drawn with its rows in all of them.
    """
    names, index = np.unique(clusters, return_inverse=True)
    members = [strata == stratum for stratum in np.unique(strata)]
    numberings = [np.unique(index[member], return_inverse=True) for member in members]
    if sum(len(clusters_there) for clusters_there, _ in numberings) > len(names):
        strata_sums = [
            sum_clusters(scores[member], index[member], len(names))._replace(are_shared=True)
            for member in members
        ]
    else:
        strata_sums = [
            sum_clusters(scores[member], numbers, len(clusters_there))
            for member, (clusters_there, numbers) in zip(members, numberings, strict=True)
        ]
    return [sums for sums in strata_sums if sums.base_images]


def count_clusters(strata: list[ClusterSums]) -> int:
    """The base images that a mean over strata rests on: those of the smallest, for each of them.

    More is not certain where all that was missed may sit in the smallest one.
    """
    count = len(strata) * min(sums.base_images for sums in strata)
    if not strata[0].are_shared:
        return count
    return min(count, int(np.any([sums.rows > 0 for sums in strata], axis=0).sum()))


def sum_clusters(
    scores: NDArray[np.float64], index: NDArray[np.integer[Any]], clusters: int
) -> ClusterSums:
    """The sums of so many base images, of which `index` names one by number for each score."""
    scored = ~np.isnan(scores)
    return ClusterSums(
        scores=np.bincount(index, np.where(scored, scores, 0.0), clusters).astype(np.float64),
        rows=np.bincount(index, scored, clusters).astype(np.float64),
    )


def resample_means(strata: list[ClusterSums], seed: int) -> NDArray[np.float64]:
    """The mean over strata of their means, once for each resample of their base images.

    A resample that drew no base image with a score, of any stratum, has no mean: NaN.
    """
    means = [
        _resample(sums, seed, 0 if sums.are_shared else number)
        for number, sums in enumerate(strata)
    ]
    mean: NDArray[np.float64] = np.mean(means, axis=0)
    return mean


def _resample(sums: ClusterSums, seed: int, stratum: int) -> NDArray[np.float64]:
    weights = _weights(len(sums.rows), seed, stratum)
    if np.ptp(sums.rows) == 0:
        return _weigh(weights, sums.scores) / float(sums.rows.sum())
    rows = _weigh(weights, sums.rows)
    rows[rows == 0] = np.nan
    return _weigh(weights, sums.scores) / rows


def _weigh(weights: NDArray[Any], values: NDArray[np.float64]) -> NDArray[np.float64]:
    """The product, by one thread: BLAS wakes all cores for each of thousands of small ones."""
    blocks = [
        np.einsum("ij,j->i", weights[block].astype(float, copy=False), values)
        for block in _blocks(weights.shape[1])
    ]
    return np.concatenate(blocks)


def _blocks(base_images: int) -> Iterator[slice]:
    """The resamples, as many at a time as are looked at together."""
    rows = RESAMPLES if base_images <= _FEW else max(1, _AT_ONCE // base_images)
    for start in range(0, RESAMPLES, rows):
        yield slice(start, min(start + rows, RESAMPLES))


@lru_cache(maxsize=64)
def _weights(base_images: int, seed: int, stratum: int) -> NDArray[Any]:
    """Draw the weight of each base image in each resample, (resamples, base images).

    Cached: judges and metrics share base images, and are compared on the same resamples.
    """
    random = build_generator(f"weights/{seed}/{stratum}/{base_images}")
    chances = np.full(base_images, 1 / base_images)
    # One in ten thousand is hardly ever drawn ten times.
    kind = np.float64 if base_images <= _FEW else np.uint8
    weights = np.empty((RESAMPLES, base_images), kind)
    for block in _blocks(base_images):
        weights[block] = random.multinomial(base_images, chances, block.stop - block.start)
    weights.flags.writeable = False
    return weights


def draw_counts(
    name: str, number: int, chances: NDArray[np.float64], resamples: int = RESAMPLES
) -> NDArray[np.float64]:
    """Draw counts of several outcomes in `number` draws, one row per resample."""
    return build_generator(name).multinomial(number, chances, resamples).astype(float)


def build_generator(name: str) -> np.random.Generator:
    """A random generator that depends on its name alone."""
    return np.random.default_rng(int.from_bytes(sha256(name.encode()).digest()[:8], "big"))


@lru_cache(maxsize=64)
def max_unseen_share(base_images: int, level: float) -> float:
    """The largest share of which n base images may still show none (exact bound)."""
    from scipy.special import betaincinv  # noqa: PLC0415 - slow, and seldom needed

    return float(betaincinv(1, base_images, (1 + level) / 2))


def percentile_interval(means: NDArray[np.float64], level: float) -> Interval:
    """The interval that the middle of the resampled means spans, NaN left out."""
    low, high = np.quantile(means[~np.isnan(means)], [(1 - level) / 2, (1 + level) / 2])
    return Interval(float(low), float(high))
