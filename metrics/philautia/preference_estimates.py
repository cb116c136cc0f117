"""Estimates of preference: of Φ and of its resamples, as values with intervals."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd

from metrics.philautia.caption_scores import CaptionScores, Mask, Values
from metrics.philautia.image_bootstrap import (
    IntervalArrays,
    mirrored_intervals,
    percentile_intervals,
    resample_matrices,
)
from metrics.philautia.preference_model import PreferenceModel, choose_model
from metrics.philautia.score_matrices import mean_matrix, standardized_matrix


@dataclass(frozen=True)
class PreferenceEstimate:
    """Named values, such as one for each cell, with those of every resample."""

    name: str
    values: Values
    drawn: Values
    """The same of each resample; (rounds, ...)."""
    images: int
    bounds: tuple[float, float] | None = None
    """The least and most that Φ̃ can be; None for anything else."""

    @cached_property
    def limits(self) -> IntervalArrays:
        """The interval of each value, NaN where the value is."""
        limits = self._ends(self.values, self.drawn)
        lacking = np.isnan(self.values)
        return IntervalArrays(*(np.where(lacking, np.nan, end) for end in limits))

    def to_columns(self, *place: int) -> dict[str, float]:
        """Convert a value and its interval to columns of a row."""
        return self._columns(self.values[place], *(end[place] for end in self.limits))

    def mean(self, cells: Mask) -> dict[str, float]:
        """The mean over the known values of some cells, with its interval; else NaN."""
        cells = cells & ~np.isnan(self.values)
        if not cells.any():
            return self._columns(np.nan, np.nan, np.nan)
        mean = np.asarray(self.values[cells].mean())
        return self._columns(mean, *self._ends(mean, self.drawn[:, cells].mean(axis=1)))

    def absolute(self) -> "PreferenceEstimate":
        """The same, whatever its sign."""
        bounds = self.bounds and (0.0, self.bounds[1])
        return PreferenceEstimate(
            name="absolute",
            values=np.abs(self.values),
            drawn=np.abs(self.drawn),
            images=self.images,
            bounds=bounds,
        )

    def _ends(self, values: Values, drawn: Values) -> IntervalArrays:
        if self.bounds is None:
            return percentile_intervals(drawn, self.images)
        return mirrored_intervals(values, drawn, self.images, within=self.bounds)

    def _columns(self, value: Any, low: Any, high: Any) -> dict[str, float]:
        numbers = {"": value, "_low": low, "_high": high}
        return {f"{self.name}{end}": float(number) for end, number in numbers.items()}


@dataclass(frozen=True)
class PreferenceEstimates:
    """Estimates of one matrix of scores."""

    mean: PreferenceEstimate
    """Φ, in points; (generators, evaluators)."""
    standardized: PreferenceEstimate
    """Φ̃; (generators, evaluators)."""
    preference: PreferenceEstimate
    """Preference in points, fitted outside the diagonal and families; (generators, evaluators)."""
    quality: PreferenceEstimate
    """Quality of the generators by that fit."""
    leniency: PreferenceEstimate
    """Leniency of the evaluators by the same fit."""
    scale: PreferenceEstimate
    model: PreferenceModel
    """Model by which preference was estimated."""
    has_converged: bool
    """Whether the fit of Φ itself reached its tolerance."""

    @property
    def cell_estimates(self) -> tuple[PreferenceEstimate, ...]:
        """The estimates that have a value for every cell."""
        return self.mean, self.standardized, self.preference


def estimate_preference(scores: CaptionScores, *, seed: int, rounds: int) -> PreferenceEstimates:
    """Estimate everything of scores, with so many resamples of their images."""
    means = mean_matrix(scores).means
    drawn = resample_matrices(scores, seed=seed, rounds=rounds)
    model = choose_model(means, scores)
    fit, drawn_fit = (model.fit(values) for values in (means, drawn))

    def estimate(name: str, values: Values, resampled: Values) -> PreferenceEstimate:
        bounds = standardized_limits(scores) if name == "standardized" else None
        return PreferenceEstimate(
            name=name, values=values, drawn=resampled, images=scores.images, bounds=bounds
        )

    return PreferenceEstimates(
        mean=estimate("mean", means, drawn),
        standardized=estimate(
            "standardized", standardized_matrix(means), standardized_matrix(drawn)
        ),
        preference=estimate("preference", fit.residuals, drawn_fit.residuals),
        quality=estimate("quality", fit.quality, drawn_fit.quality),
        leniency=estimate("leniency", fit.leniency, drawn_fit.leniency),
        scale=estimate("scale", fit.scale, drawn_fit.scale),
        model=model,
        has_converged=bool(fit.has_converged),
    )


def standardized_limits(scores: CaptionScores) -> tuple[float, float]:
    """The least and most that Φ̃ can be: ± √(m − 1) for m evaluators."""
    most = float(np.sqrt(max(0, len(scores.evaluators) - 1)))
    return -most, most


def build_name_table(
    column: str, names: tuple[str, ...], *estimates: PreferenceEstimate
) -> pd.DataFrame:
    """A row for each name, with estimates that have one value for each."""
    rows: list[dict[str, Any]] = []
    for index, name in enumerate(names):
        row: dict[str, Any] = {column: name}
        for estimate in estimates:
            row |= estimate.to_columns(index)
        rows.append(row)
    return pd.DataFrame(rows)
