"""The greedy search for a panel with little preference: chosen on one half, reported on the other.

The pair with the least preference is chosen, then at every size the evaluator whose joining leaves
least: the mean over all generators of |Φ̃|, to two decimals. Of equal ones the panel that agrees
best with people (τ_b) is taken where that is known, then the first by name. Chosen and reported on
the same images, the luckiest panel would look better than it is.
"""

from collections.abc import Callable, Sequence
from itertools import combinations
from typing import NamedTuple

import numpy as np

from metrics.frame.held_out_search import select_half
from metrics.philautia.caption_scores import CaptionScores, Values
from metrics.philautia.image_bootstrap import ROUNDS
from metrics.philautia.panels import Panel, PanelTables, check_panel, panel_preference, panel_tables
from metrics.philautia.score_matrices import mean_matrix

PanelAgreement = Callable[[Panel], float | None]


class PanelSearch(NamedTuple):
    """Panels that the search chose, and their preference on the other images."""

    panels: list[Panel]
    """Panels, one of each size from two on; members in the order of joining."""
    selection_images: int
    """Images on which it chose."""
    test_images: int
    """Images of `tables`: the others."""
    tables: PanelTables
    """The panels' preference on the other images."""


def greedy_panels(
    scores: CaptionScores,
    images: Sequence[str],
    *,
    agreement: PanelAgreement | None = None,
    seed: int = 0,
    rounds: int = ROUNDS,
) -> PanelSearch:
    """Search all evaluators for a panel of every size; `images` names those of the scores.

    `agreement` gives a panel's τ_b with people, on which ties are decided, or None. Raises
    `ValueError` for fewer than two evaluators or images.
    """
    check_panel(scores.evaluators, scores.evaluators)
    if len(images) < 2:
        raise ValueError("Search for a panel: it needs two images or more. Add images.")
    half = select_half(images, seed=seed)
    chosen = np.array([name in half for name in images])
    panels = _choose_panels(scores, mean_matrix(scores.select_images(chosen)).means, agreement)
    others = scores.select_images(~chosen)
    tables = panel_tables(others, panels, seed=seed, rounds=rounds)
    return PanelSearch(
        panels=panels, selection_images=int(chosen.sum()), test_images=others.images, tables=tables
    )


def _choose_panels(
    scores: CaptionScores, means: Values, agreement: PanelAgreement | None
) -> list[Panel]:
    def rank(panel: Panel) -> tuple[float, float, Panel]:
        members = [scores.evaluators.index(name) for name in panel]
        preference = np.abs(panel_preference(means, members))
        known_preference = preference[~np.isnan(preference)]
        size = round(float(known_preference.mean()), 2) if len(known_preference) else float("inf")
        tau_b = agreement(panel) if agreement else None
        return size, -tau_b if tau_b is not None else 0.0, panel

    names = sorted(scores.evaluators)
    panels: list[Panel] = [min(combinations(names, 2), key=rank)]
    while len(panels[-1]) < len(names):
        panel = panels[-1]
        panels.append(min(((*panel, name) for name in names if name not in panel), key=rank))
    return panels
