"""Permutation test of self-preference: generators are matched anew with evaluators.

If the writer of a caption did not matter, any generator could bear any other's name. So the
generators are matched anew with the evaluators, names and families alike, and the preference of
the cells that would then be own, or of one family, is estimated as the real one is: fitted outside
these cells, and those of the other families. p is the share of matchings with as much
preference or more: one-sided, for preference and not against it. It is exact if at most
`MATCHINGS` + 1 matchings exist, which holds up to seven generators; of more, so many are drawn,
and the real one counts as one more.

What is compared is the mean preference by the root mean square of the residuals outside. A matching
that leaves favoured cells outside fits badly, and would reach large means by chance: a family of
four among twelve that favours itself by three deviations of noise had p of 3 to 7 % by the mean
alone, and below 0.3 % so. The fewest generators that can give a p below 5 % are four, with 24
matchings; a family of k among m cannot give one much below 1 in m over k: 5 % for three of six.

The test takes Φ as given; intervals say how far Φ of other images would differ.
"""

from itertools import permutations
from math import factorial

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from metrics.philautia.caption_scores import CaptionScores, Mask, Values
from metrics.philautia.preference_model import choose_model
from metrics.philautia.score_matrices import mean_matrix
from metrics.statistics.cluster_bootstrap import build_generator
from metrics.statistics.sign_flips import correct_by_holm

MATCHINGS = 9999
_LEAST = 1e-9
"""The least noise, in points."""
SELF = "self-preference"
"""The test of the diagonal, beside those of the families."""


def matching_tests(scores: CaptionScores, *, seed: int = 0) -> pd.DataFrame:
    """Test self-preference, and the cross-model preference of every family, by re-matching.

    A row for each test: `tested` (`SELF` or a family), `preference` (the mean over the cells in
    question, in points), `p` (one-sided), `p_holm` (Holm's correction for all rows), `matchings`,
    `exact` (all of them; else drawn by `seed`), and `reason`, which says why p is NaN, else empty.
    """
    means = mean_matrix(scores).means
    orders, exact = _orders(len(scores.generators), seed)
    model = choose_model(means, scores)
    # Double-centred, preference is the same whoever is matched with whom.
    residuals = model.fit(means, orders if model.is_fitted else None).residuals
    residuals = residuals.reshape(-1, *means.shape)
    noise = _average(residuals**2, ~model.left_out[orders]) ** 0.5
    rows = [_test(SELF, _average(residuals, scores.own_cells[orders]), noise, exact=exact)]
    for family in scores.family_names:
        cross = scores.family_block(family) & ~scores.own_cells
        preference, problem = _average(residuals, cross[orders]), scores.family_problem(family)
        rows.append(_test(family, preference, noise, exact=exact, problem=problem))
    table = pd.DataFrame(rows)
    table.insert(3, "p_holm", correct_by_holm(table["p"]))
    return table


def _orders(generators: int, seed: int) -> tuple[NDArray[np.intp], bool]:
    """Orders of the generators, the real one first, and whether they are all that there are."""
    if factorial(generators) <= MATCHINGS + 1:
        return np.array(list(permutations(range(generators))), np.intp), True
    random = build_generator(f"matchings/{seed}/{generators}")
    drawn = random.permuted(np.tile(np.arange(generators), (MATCHINGS, 1)), axis=1)
    return np.concatenate([np.arange(generators)[None], drawn]), False


def _test(
    tested: str, preference: Values, noise: Values, *, exact: bool, problem: str = ""
) -> dict[str, object]:
    """The row of a test: the real preference and noise, which come first, among all orders'."""
    if not problem and np.isnan(preference[0]):
        problem = "no cell of it has a preference"
    compared = preference / np.maximum(noise, _LEAST)
    # An order without a mean may have had a larger one; fits end within a tolerance.
    as_much = np.isnan(compared) | (compared >= compared[0] - 1e-4 * abs(compared[0]))
    return {
        "tested": tested,
        "preference": float("nan") if problem else float(preference[0]),
        "p": float("nan") if problem else float(as_much.mean()),
        "matchings": len(preference),
        "exact": exact,
        "reason": problem,
    }


def _average(residuals: Values, cells: Mask) -> Values:
    """The mean over those of the cells that have a value, by order; NaN if there is none."""
    is_averaged = cells & ~np.isnan(residuals)
    counts = is_averaged.sum(axis=(1, 2))
    sums = np.where(is_averaged, residuals, 0.0).sum(axis=(1, 2))
    means: Values = np.divide(sums, counts, out=np.full(len(cells), np.nan), where=counts > 0)
    return means
