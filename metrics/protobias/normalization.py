"""Raw scores on a scale from 0 to 1, so that their means and margins can be compared.

A normalized score is for means and margins alone. Which of two pictures a metric prefers is read
off the raw scores: clipping makes ties of what was apart, and rounding may.
"""

from collections.abc import Callable, Mapping

import numpy as np
from numpy.typing import ArrayLike, NDArray

Scores = NDArray[np.float64]

JUDGE, HUMAN, STAND_IN, OWN = "judge", "human", "stand_in", "own"
"""Formulas of judges (Table 6), people, stand-in judges and the user's own metrics."""


def normalize_scores(
    raw: ArrayLike, formula: str, scale: tuple[float, float] = (0.0, 1.0)
) -> Scores:
    """Raw scores of one metric, as floats with NaN where there is none, by its formula.

    - `clip_score`: `raw` is the cosine; 2.5 times that, clipped to 0 … 1 (CLIPScore).
    - `pick_score`: min–max over all of `raw`, which has to be the whole evaluated set of a painter.
      The paper does not say how it brings PickScore to 0 … 1. Scores that are all the same are 0.5.
    - `judge` and `human`: 1 to 4, or a mean of such, as (raw − 1) / 3.
    - `own`: from the least to the greatest of its `scale`, as 0 to 1.
    - `siglip_score`, `itm_score`, `vqa_score`, `vision_score`, `expected_score` and `stand_in` are
      on that scale already.

    Raises KeyError for another formula.
    """
    scores: Scores = np.asarray(raw, np.float64)
    if formula == OWN:
        low, high = scale
        return (scores - low) / (high - low)
    return _BY_FORMULA[formula](scores)


def _min_max(scores: Scores) -> Scores:
    known_scores = scores[~np.isnan(scores)]
    if not known_scores.size or known_scores.min() == known_scores.max():
        return np.where(np.isnan(scores), np.nan, 0.5)
    scaled: Scores = (scores - known_scores.min()) / (known_scores.max() - known_scores.min())
    return scaled


def _ratings(scores: Scores) -> Scores:
    return (scores - 1.0) / 3.0


_BY_FORMULA: Mapping[str, Callable[[Scores], Scores]] = {
    "clip_score": lambda cosines: np.clip(2.5 * cosines, 0.0, 1.0),
    "pick_score": _min_max,
    **dict.fromkeys((JUDGE, HUMAN), _ratings),
    **dict.fromkeys(
        ("siglip_score", "itm_score", "vqa_score", "vision_score", "expected_score", STAND_IN),
        np.asarray,
    ),
}
