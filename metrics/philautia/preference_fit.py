"""Preference in score points: residuals of Φ after evaluators' leniency and scale, and quality.

Φ_ij = a_j + b_j·q_i is fitted, with leniency a and scale b of evaluator j and quality q of
generator i, on the cells outside those where preference is looked for; a cell's preference is its
residual.
A double-centred residual will not do: where evaluators scale differently it shows a preference of
(b_j − 1)·q_i that is none, and shrinks a true one by 1 − 1/m.

Least squares alone break down where models are few or about equally good: they explain noise by
a huge quality of one generator. In simulations without any preference, of noise with a deviation
of 1, the diagonal's residuals had one of 158 for four models of equal quality, and of 34 for
twelve. So scales are drawn to their mean, 1, as if they came from a normal distribution with a
deviation of 0.5, which holds those from 0.5 to 2: noise of variance σ² adds 4σ²·Σ(b_j − 1)² to the
sum of squares, with σ² estimated from the residuals. That gave 1.4 and 1.1, and where quality
differs by more than the noise it changes little: the penalty is small beside the squares then.
The mean over the diagonal was right everywhere; that of models that score widely and write well
was off by at most 0.2 σ among twelve and 0.4 σ among six, where quality differs as noise does.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from metrics.philautia.caption_scores import Mask, Values

_SPREAD = 0.5
"""The deviation of evaluators' scales around their mean that the penalty expects."""
TOLERANCE = 1e-6
"""A fit has converged when no quality moves by more than this share of quality and noise."""
_MOST_ROUNDS = 1000
_AT_ONCE = 300_000
"""Cells that are fitted at a time."""
_LEAST = 1e-12
"""Smallest penalty, in points squared: where all cells agree there is no noise."""


class PreferenceFit(NamedTuple):
    """A fitted Φ, or as many as there are in the dimensions before."""

    leniency: Values
    """Score that each evaluator gives a caption of mean quality, in points; (..., evaluators)."""
    scale: Values
    """Points that each evaluator gives per point of quality, mean 1; (..., evaluators)."""
    quality: Values
    """Quality of each generator in points of a mean evaluator, mean 0; (..., generators)."""
    residuals: Values
    """Preference of each cell with a mean, in points; (..., generators, evaluators)."""
    has_converged: Mask
    """Whether the tolerance was reached, (...)."""


def fit_preference(means: Values, outside: Mask, *, scaled: bool = True) -> PreferenceFit:
    """Fit Φ, of shape (..., generators, evaluators), on the cells that `outside` marks.

    Cells without a mean are left out; every other one weighs the same. Unless `scaled`, all scales
    are 1. Numbers of a Φ are NaN, and not converged, where a row has no cell left to fit or a
    column fewer than two. By alternating least squares, to `TOLERANCE`.
    """
    shape = np.broadcast_shapes(means.shape, outside.shape)
    step = max(1, _AT_ONCE // max(1, shape[-1] * shape[-2]))
    fits = int(np.prod(shape[:-2]))
    flat = np.broadcast_to(means, shape).reshape(fits, *shape[-2:])
    fitted_cells = np.broadcast_to(outside, shape).reshape(flat.shape)
    parts = [
        _fit(flat[start : start + step], fitted_cells[start : start + step], scaled=scaled)
        for start in range(0, fits, step)
    ]
    arrays = (np.concatenate(array) for array in zip(*parts, strict=True))
    return PreferenceFit(*(array.reshape((*shape[:-2], *array.shape[1:])) for array in arrays))


def _fit(means: Values, outside: Mask, *, scaled: bool) -> PreferenceFit:
    is_fitted = outside & ~np.isnan(means)
    is_determined = (is_fitted.sum(axis=2) >= 1).all(axis=1) & (is_fitted.sum(axis=1) >= 2).all(
        axis=1
    )
    is_determined &= is_fitted.any(axis=(1, 2))
    state = _FitState(np.where(is_fitted, means, 0.0), is_fitted.astype(np.float64))
    converged = np.zeros(len(means), bool)
    active = np.flatnonzero(is_determined)
    for _ in range(_MOST_ROUNDS):
        if not len(active):
            break
        done = state.improve(active, scaled=scaled)
        converged[active[done]] = True
        active = active[~done]
    leniency, scale, quality = state.compute_solution()
    residuals = means - leniency[:, None, :] - scale[:, None, :] * quality[:, :, None]
    for array in (leniency, scale, quality, residuals):
        array[~is_determined] = np.nan
    return PreferenceFit(
        leniency=leniency,
        scale=scale,
        quality=quality,
        residuals=residuals,
        has_converged=converged,
    )


class _FitState:
    """Fits in progress; arrays have one row per fit."""

    def __init__(self, values: Values, weights: Values) -> None:
        self.values, self.weights = values, weights
        fits, generators, evaluators = values.shape
        self.number = np.maximum(weights.sum(axis=1), 1)
        self.cells = weights.sum(axis=(1, 2))
        self.quality = np.zeros((fits, generators))
        self.scale = np.ones((fits, evaluators))
        self.data_shares = np.zeros((fits, evaluators))
        """Weight of the data against the penalty in each scale, 0 to 1."""

    def improve(self, indices: NDArray[np.intp], *, scaled: bool) -> Mask:
        """Take a step with each of some fits; marks those whose step was small enough to end."""
        values, weights, number = self.values[indices], self.weights[indices], self.number[indices]
        quality, scale = self.quality[indices], self.scale[indices]
        mean_quality = np.einsum("fge,fg->fe", weights, quality) / number
        mean_value = values.sum(axis=1) / number
        quality_deviations = weights * (quality[:, :, None] - mean_quality[:, None, :])
        errors = values - weights * mean_value[:, None, :] - scale[:, None, :] * quality_deviations
        squares = (errors**2).sum(axis=(1, 2))
        if scaled:
            free = self.cells[indices] - sum(values.shape[1:]) + 1
            free = free - np.maximum(self.data_shares[indices].sum(axis=1) - 1, 0)
            penalty = np.maximum(squares / np.maximum(free, 1) / _SPREAD**2, _LEAST)[:, None]
            spread = (quality_deviations**2).sum(axis=1)
            self.data_shares[indices] = spread / (spread + penalty)
            scale_estimates = ((quality_deviations * values).sum(axis=1) + penalty) / (
                spread + penalty
            )
            ease = 1 / (spread + penalty)
            excess = scale_estimates.mean(axis=1) - 1
            scale = scale_estimates - ease * (excess / ease.mean(axis=1))[:, None]
        leniency = mean_value - scale * mean_quality
        unexplained = (values - weights * leniency[:, None, :]) * scale[:, None, :]
        new_quality = unexplained.sum(axis=2) / np.einsum("fge,fe->fg", weights, scale**2)
        new_quality -= new_quality.mean(axis=1, keepdims=True)
        self.quality[indices], self.scale[indices] = new_quality, scale
        size = np.sqrt((new_quality**2).mean(axis=1) + squares / self.cells[indices] + _LEAST)
        has_converged: Mask = np.abs(new_quality - quality).max(axis=1) <= TOLERANCE * size
        return has_converged

    def compute_solution(self) -> tuple[Values, Values, Values]:
        """Leniency, scale and quality, as they are now."""
        mean_quality = np.einsum("fge,fg->fe", self.weights, self.quality) / self.number
        leniency = self.values.sum(axis=1) / self.number - self.scale * mean_quality
        return leniency, self.scale, self.quality
