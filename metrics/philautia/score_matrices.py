"""Mean scores by generator and evaluator, and the same standardised (Philautia-Eval).

Φ has a row for each generator and a column for each evaluator. Standardising by column takes out
how lenient an evaluator is and how wide it scores; by row afterwards, how good a generator is. The
rest, Φ̃, is preference in standard deviations of a row. With m evaluators it cannot exceed
√(m − 1), and comes close to it however small the preference, once everything else is smaller still.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from metrics.philautia.caption_scores import CaptionScores, Mask, Values

_CONSTANT = 1e-9
"""Deviations below this, or this share of the largest value, are rounding and no variance."""


class MeanMatrix(NamedTuple):
    """Φ with its counts; each of shape (generators, evaluators)."""

    means: Values
    """The mean over the images that have a score; NaN where none has."""
    scored: NDArray[np.int64]
    """Images with a score."""
    missing: NDArray[np.int64]
    """Images without one, which the mean leaves out."""


def mean_matrix(scores: CaptionScores) -> MeanMatrix:
    """Φ: each cell's mean over the images that have a score for it, and how many have."""
    is_scored = ~np.isnan(scores.values)
    scored = is_scored.sum(axis=0)
    sums = np.where(is_scored, scores.values, 0.0).sum(axis=0)
    return MeanMatrix(_ratio(sums, scored), scored, scores.images - scored)


def _ratio(sums: Values, counts: NDArray[np.int64]) -> Values:
    ratios: Values = np.divide(sums, counts, out=np.full(sums.shape, np.nan), where=counts > 0)
    return ratios


def standardize(values: Values, axis: int) -> Values:
    """Values less their mean, in population standard deviations, along an axis; NaN left out.

    All are NaN where the deviation is 0, or there are fewer than two values.
    """
    mean, deviation = moments(values, axis)
    standardized: Values = np.divide(
        values - mean,
        deviation,
        out=np.full(values.shape, np.nan),
        where=np.broadcast_to(deviation > 0, values.shape),
    )
    return standardized


def moments(values: Values, axis: int) -> tuple[Values, Values]:
    """The mean along an axis, which stays with a length of 1, and the population deviation.

    Of fewer than two values, NaN left out, both are NaN; a deviation that is rounding is 0.
    """
    is_known = ~np.isnan(values)
    counts = is_known.sum(axis=axis, keepdims=True)
    counts = np.where(counts > 1, counts, 0)
    mean = _ratio(np.where(is_known, values, 0.0).sum(axis=axis, keepdims=True), counts)
    deviations = np.where(is_known, values - mean, 0.0)
    deviation = np.sqrt(_ratio((deviations**2).sum(axis=axis, keepdims=True), counts))
    largest = np.where(is_known, np.abs(values), 0.0).max(axis=axis, keepdims=True, initial=1.0)
    return mean, np.where(deviation <= _CONSTANT * largest, 0.0, deviation)


def standardized_matrix(means: Values) -> Values:
    """Φ̃ of Φ, of shape (..., generators, evaluators): by column, then by row.

    A cell is NaN where it has no mean, or its column or row has no variance.
    """
    return standardize(standardize(means, -2), -1)


def find_constants(means: Values) -> tuple[Mask, Mask]:
    """Find the rows and the columns of one Φ that have values and no variance.

    A row is constant where it is so after standardising by column: all evaluators give the
    generator the same rank among the others.
    """
    columns = moments(means, 0)[1][0] == 0
    rows = moments(standardize(means, 0), 1)[1][:, 0] == 0
    return rows, columns
