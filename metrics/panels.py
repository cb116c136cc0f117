"""Panels of evaluators (Pomms): the mean of what their members say, each in its own measure.

A panel's score of a generator is the mean of its members' scores, standardised by column. It is
compared as one more evaluator, standardised by the mean and deviation of the single evaluators'
scores of that generator, as one row of Φ̃ is. The panel of all evaluators has a preference of 0 by
that definition: Φ̃ measures distance from what all of them say together.

Beside it stands the preference in points: the mean of its members' residuals, each divided by the
deviation of its column, times the mean of these deviations. A panel of k that shares no preference
has 1/k of each member's own.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from metrics.caption_scores import CaptionScores, Values
from metrics.image_bootstrap import ROUNDS, ends, resampled_matrices
from metrics.preference_matrix import mean_matrix, standardize
from metrics.preference_model import PreferenceModel, preference_model
from metrics.preference_tables import mean_with_ends, with_ends

Panel = tuple[str, ...]


class PanelTables(NamedTuple):
    """Tables of several panels; estimates have columns with `_low` and `_high` (95 %) beside."""

    generators: pd.DataFrame
    """A row for each panel and generator: `panel` (its members' names), `size`, `generator`,
    `member` (of the panel), `standardized` (the philautia score), `preference` (in points)."""
    panels: pd.DataFrame
    """A row for each panel: `panel`, `size`, `standardized` and `preference`, means over its
    members' own captions; `absolute`, the mean over all generators of |`standardized`|; `problem`,
    which says why they are NaN, else empty."""


def growing_panels(order: Sequence[str]) -> list[Panel]:
    """The panels that come of adding one evaluator at a time: the first two, three, and so on.

    Raises `ValueError` for fewer than two.
    """
    if len(order) < 2:
        raise ValueError(_too_small(order))
    return [tuple(order[:size]) for size in range(2, len(order) + 1)]


def panel_tables(
    scores: CaptionScores, panels: Sequence[Panel], *, seed: int = 0, rounds: int = ROUNDS
) -> PanelTables:
    """The preference of each panel, with intervals by so many rounds of bootstrap over images.

    Raises `ValueError` where a panel has fewer than two members, one twice, or one that has scored
    nothing.
    """
    for panel in panels:
        check_panel(panel, scores.evaluators)
    means = mean_matrix(scores).means
    drawn = resampled_matrices(scores, seed=seed, rounds=rounds)
    model = preference_model(means, scores.own)
    generators, summaries = [], []
    for panel in panels:
        whole, resampled = (panel_estimates(of, scores, panel, model) for of in (means, drawn))
        limits = {name: ends(resampled[name], scores.images) for name in whole}
        member = np.array([name in panel for name in scores.generators])
        about: dict[str, Any] = {"panel": panel, "size": len(panel)}
        for i, generator in enumerate(scores.generators):
            row: dict[str, Any] = {"generator": generator, "member": bool(member[i])}
            for name, values in whole.items():
                row |= with_ends(name, values[i], limits[name], (i,))
            generators.append({**about, **row})
        for name in whole:
            about |= mean_with_ends(
                name, whole[name][member], resampled[name][:, member], scores.images
            )
        sizes = np.abs(whole["standardized"]), np.abs(resampled["standardized"])
        about |= mean_with_ends("absolute", *sizes, scores.images)
        summaries.append({**about, "problem": _problem(panel, scores, means)})
    return PanelTables(pd.DataFrame(generators), pd.DataFrame(summaries))


def panel_estimates(
    means: Values, scores: CaptionScores, panel: Panel, model: PreferenceModel
) -> dict[str, Values]:
    """The preference of a panel for each generator, (..., generators), by name of the estimate."""
    at = [scores.evaluators.index(name) for name in panel]
    columns = means[..., at]
    residuals = model.fit(means, scores.own).residuals[..., at]
    deviation = columns.std(axis=-2, keepdims=True)
    with np.errstate(invalid="ignore", divide="ignore"):
        shares = (residuals / deviation).mean(axis=-1)
    return {
        "standardized": panel_preference(means, at),
        "preference": shares * deviation.mean(axis=(-1, -2))[..., None],
    }


def panel_preference(means: Values, members: Sequence[int]) -> Values:
    """Φ̃ of a panel of columns, (..., generators): against all single evaluators of Φ."""
    by_column = standardize(means, -2)
    panel = by_column[..., list(members)].mean(axis=-1)
    single = np.where(np.isnan(standardize(by_column, -1)), np.nan, by_column)
    there = ~np.isnan(single)
    number = there.sum(axis=-1)
    with np.errstate(invalid="ignore", divide="ignore"):
        mean = np.where(there, single, 0.0).sum(axis=-1) / number
        apart = np.where(there, single - mean[..., None], 0.0)
        found: Values = (panel - mean) / np.sqrt((apart**2).sum(axis=-1) / number)
    return np.where(number > 1, found, np.nan)


def panel_scores(scores: ArrayLike) -> Values:
    """A panel's score of each item, (items,), of its members' scores, (items, members).

    Each member's scores are standardised over the items that all of them have scored; NaN for an
    item that one of them has not, and everywhere if one gives all items the same score.
    """
    values = np.asarray(scores, np.float64)
    whole = ~np.isnan(values).any(axis=1, keepdims=True)
    found: Values = standardize(np.where(whole, values, np.nan), 0).mean(axis=1)
    return found


def check_panel(panel: Panel, evaluators: Sequence[str]) -> None:
    """Raise `ValueError` unless a panel has two members or more, each an evaluator and once."""
    if len(panel) < 2:
        raise ValueError(_too_small(panel))
    twice = sorted({name for name in panel if panel.count(name) > 1})
    if twice:
        raise ValueError(f"Panel: {', '.join(twice)} comes twice. Name each member once.")
    unknown = [name for name in panel if name not in evaluators]
    if unknown:
        raise ValueError(
            f"Panel: {', '.join(unknown)} has scored nothing here. Choose among "
            f"{', '.join(evaluators)}."
        )


def _too_small(panel: Sequence[str]) -> str:
    return (
        f"Panel: {', '.join(panel) or 'nobody'} alone is none. Name two evaluators or more; a "
        "single one's preference is in the matrix."
    )


def _problem(panel: Panel, scores: CaptionScores, means: Values) -> str:
    by_column = standardize(means, -2)
    at = {name: by_column[:, scores.evaluators.index(name)] for name in panel}
    without = [name for name, column in at.items() if np.isnan(column).all()]
    if without:
        return f"{', '.join(without)}: the same mean for all generators, or none"
    if all(name not in scores.generators for name in panel):
        return "none of its members has written captions"
    return ""
