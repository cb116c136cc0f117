"""The finding says no more than intervals and the permutation test do together."""

import numpy as np
import pandas as pd
import pytest

from assets.philautia.pages import REPORT, ComparedDataset
from assets.philautia.pomms import POMMS
from assets.philautia.preference_matrix import MATRIX, UNSTORED_KEYS, matrix_rows
from assets.philautia.score_arrays import SettingScores
from tests.metrics.philautia.simulated_captions import simulated


def compared(scores):
    """A dataset of simulated scores, as the report takes it."""
    asked = pd.DataFrame(scores.images, list(scores.generators), list(scores.evaluators))
    images = [str(at) for at in range(scores.images)]
    found = SettingScores("reference_free", scores, images, asked, is_stand_in=False, problems=())
    rows = [row | {"dataset": "zoo"} for row in matrix_rows(found)]
    return ComparedDataset(
        "zoo",
        MATRIX.build_table(rows, UNSTORED_KEYS).to_pandas(),
        POMMS.build_table([]).to_pandas(),
    )


def test_what_many_judges_prefer_is_said_plainly():
    scores = simulated(np.random.default_rng(0), images=300, preference=6.0)
    told = REPORT.finding([compared(scores)])
    assert told.firmness == "result"
    assert told.sentence.endswith("on zoo, without references; 6 of 6 judges prefer their own.")


def test_what_judges_happen_to_prefer_is_not_taken_for_self_preference():
    """Every cell has a preference of its own, whoever wrote: some diagonals are above 0."""
    scores = simulated(np.random.default_rng(2), images=4000, noise=3)
    scores.values[:] += np.random.default_rng(3).normal(0, 3, (6, 6))
    told = REPORT.finding([compared(scores)]).sentence
    assert "judges prefer their own. On the whole that may be chance" in told
    share = told.rpartition("in ")[2]
    assert share.endswith("\u00a0% of ways.")
    assert 5 < int(share.partition("\u00a0")[0]) <= 100


def test_without_any_there_is_none():
    scores = simulated(np.random.default_rng(4), images=40)
    for at in range(6):
        scores.values[:, at, at] -= 20
    told = REPORT.finding([compared(scores)]).sentence
    assert told == (
        "None of 6 judges is seen to prefer captions of its own on zoo, without references."
    )


@pytest.mark.parametrize("images", [5, 19])
def test_few_pictures_are_a_trial(images):
    scores = simulated(np.random.default_rng(5), images=images, preference=40.0)
    told = REPORT.finding([compared(scores)])
    assert told.firmness == "trial"
    assert told.sentence.startswith(
        f"No model is ranked on zoo yet. A: {images} of at least 20 pictures; "
    )
