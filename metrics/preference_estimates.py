"""Estimates of preference: of Φ and of its resamples, as values with intervals."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd

from metrics.caption_scores import CaptionScores, Mask, Values
from metrics.image_bootstrap import Ends, ends, mirrored_ends, resampled_matrices
from metrics.preference_matrix import mean_matrix, standardized_matrix
from metrics.preference_model import PreferenceModel, preference_model


@dataclass(frozen=True)
class Estimate:
    """Values of a name, such as one for each cell, with those of every resample."""

    name: str
    values: Values
    drawn: Values
    """The same of each resample; (rounds, ...)."""
    images: int
    within: tuple[float, float] | None = None
    """The least and most that Φ̃ can be; None for anything else."""

    @cached_property
    def limits(self) -> Ends:
        """The interval of each value, NaN where the value is."""
        limits = self._ends(self.values, self.drawn)
        lacking = np.isnan(self.values)
        return Ends(*(np.where(lacking, np.nan, end) for end in limits))

    def at(self, *place: int) -> dict[str, float]:
        """One value, with its interval: columns of a row."""
        return self._columns(self.values[place], *(end[place] for end in self.limits))

    def mean(self, held: Mask) -> dict[str, float]:
        """The mean over those of some values that there are, with its interval; else NaN."""
        held = held & ~np.isnan(self.values)
        if not held.any():
            return self._columns(np.nan, np.nan, np.nan)
        mean = np.asarray(self.values[held].mean())
        return self._columns(mean, *self._ends(mean, self.drawn[:, held].mean(axis=1)))

    def absolute(self) -> "Estimate":
        """The same, whatever its sign."""
        within = self.within and (0.0, self.within[1])
        return Estimate("absolute", np.abs(self.values), np.abs(self.drawn), self.images, within)

    def _ends(self, values: Values, drawn: Values) -> Ends:
        if self.within is None:
            return ends(drawn, self.images)
        return mirrored_ends(values, drawn, self.images, within=self.within)

    def _columns(self, value: Any, low: Any, high: Any) -> dict[str, float]:
        found = {"": value, "_low": low, "_high": high}
        return {f"{self.name}{end}": float(number) for end, number in found.items()}


@dataclass(frozen=True)
class Estimates:
    """All estimates of one matrix of scores."""

    mean: Estimate
    """Φ, in points; (generators, evaluators)."""
    standardized: Estimate
    """Φ̃; (generators, evaluators)."""
    preference: Estimate
    """In points, fitted outside the diagonal and families; (generators, evaluators)."""
    quality: Estimate
    """Of generators, by that fit."""
    leniency: Estimate
    """Of evaluators, by the same fit."""
    scale: Estimate
    model: PreferenceModel
    """How preference was estimated."""
    converged: bool
    """Whether the fit of Φ itself reached its tolerance."""

    @property
    def of_cells(self) -> tuple[Estimate, ...]:
        """Those that every cell has."""
        return self.mean, self.standardized, self.preference


def estimate_preference(scores: CaptionScores, *, seed: int, rounds: int) -> Estimates:
    """Estimate everything of scores, with so many resamples of their images."""
    means = mean_matrix(scores).means
    drawn = resampled_matrices(scores, seed=seed, rounds=rounds)
    model = preference_model(means, scores)
    fit, drawn_fit = (model.fit(values) for values in (means, drawn))

    def estimate(name: str, values: Values, resampled: Values) -> Estimate:
        within = limits_of(scores) if name == "standardized" else None
        return Estimate(name, values, resampled, scores.images, within)

    return Estimates(
        mean=estimate("mean", means, drawn),
        standardized=estimate(
            "standardized", standardized_matrix(means), standardized_matrix(drawn)
        ),
        preference=estimate("preference", fit.residuals, drawn_fit.residuals),
        quality=estimate("quality", fit.quality, drawn_fit.quality),
        leniency=estimate("leniency", fit.leniency, drawn_fit.leniency),
        scale=estimate("scale", fit.scale, drawn_fit.scale),
        model=model,
        converged=bool(fit.converged),
    )


def limits_of(scores: CaptionScores) -> tuple[float, float]:
    """The least and most that Φ̃ can be: ± √(m − 1) for m evaluators."""
    most = float(np.sqrt(max(0, len(scores.evaluators) - 1)))
    return -most, most


def by_name(column: str, names: tuple[str, ...], *estimates: Estimate) -> pd.DataFrame:
    """A row for each name, with estimates that have one value for each."""
    rows: list[dict[str, Any]] = []
    for at, name in enumerate(names):
        row: dict[str, Any] = {column: name}
        for estimate in estimates:
            row |= estimate.at(at)
        rows.append(row)
    return pd.DataFrame(rows)
