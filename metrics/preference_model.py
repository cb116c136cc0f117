"""Which model preference is a residual of: the fit, or double centring where models are too few.

The fit estimates 2E + G − 2 numbers for E evaluators and G generators: a leniency and a scale of
each evaluator and a quality of each generator, less two, as quality may be shifted and stretched.
They must come from cells outside those where preference is looked for: four models that write and
score have 12 of them for 10 numbers, three have 6 for 7. Counting is not enough, as the cells that
are there may leave one of the numbers open: a cell is determined if its derivatives by all numbers,
at a point without coincidences, are a combination of those of the cells outside. At least one more
cell than numbers is asked for as well, as nothing else tells noise.
"""

from dataclasses import dataclass

import numpy as np

from metrics.caption_scores import Mask, Values
from metrics.preference_fit import Fit, fit_preference


@dataclass(frozen=True)
class PreferenceModel:
    """How preference is estimated: decided for Φ, and the same for all of its resamples."""

    rows: Mask
    """Generators with two cells or more; the others are left out."""
    columns: Mask
    """Evaluators with two cells or more."""
    fitted: bool
    """By the fit; else double-centred."""
    why: str = ""
    """Why it is not fitted."""

    def fit(self, means: Values, looked_for: Mask) -> Fit:
        """Fit Φ, (..., generators, evaluators), outside the cells where preference is looked for.

        What is left out is NaN.
        """
        held = means[..., self.rows, :][..., self.columns]
        outside = ~looked_for[..., self.rows, :][..., self.columns]
        found = fit_preference(held, outside if self.fitted else np.array(True), scaled=self.fitted)
        residuals = _spread(np.swapaxes(found.residuals, -1, -2), self.rows)
        return Fit(
            _spread(found.leniency, self.columns),
            _spread(found.scale, self.columns),
            _spread(found.quality, self.rows),
            _spread(np.swapaxes(residuals, -1, -2), self.columns),
            found.converged,
        )


def preference_model(means: Values, looked_for: Mask) -> PreferenceModel:
    """The model for preference in those cells of one Φ that are marked and have a mean."""
    there = ~np.isnan(means)
    columns: Mask = np.asarray(there.sum(axis=0) >= 2)
    rows: Mask = np.asarray(there[:, columns].sum(axis=1) >= 2)
    cells = np.ix_(rows, columns)
    why = _too_few(there[cells] & ~looked_for[cells], there[cells] & looked_for[cells])
    return PreferenceModel(rows, columns, not why, why)


def _too_few(outside: Mask, looked_for: Mask) -> str:
    """Why cells do not determine the fit in others; empty where they do."""
    generators, evaluators = outside.shape
    numbers = 2 * evaluators + generators - 2
    counted = (
        f"the fit has {numbers} numbers for {generators} generators and {evaluators} evaluators, "
        f"and {int(outside.sum())} cells to find them"
    )
    if outside.sum() <= max(0, numbers):
        return counted
    rows = _derivatives(*outside.shape)
    known, sought = rows[outside], rows[looked_for]
    rank = np.linalg.matrix_rank(known)
    if np.linalg.matrix_rank(np.concatenate([known, sought])) > rank:
        return f"{counted}, which leave some of them open"
    return ""


def _derivatives(generators: int, evaluators: int) -> Values:
    """Of each cell a_j + b_j·q_i by all a, b and q, at random ones."""
    random = np.random.default_rng(0)
    scale, quality = random.uniform(1, 2, evaluators), random.uniform(1, 2, generators)
    found = np.zeros((generators, evaluators, 2 * evaluators + generators))
    at = np.arange(evaluators)
    found[:, at, at] = 1
    found[:, at, evaluators + at] = quality[:, None]
    own = np.arange(generators)
    found[own, :, 2 * evaluators + own] = scale
    return found


def _spread(values: Values, held: Mask) -> Values:
    """Values along their last axis where they are held, NaN in between."""
    found = np.full((*values.shape[:-1], len(held)), np.nan)
    found[..., held] = values
    return found
