"""Self-preference and cross-model preference of judges, as tables with intervals (Philautia-Eval).

Two estimates stand side by side: Φ̃ of the paper, in standard deviations, and the preference in
score points (`metrics.preference_fit`). The latter is fitted twice. `preference` leaves out the
diagonal alone; where models of a family favour each other their cells are then part of what is
normal, and the diagonal's preference comes out too small. `family_preference` leaves out every
family's block as well.

Intervals are by a bootstrap over images (`metrics.image_bootstrap`): they say how far other images
of the kind would have given other numbers, of these models.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from metrics.caption_scores import CaptionScores, Values
from metrics.image_bootstrap import ROUNDS, Ends, ends, resampled_matrices
from metrics.matching_test import family_problem
from metrics.preference_matrix import MeanMatrix, constant, mean_matrix, standardized_matrix
from metrics.preference_model import PreferenceModel, preference_model
from metrics.ranking import ALL

ESTIMATES = ("mean", "standardized", "preference", "family_preference")
"""What a cell is given: Φ in points, Φ̃, and preference in points by either fit."""


@dataclass(frozen=True)
class PreferenceTables:
    """Tables; each estimate has columns of its name, and with `_low` and `_high` (95 %)."""

    cells: pd.DataFrame
    """A row for each generator and evaluator, in their order: `generator`, `evaluator`, `own`
    (one model), `family` (of both, if it is one, else None), `asked`, `scored`, `missing`, the
    estimates `ESTIMATES`, and `problem`, which says why one is NaN, else empty."""
    models: pd.DataFrame
    """A row for each model that writes and scores, its diagonal cell, and last `all`, the mean over
    those that have a value: `model`, `family`, `models` (how many values), `standardized` (the
    philautia score), `preference`, `family_preference`."""
    families: pd.DataFrame
    """A row for each family: `family`, `generators` and `evaluators` (names), `cells` (of different
    models, with a value), `standardized`, `family_preference`: means over these; and `problem`."""
    generators: pd.DataFrame
    """`generator`, `quality`: in points of a mean evaluator, 0 on average, with its interval."""
    evaluators: pd.DataFrame
    """`evaluator`, `leniency` (its score of a caption of mean quality), `scale` (points it gives
    for one of quality, 1 on average), with their intervals."""
    problems: tuple[str, ...]
    """Sentences on what could not be computed as usual, and what was done instead."""
    fitted: bool
    """Whether `preference` is by the fit; it is double-centred where models are too few."""


def preference_tables(
    scores: CaptionScores, *, seed: int = 0, rounds: int = ROUNDS
) -> PreferenceTables:
    """The tables of a matrix of scores, with intervals by so many rounds of bootstrap."""
    whole = mean_matrix(scores)
    resampled = resampled_matrices(scores, seed=seed, rounds=rounds)
    own = preference_model(whole.means, scores.own)
    kin = preference_model(whole.means, scores.kin)
    values, drawn = (_estimates(of, scores, own, kin) for of in (whole.means, resampled))
    problems = _cell_problems(scores, whole, values)
    return PreferenceTables(
        cells=_cells(scores, whole, values, drawn, problems),
        models=_models(scores, values, drawn),
        families=_families(scores, values, drawn),
        generators=_named("generator", scores.generators, ("quality",), values, drawn, scores),
        evaluators=_named(
            "evaluator", scores.evaluators, ("leniency", "scale"), values, drawn, scores
        ),
        problems=_problems(scores, whole, own, kin),
        fitted=own.fitted,
    )


def _estimates(
    means: Values, scores: CaptionScores, own: PreferenceModel, kin: PreferenceModel
) -> dict[str, Values]:
    """Every estimate of Φ, or of many; those of a cell are (..., generators, evaluators)."""
    fit = own.fit(means, scores.own)
    return {
        "mean": means,
        "standardized": standardized_matrix(means),
        "preference": fit.residuals,
        "family_preference": kin.fit(means, scores.kin).residuals,
        "quality": fit.quality,
        "leniency": fit.leniency,
        "scale": fit.scale,
    }


def _cells(
    scores: CaptionScores,
    whole: MeanMatrix,
    values: Mapping[str, Values],
    drawn: Mapping[str, Values],
    problems: Mapping[tuple[int, int], str],
) -> pd.DataFrame:
    limits = {name: ends(drawn[name], scores.images) for name in ESTIMATES}
    rows = []
    for i, generator in enumerate(scores.generators):
        for j, evaluator in enumerate(scores.evaluators):
            family = scores.families.get(generator)
            row: dict[str, Any] = {
                "generator": generator,
                "evaluator": evaluator,
                "own": generator == evaluator,
                "family": family if family == scores.families.get(evaluator) else None,
                "asked": scores.images,
                "scored": int(whole.scored[i, j]),
                "missing": int(whole.missing[i, j]),
            }
            for name in ESTIMATES:
                row |= with_ends(name, values[name][i, j], limits[name], (i, j))
            rows.append({**row, "problem": problems.get((i, j), "")})
    return pd.DataFrame(rows)


def _models(
    scores: CaptionScores, values: Mapping[str, Values], drawn: Mapping[str, Values]
) -> pd.DataFrame:
    names = ESTIMATES[1:]
    at = np.nonzero(scores.own)
    diagonal = {name: values[name][at] for name in names}
    resampled = {name: drawn[name][:, at[0], at[1]] for name in names}
    limits = {name: ends(resampled[name], scores.images) for name in names}
    rows = []
    for number, i in enumerate(at[0]):
        model = scores.generators[i]
        row: dict[str, Any] = {
            "model": model,
            "family": scores.families.get(model),
            "models": int(not np.isnan(diagonal["standardized"][number])),
        }
        for name in names:
            row |= with_ends(name, diagonal[name][number], limits[name], (number,))
        rows.append(row)
    last: dict[str, Any] = {
        "model": ALL,
        "family": None,
        "models": int((~np.isnan(diagonal["standardized"])).sum()),
    }
    for name in names:
        last |= mean_with_ends(name, diagonal[name], resampled[name], scores.images)
    return pd.DataFrame([*rows, last])


def _families(
    scores: CaptionScores, values: Mapping[str, Values], drawn: Mapping[str, Values]
) -> pd.DataFrame:
    names = ("standardized", "family_preference")
    rows = []
    for family in scores.family_names:
        cross = scores.block(family) & ~scores.own
        row: dict[str, Any] = {
            "family": family,
            "generators": [m for m in scores.generators if scores.families.get(m) == family],
            "evaluators": [m for m in scores.evaluators if scores.families.get(m) == family],
            "cells": int((~np.isnan(values["mean"][cross])).sum()),
        }
        for name in names:
            row |= mean_with_ends(name, values[name][cross], drawn[name][:, cross], scores.images)
        rows.append({**row, "problem": family_problem(scores, family)})
    columns = ["family", "generators", "evaluators", "cells"]
    columns += [f"{name}{end}" for name in names for end in ("", "_low", "_high")]
    return pd.DataFrame(rows, columns=[*columns, "problem"])


def _named(
    column: str,
    names: tuple[str, ...],
    estimates: tuple[str, ...],
    values: Mapping[str, Values],
    drawn: Mapping[str, Values],
    scores: CaptionScores,
) -> pd.DataFrame:
    limits = {name: ends(drawn[name], scores.images) for name in estimates}
    rows = []
    for at, of in enumerate(names):
        row: dict[str, Any] = {column: of}
        for name in estimates:
            row |= with_ends(name, values[name][at], limits[name], (at,))
        rows.append(row)
    return pd.DataFrame(rows)


def with_ends(name: str, value: float, limits: Ends, at: tuple[int, ...]) -> dict[str, float]:
    """A value and its interval, which is none where the value is none."""
    low, high = (float(end[at]) for end in limits)
    if np.isnan(value):
        low = high = float("nan")
    return {name: float(value), f"{name}_low": low, f"{name}_high": high}


def mean_with_ends(name: str, values: Values, drawn: Values, images: int) -> dict[str, float]:
    """The mean over those of some cells that have a value, and its interval."""
    there = ~np.isnan(values)
    if not there.any():
        return dict.fromkeys([name, f"{name}_low", f"{name}_high"], float("nan"))
    limits = ends(drawn[:, there].mean(axis=1), images)
    return with_ends(name, float(values[there].mean()), limits, ())


def _cell_problems(
    scores: CaptionScores, whole: MeanMatrix, values: Mapping[str, Values]
) -> dict[tuple[int, int], str]:
    rows, columns = constant(whole.means)
    found = {}
    for i, generator in enumerate(scores.generators):
        for j, evaluator in enumerate(scores.evaluators):
            if not whole.scored[i, j]:
                found[i, j] = "no score"
            elif columns[j]:
                found[i, j] = f"{evaluator} gives all generators the same mean"
            elif rows[i]:
                found[i, j] = f"all evaluators place {generator} alike"
            elif np.isnan(values["standardized"][i, j]):
                found[i, j] = "too few cells to standardise"
    return found


def _problems(
    scores: CaptionScores, whole: MeanMatrix, own: PreferenceModel, kin: PreferenceModel
) -> tuple[str, ...]:
    rows, columns = constant(whole.means)
    found = []
    empty = int((whole.scored == 0).sum())
    if empty:
        found.append(f"{empty} cells have no score, and are empty.")
    found += [
        f"{scores.evaluators[j]}: it gives all generators the same mean; its column of Φ̃ is empty."
        for j in np.flatnonzero(columns)
    ]
    found += [
        f"{scores.generators[i]}: all evaluators place it alike; its row of Φ̃ is empty."
        for i in np.flatnonzero(rows)
    ]
    if not own.fitted:
        found.append(f"Preference is double-centred, which shrinks it: {own.why}.")
    if own.fitted and not kin.fitted:
        found.append(f"Preference of families is double-centred, which shrinks it: {kin.why}.")
    return tuple(found)
