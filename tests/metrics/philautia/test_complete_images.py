"""Preference on complete images: which these are, and when it differs from that on all."""

from dataclasses import replace

import numpy as np
import pytest

from metrics.philautia.caption_scores import CaptionScores
from metrics.philautia.complete_images import CompleteImages, estimate_complete
from metrics.philautia.image_bootstrap import resample_matrices
from metrics.philautia.preference_estimates import PreferenceEstimate, estimate_preference
from metrics.philautia.preference_fit import fit_preference
from metrics.philautia.preference_tables import build_preference_tables
from tests.metrics.philautia.simulated_captions import expanded_quantiles, letters, simulated

MANY = 5000
CELL = np.array([[True, False], [False, False]])


def complete_images(difference):
    """Of a difference with a deviation of 1 in one cell."""
    drawn = np.zeros((MANY, 2, 2))
    drawn[:, 0, 0] = difference + np.random.default_rng(0).normal(size=MANY)
    values = np.array([[difference, np.nan], [0.0, 0.0]])
    preference = PreferenceEstimate("complete_preference", values, drawn, MANY)
    return CompleteImages(MANY, preference, PreferenceEstimate("difference", values, drawn, MANY))


@pytest.mark.parametrize(
    ("difference", "tests", "matters"),
    [
        # Ends of 1.96 deviations, and of 2.81 where ten are looked at.
        *((2.3, 1, True), (-2.3, 1, True), (1.7, 1, False), (-1.7, 1, False)),
        *((2.5, 10, False), (-2.5, 10, False), (3.1, 10, True), (-3.1, 10, True)),
    ],
)
def test_it_matters_where_the_interval_of_the_difference_leaves_out_0(difference, tests, matters):
    columns = complete_images(difference).columns(CELL, tests)
    assert columns["missing_matters"] is matters
    assert columns["complete_preference"] == difference
    assert columns["complete_images"] == MANY


def test_without_a_value_nothing_matters():
    columns = complete_images(9.0).columns(np.array([[False, True], [False, False]]), 1)
    assert columns["missing_matters"] is False
    assert np.isnan(columns["complete_preference"])


def test_a_cell_that_nobody_scored_makes_no_image_incomplete():
    values = np.ones((4, 2, 2))
    values[:, 0, 1] = np.nan
    values[2, 1, 1] = np.nan
    scores = CaptionScores.from_arrays(values, "AB", "AB")
    assert scores.is_complete.tolist() == [True, True, False, True]


def test_it_is_the_estimate_of_the_other_images_left_out():
    scores = simulated(np.random.default_rng(1), images=50, models=5, preference=3)
    scores.values[:8, 2, 2] = np.nan
    estimates = estimate_preference(scores, seed=0, rounds=20)
    found = estimate_complete(scores, estimates, seed=0, rounds=20)
    alone = estimate_preference(
        scores.select_images(np.arange(50) >= 8), seed=0, rounds=20
    ).preference.values
    assert found.images == 42
    np.testing.assert_allclose(found.preference.values, alone, atol=1e-4)
    np.testing.assert_allclose(
        found.difference.values, estimates.preference.values - alone, atol=1e-4
    )
    np.testing.assert_allclose(
        found.difference.drawn, estimates.preference.drawn - found.preference.drawn
    )


@pytest.mark.parametrize(("complete", "is_said"), [(20, False), (19, True), (0, True), (40, False)])
def test_too_few_complete_images_are_said(complete, is_said):
    scores = simulated(np.random.default_rng(2), images=40, models=4)
    scores.values[complete:, 0, 1] = np.nan
    if not complete:
        scores.values[0, 0, 1], scores.values[0, 1, 0] = 50, np.nan
    tables = build_preference_tables(scores, rounds=20)
    said = [text for text in tables.problems if text.startswith("Scores are missing")]
    assert bool(said) == is_said
    assert ("complete_images" in tables.models) == (0 < complete < 40)
    if is_said:
        assert f"and {complete} of 40 pictures have all of them" in said[0]
    assert tables.cells["generator"].unique().tolist() == letters(4)


def test_both_are_resampled_together_by_one_seed():
    scores = simulated(np.random.default_rng(3), images=30, models=5)
    scores.values[:8, 2, 2] = np.nan
    estimates = estimate_preference(scores, seed=4, rounds=30)
    found = estimate_complete(scores, estimates, seed=4, rounds=30)
    values = np.where((np.arange(30) >= 8)[:, None, None], scores.values, np.nan)
    drawn = resample_matrices(replace(scores, values=values), seed=4, rounds=30)
    residuals = fit_preference(drawn, ~scores.own_cells).residuals
    np.testing.assert_allclose(found.preference.drawn, residuals, atol=1e-3)
    means = found.columns(scores.own_cells, 1)
    ends = expanded_quantiles(residuals[:, scores.own_cells].mean(axis=1), 22)
    low, high = means["complete_preference_low"], means["complete_preference_high"]
    assert (low, high) == pytest.approx(ends, abs=1e-3)
    # the images that are not complete move preference on all of them alone
    all_drawn = fit_preference(resample_matrices(scores, seed=4, rounds=30), ~scores.own_cells)
    np.testing.assert_allclose(found.difference.drawn, all_drawn.residuals - residuals, atol=1e-3)


def test_all_rows_of_a_table_count_as_looked_at(monkeypatch):
    """Models, their mean, and families."""
    looked_at = []
    columns = CompleteImages.columns

    def record(self, cells, tests):
        looked_at.append((int(cells.sum()), tests))
        return columns(self, cells, tests)

    monkeypatch.setattr(CompleteImages, "columns", record)
    families = {"A": "one", "B": "one", "C": "two", "D": "two"}
    scores = simulated(np.random.default_rng(4), images=20, models=5, families=families)
    scores.values[:3, 2, 2] = np.nan
    build_preference_tables(scores, rounds=5)
    assert looked_at == [*[(1, 8)] * 5, (5, 8), (2, 8), (2, 8)]
