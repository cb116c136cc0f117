"""Mean tokens of an answer, as providers bill them, with intervals over scenes.

Answers about one scene are about as long as each other, so that scenes are resampled, as for scores
(`metrics.statistics.graded_intervals`); a number of tokens has no upper end.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from metrics.statistics.cluster_bootstrap import sum_by_stratum
from metrics.statistics.graded_intervals import interval_of_sums

_UNKNOWN = float("nan")


class TokenMean(NamedTuple):
    """A mean with its 95 % interval, and the number of answers that it is of; NaN if unknown."""

    tokens: float
    tokens_low: float
    tokens_high: float
    counted: int


def measure_tokens(
    tokens: ArrayLike, clusters: ArrayLike, strata: ArrayLike, *, seed: int = 0
) -> TokenMean:
    """The mean over `strata` (topics) of the means of their `tokens`.

    `tokens` has a number for each answer, NaN where it is unknown; `clusters` names the scene of
    each, `strata` its topic. `counted` of them are known. The mean is unknown where no number of
    a stratum is known, its interval where all scenes of each have the same mean.
    """
    values, topics = np.asarray(tokens, float), np.asarray(strata)
    counted = int((~np.isnan(values)).sum())
    sums = sum_by_stratum(values, np.asarray(clusters), topics)
    if not sums or len(sums) < len(np.unique(topics)):
        return TokenMean(_UNKNOWN, _UNKNOWN, _UNKNOWN, counted)
    mean = float(np.mean([stratum.mean for stratum in sums]))
    if all(stratum.is_constant for stratum in sums):
        return TokenMean(mean, _UNKNOWN, _UNKNOWN, counted)
    return TokenMean(mean, *interval_of_sums(sums, seed=seed), counted)
