"""Self-preference and cross-model preference of judges, as tables with intervals (Philautia-Eval).

Two estimates stand side by side: Φ̃ of the paper, in standard deviations, and the preference in
score points (`metrics.preference_fit`). The latter is fitted twice. `preference` leaves out the
diagonal alone; where models of a family favour each other their cells are then part of what is
normal, and the diagonal's preference comes out too small. `family_preference` leaves out every
family's block as well.

Intervals are by a bootstrap over images (`metrics.image_bootstrap`): they say how far other images
of the kind would have given other numbers, of these models.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from metrics.caption_scores import CaptionScores, Mask
from metrics.image_bootstrap import ROUNDS
from metrics.matching_test import family_problem
from metrics.preference_estimates import Estimates, by_name, estimate_preference
from metrics.preference_matrix import constant, mean_matrix
from metrics.ranking import ALL


@dataclass(frozen=True)
class PreferenceTables:
    """Tables; each estimate has columns of its name, and with `_low` and `_high` (95 %)."""

    cells: pd.DataFrame
    """A row for each generator and evaluator, in their order: `generator`, `evaluator`, `own`
    (one model), `family` (of both, if it is one, else None), `asked`, `scored`, `missing`; `mean`
    (Φ in points), `standardized` (Φ̃), `preference` and `family_preference` (in points, by either
    fit); and `problem`, which says why one of them is NaN, else empty."""
    models: pd.DataFrame
    """A row for each model that writes and scores, its diagonal cell, and last `all`, the mean over
    those that have a value: `model`, `family`, `models` (how many have one), `standardized` (the
    philautia score), `preference`, `family_preference`."""
    families: pd.DataFrame
    """A row for each family: `family`, `generators` and `evaluators` (names), `cells` (of different
    models, with a mean); means over these, `standardized` and `family_preference`; and `problem`,
    which says why there are none, else empty."""
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
    found = estimate_preference(scores, seed=seed, rounds=rounds)
    return PreferenceTables(
        cells=_cells(scores, found),
        models=_models(scores, found),
        families=_families(scores, found),
        generators=by_name("generator", scores.generators, found.quality),
        evaluators=by_name("evaluator", scores.evaluators, found.leniency, found.scale),
        problems=_problems(scores, found),
        fitted=found.own.fitted,
    )


def _cells(scores: CaptionScores, found: Estimates) -> pd.DataFrame:
    counts = mean_matrix(scores)
    constants = constant(found.mean.values)
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
                "scored": int(counts.scored[i, j]),
                "missing": int(counts.missing[i, j]),
            }
            for estimate in found.of_cells:
                row |= estimate.at(i, j)
            rows.append({**row, "problem": _cell_problem(scores, found, constants, (i, j))})
    return pd.DataFrame(rows)


def _models(scores: CaptionScores, found: Estimates) -> pd.DataFrame:
    _, *estimates = found.of_cells
    has_value = scores.own & ~np.isnan(found.preference.values)
    rows: list[dict[str, Any]] = []
    for i, j in np.argwhere(scores.own):
        model = scores.generators[i]
        row: dict[str, Any] = {
            "model": model,
            "family": scores.families.get(model),
            "models": int(has_value[i, j]),
        }
        for estimate in estimates:
            row |= estimate.at(i, j)
        rows.append(row)
    row = {"model": ALL, "family": None, "models": int(has_value.sum())}
    for estimate in estimates:
        row |= estimate.mean(scores.own)
    return pd.DataFrame([*rows, row])


def _families(scores: CaptionScores, found: Estimates) -> pd.DataFrame:
    estimates = (found.standardized, found.family_preference)
    rows = []
    for family in scores.family_names:
        problem = family_problem(scores, family)
        cross = scores.block(family) & ~scores.own
        row: dict[str, Any] = {
            "family": family,
            "generators": [m for m in scores.generators if scores.families.get(m) == family],
            "evaluators": [m for m in scores.evaluators if scores.families.get(m) == family],
            "cells": int((cross & ~np.isnan(found.mean.values)).sum()),
        }
        for estimate in estimates:
            row |= estimate.mean(np.zeros_like(cross) if problem else cross)
        rows.append({**row, "problem": problem})
    columns = ["family", "generators", "evaluators", "cells"]
    columns += [f"{of.name}{end}" for of in estimates for end in ("", "_low", "_high")]
    return pd.DataFrame(rows, columns=[*columns, "problem"])


def _cell_problem(
    scores: CaptionScores, found: Estimates, constants: tuple[Mask, Mask], at: tuple[int, int]
) -> str:
    """Why a cell lacks a number; empty where it does not."""
    rows, columns = constants
    if np.isnan(found.mean.values[at]):
        return "no score"
    if columns[at[1]]:
        return f"{scores.evaluators[at[1]]} gives all generators the same mean"
    if rows[at[0]]:
        return f"all evaluators place {scores.generators[at[0]]} alike"
    return "too few cells to standardise" if np.isnan(found.standardized.values[at]) else ""


def _problems(scores: CaptionScores, found: Estimates) -> tuple[str, ...]:
    rows, columns = constant(found.mean.values)
    empty = int(np.isnan(found.mean.values).sum())
    said = [f"Cells without any score, which are empty: {empty}."] if empty else []
    said += [
        f"{scores.evaluators[j]}: it gives all generators the same mean. Its column of Φ̃ is empty."
        for j in np.flatnonzero(columns)
    ]
    said += [
        f"{scores.generators[i]}: all evaluators place it alike. Its row of Φ̃ is empty."
        for i in np.flatnonzero(rows)
    ]
    if not found.own.rows.any():
        said.append("Preference: it takes two generators and two evaluators. Add a model.")
    elif not found.own.fitted:
        said.append(f"Preference is double-centred, which makes it smaller: {found.own.why}.")
    elif not found.kin.fitted:
        said.append(
            f"Family preference is double-centred, which makes it smaller: {found.kin.why}."
        )
    if found.own.rows.any() and not found.converged:
        said.append("The fit of preference has not converged: models are few or nearly alike.")
    return tuple(said)
