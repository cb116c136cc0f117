"""Self-preference and cross-model preference of judges, as tables with intervals (Philautia-Eval).

Two estimates stand side by side: Φ̃ of the paper, in standard deviations, and the preference in
score points (`metrics.philautia.preference_model`). Where scores are missing, the latter is
estimated on
complete images as well (`metrics.philautia.complete_images`).

Intervals are by a bootstrap over images (`metrics.philautia.image_bootstrap`): they say how far
other images
of the kind would have given other numbers, of these models.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from metrics.philautia.caption_scores import CaptionScores, Mask
from metrics.philautia.complete_images import CompleteImages, estimate_complete
from metrics.philautia.image_bootstrap import MIN_IMAGES, ROUNDS
from metrics.philautia.preference_estimates import (
    PreferenceEstimates,
    build_name_table,
    estimate_preference,
)
from metrics.philautia.preference_model import CAVEATS
from metrics.philautia.score_matrices import find_constants, mean_matrix
from metrics.protobias.ranking import ALL


@dataclass(frozen=True)
class PreferenceTables:
    """Tables; each estimate has columns of its name, and with `_low` and `_high` (95 %)."""

    cells: pd.DataFrame
    """A row for each generator and evaluator, in their order: `generator`, `evaluator`, `own`
    (one model), `family` (of both, if it is one, else None), `requests`, `scored`, `missing`;
    `mean` (Φ in points), `standardized` (Φ̃) and `preference` (in points); and `reason`, which says
    why one of them is NaN, else empty."""
    models: pd.DataFrame
    """A row for each model that writes and scores, its diagonal cell, and last `all`, the mean over
    those that have a value: `model`, `family`, `models` (how many have one), `standardized` (the
    philautia score), `preference`; where some scores are missing also `complete_preference` (on
    `complete_images`, those that have all scores) and `missing_matters` (whether it differs)."""
    families: pd.DataFrame
    """A row for each family: `family`, `generators` and `evaluators` (names), `cells` (of different
    models, with a mean); means over these, as of a model; and `reason`, which says why there are
    none, else empty."""
    generators: pd.DataFrame
    """`generator`, `quality`: in points of a mean evaluator, 0 on average, with its interval."""
    evaluators: pd.DataFrame
    """`evaluator`, `leniency` (its score of a caption of mean quality), `scale` (points it gives
    for one of quality, 1 on average), with their intervals."""
    problems: tuple[str, ...]
    """Sentences on what could not be computed as usual, and what was done instead."""
    caveat: str
    """Name from `CAVEATS` if something makes preference less certain; else empty."""


def build_preference_tables(
    scores: CaptionScores, *, seed: int = 0, rounds: int = ROUNDS
) -> PreferenceTables:
    """The tables of a matrix of scores, with intervals by so many rounds of bootstrap."""
    estimates = estimate_preference(scores, seed=seed, rounds=rounds)
    complete = estimate_complete(scores, estimates, seed=seed, rounds=rounds)
    models = _models(scores, estimates, complete)
    return PreferenceTables(
        cells=_cells(scores, estimates),
        models=models,
        families=_families(scores, estimates, complete),
        generators=build_name_table("generator", scores.generators, estimates.quality),
        evaluators=build_name_table(
            "evaluator", scores.evaluators, estimates.leniency, estimates.scale
        ),
        problems=(*_problems(scores, estimates), *_describe_missing(scores, models, complete)),
        caveat=estimates.model.caveat,
    )


def _cells(scores: CaptionScores, estimates: PreferenceEstimates) -> pd.DataFrame:
    counts = mean_matrix(scores)
    constants = find_constants(estimates.mean.values)
    rows = []
    for i, generator in enumerate(scores.generators):
        for j, evaluator in enumerate(scores.evaluators):
            family = scores.families.get(generator)
            row: dict[str, Any] = {
                "generator": generator,
                "evaluator": evaluator,
                "is_self": generator == evaluator,
                "family": family if family == scores.families.get(evaluator) else None,
                "requests": scores.images,
                "scored": int(counts.scored[i, j]),
                "missing": int(counts.missing[i, j]),
            }
            for estimate in estimates.cell_estimates:
                row |= estimate.to_columns(i, j)
            rows.append({**row, "reason": _cell_problem(scores, estimates, constants, (i, j))})
    return pd.DataFrame(rows)


def _models(
    scores: CaptionScores, estimates: PreferenceEstimates, complete: CompleteImages | None
) -> pd.DataFrame:
    _, *shown = estimates.cell_estimates
    has_value = scores.own_cells & ~np.isnan(estimates.preference.values)
    rows: list[dict[str, Any]] = []
    for i, j in np.argwhere(scores.own_cells):
        cell = np.zeros_like(scores.own_cells)
        cell[i, j] = True
        model = scores.generators[i]
        row = {"model": model, "family": scores.families.get(model), "models": int(has_value[i, j])}
        for estimate in shown:
            row |= estimate.to_columns(i, j)
        rows.append(row | _build_complete_columns(scores, complete, cell))
    row = {"model": ALL, "family": None, "models": int(has_value.sum())}
    for estimate in shown:
        row |= estimate.mean(scores.own_cells)
    return pd.DataFrame([*rows, row | _build_complete_columns(scores, complete, scores.own_cells)])


def _families(
    scores: CaptionScores, estimates: PreferenceEstimates, complete: CompleteImages | None
) -> pd.DataFrame:
    _, *shown = estimates.cell_estimates
    rows = []
    for family in scores.family_names:
        problem = scores.family_problem(family)
        cross = scores.family_block(family) & ~scores.own_cells
        row: dict[str, Any] = {
            "family": family,
            "generators": [m for m in scores.generators if scores.families.get(m) == family],
            "evaluators": [m for m in scores.evaluators if scores.families.get(m) == family],
            "cells": int((cross & ~np.isnan(estimates.mean.values)).sum()),
        }
        cells = np.zeros_like(cross) if problem else cross
        for estimate in shown:
            row |= estimate.mean(cells)
        rows.append({**row, **_build_complete_columns(scores, complete, cells), "reason": problem})
    columns = ["family", "generators", "evaluators", "cells"]
    columns += [
        f"{shown_estimate.name}{end}" for shown_estimate in shown for end in ("", "_low", "_high")
    ]
    return pd.DataFrame(rows, columns=None if rows else [*columns, "reason"])


def _build_complete_columns(
    scores: CaptionScores, complete: CompleteImages | None, cells: Mask
) -> dict[str, Any]:
    """The columns of preference on complete images; none where nothing is missing."""
    tests = int(scores.own_cells.sum()) + 1 + len(scores.family_names)
    return complete.columns(cells, tests) if complete else {}


def _cell_problem(
    scores: CaptionScores,
    estimates: PreferenceEstimates,
    constants: tuple[Mask, Mask],
    cell: tuple[int, int],
) -> str:
    """The reason why a cell lacks a number; empty where it has one."""
    rows, columns = constants
    if np.isnan(estimates.mean.values[cell]):
        return "no score"
    if columns[cell[1]]:
        return f"{scores.evaluators[cell[1]]} gives all generators the same mean"
    if rows[cell[0]]:
        return f"all evaluators place {scores.generators[cell[0]]} alike"
    return "too few cells to standardise" if np.isnan(estimates.standardized.values[cell]) else ""


def _problems(scores: CaptionScores, estimates: PreferenceEstimates) -> tuple[str, ...]:
    rows, columns = find_constants(estimates.mean.values)
    empty = int(np.isnan(estimates.mean.values).sum())
    sentences = [f"Cells without any score, which are empty: {empty}."] if empty else []
    sentences += [
        f"{scores.evaluators[j]}: it gives all generators the same mean. Its column of Φ̃ is empty."
        for j in np.flatnonzero(columns)
    ]
    sentences += [
        f"{scores.generators[i]}: all evaluators place it alike. Its row of Φ̃ is empty."
        for i in np.flatnonzero(rows)
    ]
    if not estimates.model.rows.any():
        sentences.append("Preference: it takes two generators and two evaluators. Add a model.")
    elif estimates.model.caveat:
        sentences.append(CAVEATS[estimates.model.caveat])
    if estimates.model.rows.any() and not estimates.has_converged:
        sentences.append("The fit of preference has not converged: models are few or nearly alike.")
    return tuple(sentences)


def _describe_missing(
    scores: CaptionScores, models: pd.DataFrame, complete: CompleteImages | None
) -> Iterator[str]:
    """Sentences on whether it matters what has no score."""
    number = complete.images if complete else int(scores.is_complete.sum())
    if number < scores.images and number < MIN_IMAGES:
        yield (
            f"Scores are missing, and {number:,} of {scores.images:,} pictures have all of them: "
            "too few to tell whether it matters which."
        )
    if complete is None:
        return
    for row in models[models["missing_matters"]].to_dict("records"):
        name = "The mean over judges" if row["model"] == ALL else row["model"]
        yield (
            f"{name}: preference for its own is {row['preference']:+.1f} points on all pictures "
            f"and {row['complete_preference']:+.1f} on the {number:,} that have all scores. Which "
            "scores are missing makes the difference: go by the second."
        )
