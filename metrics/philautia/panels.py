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

from metrics.philautia.caption_scores import CaptionScores, Values
from metrics.philautia.image_bootstrap import ROUNDS, resample_matrices
from metrics.philautia.preference_estimates import (
    PreferenceEstimate,
    build_name_table,
    standardized_limits,
)
from metrics.philautia.preference_model import choose_model
from metrics.philautia.score_matrices import mean_matrix, moments, standardize

Panel = tuple[str, ...]


class PanelTables(NamedTuple):
    """Tables of several panels; estimates have columns with `_low` and `_high` (95 %) beside."""

    generators: pd.DataFrame
    """A row for each panel and generator: `panel` (its members' names), `size`, `generator`,
    `member` (of the panel), `standardized` (the philautia score), `preference` (in points)."""
    panels: pd.DataFrame
    """A row for each panel: `panel`, `size`, `standardized` and `preference`, means over its
    members' own captions; `absolute`, the mean over all generators of |`standardized`|; `reason`,
    which says why they are NaN, else empty."""


def build_growing_panels(order: Sequence[str]) -> list[Panel]:
    """The panels that come of adding one evaluator at a time: the first two, three, and so on.

    Raises `ValueError` for fewer than two.
    """
    if len(order) < 2:
        raise ValueError(_explain_too_small(order))
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
    drawn = resample_matrices(scores, seed=seed, rounds=rounds)
    model = choose_model(means, scores)
    residuals, resampled_residuals = (model.fit(values).residuals for values in (means, drawn))
    generators, summaries = [], []
    for panel in panels:
        members = [scores.evaluators.index(name) for name in panel]
        standardized = PreferenceEstimate(
            name="standardized",
            values=panel_preference(means, members),
            drawn=panel_preference(drawn, members),
            images=scores.images,
            bounds=standardized_limits(scores),
        )
        preference = PreferenceEstimate(
            name="preference",
            values=_compute_shared_preference(means, residuals, members),
            drawn=_compute_shared_preference(drawn, resampled_residuals, members),
            images=scores.images,
        )
        is_member = np.isin(scores.generators, panel)
        summary: dict[str, Any] = {"panel": panel, "size": len(panel)}
        generator_table = build_name_table("generator", scores.generators, standardized, preference)
        generator_table.insert(1, "member", is_member)
        generators += [{**summary, **row} for row in generator_table.to_dict("records")]
        for estimate, cells in (
            (standardized, is_member),
            (preference, is_member),
            (standardized.absolute(), np.ones_like(is_member)),
        ):
            summary |= estimate.mean(cells)
        summaries.append({**summary, "reason": _problem(panel, scores, means)})
    return PanelTables(generators=pd.DataFrame(generators), panels=pd.DataFrame(summaries))


def _compute_shared_preference(means: Values, residuals: Values, members: Sequence[int]) -> Values:
    """The preference of a panel for each generator in points, (..., generators)."""
    deviation = moments(means[..., members], -2)[1]
    with np.errstate(invalid="ignore", divide="ignore"):
        shares = (residuals[..., members] / deviation).mean(axis=-1)
    preference: Values = np.where(np.isfinite(shares), shares * deviation.mean(axis=-1), np.nan)
    return preference


def panel_preference(means: Values, members: Sequence[int]) -> Values:
    """Φ̃ of a panel of columns, (..., generators): against all single evaluators of Φ."""
    by_column = standardize(means, -2)
    mean, deviation = (moment[..., 0] for moment in moments(by_column, -1))
    panel = by_column[..., list(members)].mean(axis=-1)
    preference: Values = np.divide(
        panel - mean, deviation, out=np.full(panel.shape, np.nan), where=deviation > 0
    )
    return preference


def panel_scores(scores: ArrayLike) -> Values:
    """A panel's score of each item, (items,), of its members' scores, (items, members).

    Each member's scores are standardised over the items that all of them have scored; NaN for an
    item that one of them has not, and everywhere if one gives all items the same score.
    """
    values = np.asarray(scores, np.float64)
    is_complete = ~np.isnan(values).any(axis=1, keepdims=True)
    means: Values = standardize(np.where(is_complete, values, np.nan), 0).mean(axis=1)
    return means


def check_panel(panel: Panel, evaluators: Sequence[str]) -> None:
    """Raise `ValueError` unless a panel has two members or more, each an evaluator and once."""
    if len(panel) < 2:
        raise ValueError(_explain_too_small(panel))
    duplicates = sorted({name for name in panel if panel.count(name) > 1})
    if duplicates:
        raise ValueError(f"Panel: {', '.join(duplicates)} is listed twice. Name each member once.")
    unknown = [name for name in panel if name not in evaluators]
    if unknown:
        raise ValueError(
            f"Panel: {', '.join(unknown)} has scored nothing here. Choose among "
            f"{', '.join(evaluators)}."
        )


def _explain_too_small(panel: Sequence[str]) -> str:
    return (
        f"Panel: {', '.join(panel) or 'no evaluator'} is too few. Name two evaluators or more; a "
        "single one's preference is in the matrix."
    )


def _problem(panel: Panel, scores: CaptionScores, means: Values) -> str:
    by_column = standardize(means, -2)
    member_columns = {name: by_column[:, scores.evaluators.index(name)] for name in panel}
    constant_members = [name for name, column in member_columns.items() if np.isnan(column).all()]
    if constant_members:
        return f"{', '.join(constant_members)}: the same mean for all generators, or none"
    if all(name not in scores.generators for name in panel):
        return "none of its members has written captions"
    return ""
