"""Models that preference is a residual of, and caveats where models are few.

The fit leaves out the cells in which preference is looked for: judges of their own captions, and of
their family's. Were a family's cells part of what is normal, its models' preference for themselves
would come out too small: where families favour each other by 5, a true 8 was 7.2, and intervals
held it in 58 to 86 % of simulated matrices; so fitted it is 8.0, in 92 to 95 %. Where too few cells
are outside the families, the diagonal alone is left out.

For E evaluators and G generators a fit with equal scales estimates E + G − 1 numbers, which must
come from fewer numbers than cells. Counting is not enough, as the cells that are there may leave
one of the numbers open: a cell is determined if its derivatives by all numbers, at a point without
coincidences, are a combination of those of the cells outside. With scales there are 2E + G − 2
numbers: four models that write and score have 12 cells for 10 of them, three have 6 for 7. Of
fewer, the penalty alone decides how far scales follow the data
(`metrics.philautia.preference_fit`), which
the bootstrap does not know: of three models, intervals held a true 8 in 95 to 96 % of simulated
matrices if quality differed by a tenth of an image's noise, and in 68 to 91 % if by half of it.
Double centring, for two models, shows half of their preference.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from metrics.philautia.caption_scores import CaptionScores, Mask, Values
from metrics.philautia.preference_fit import PreferenceFit, fit_preference

CAVEATS = {
    "double-centred": "Preference is double-centred, which makes it smaller: models are too few "
    "for a fit. Add a model.",
    "families left in": "Preference is fitted with the cells of families, which makes that of "
    "their models smaller: too few models are in no family or another one.",
    "scales uncertain": "Preference: how widely each judge scores cannot be told for certain from "
    "so few models. Intervals are too narrow where captions differ much in quality.",
}
"""Caveats of an estimate: a short name and a sentence each."""


@dataclass(frozen=True)
class PreferenceModel:
    """Estimator of preference: chosen for Φ, and the same for all of its resamples."""

    rows: Mask
    """Generators with two cells or more; the others are left out."""
    columns: Mask
    """Evaluators with two cells or more."""
    left_out: Mask
    """The cells that the fit leaves out, (generators, evaluators)."""
    is_fitted: bool
    """Whether there is a fit; else means are double-centred, and no cell is left out."""
    caveat: str = ""
    """Name from `CAVEATS`; empty if the fit is sound."""

    def fit(self, means: Values, orders: NDArray[np.intp] | None = None) -> PreferenceFit:
        """Fit Φ, (..., generators, evaluators).

        Of `orders` of the generators, each gives a fit: who is left out in place of whom.
        """
        left_out = self.left_out if orders is None else self.left_out[orders]
        cells = means[..., self.rows, :][..., self.columns]
        outside = ~left_out[..., self.rows, :][..., self.columns]
        fit = fit_preference(cells, outside, scaled=self.is_fitted)
        residuals = _spread(np.swapaxes(fit.residuals, -1, -2), self.rows)
        return PreferenceFit(
            leniency=_spread(fit.leniency, self.columns),
            scale=_spread(fit.scale, self.columns),
            quality=_spread(fit.quality, self.rows),
            residuals=_spread(np.swapaxes(residuals, -1, -2), self.columns),
            has_converged=fit.has_converged,
        )


def choose_model(means: Values, scores: CaptionScores) -> PreferenceModel:
    """The model for the preference in one Φ of these scores."""
    filled = ~np.isnan(means)
    columns: Mask = np.asarray(filled.sum(axis=0) >= 2)
    rows: Mask = np.asarray(filled[:, columns].sum(axis=1) >= 2)
    cells = np.ix_(rows, columns)
    for left_out, has_families in ((scores.family_cells, False), (scores.own_cells, True)):
        outside, inside = filled[cells] & ~left_out[cells], filled[cells] & left_out[cells]
        if _determines(outside, inside, scaled=False):
            is_certain = _determines(outside, inside, scaled=True)
            caveat = "" if is_certain else "scales uncertain"
            caveat = "families left in" if has_families else caveat
            return PreferenceModel(
                rows=rows, columns=columns, left_out=left_out, is_fitted=True, caveat=caveat
            )
    caveat = "double-centred" if rows.any() else ""
    nothing = np.zeros_like(scores.own_cells)
    return PreferenceModel(
        rows=rows, columns=columns, left_out=nothing, is_fitted=False, caveat=caveat
    )


def _determines(outside: Mask, inside: Mask, *, scaled: bool) -> bool:
    """True where the cells outside determine a fit inside, and one more is left to tell noise."""
    generators, evaluators = outside.shape
    numbers = generators + evaluators - 1 + (evaluators - 1 if scaled else 0)
    if outside.sum() <= max(0, numbers):
        return False
    derivatives = _derivatives(generators, evaluators, scaled=scaled)
    fitted, sought = derivatives[outside], derivatives[inside]
    rank = np.linalg.matrix_rank(fitted)
    return bool(np.linalg.matrix_rank(np.concatenate([fitted, sought])) == rank)


def _derivatives(generators: int, evaluators: int, *, scaled: bool) -> Values:
    """Derivatives of each cell a_j + b_j·q_i by all a, b and q, at random ones; b may be fixed."""
    random = np.random.default_rng(0)
    scale, quality = random.uniform(1, 2, evaluators), random.uniform(1, 2, generators)
    derivatives = np.zeros((generators, evaluators, 2 * evaluators + generators))
    evaluator, generator = np.arange(evaluators), np.arange(generators)
    derivatives[:, evaluator, evaluator] = 1
    derivatives[:, evaluator, evaluators + evaluator] = quality[:, None] if scaled else 0
    derivatives[generator, :, 2 * evaluators + generator] = scale if scaled else 1
    return derivatives


def _spread(values: Values, mask: Mask) -> Values:
    """Values along their last axis where the mask is true, NaN in between."""
    spread = np.full((*values.shape[:-1], len(mask)), np.nan)
    spread[..., mask] = values
    return spread
