"""Bootstrap over images, against scipy's Student's t and in portions."""

import numpy as np
import pytest
from scipy.stats import norm, t

from metrics.philautia import image_bootstrap
from metrics.philautia.caption_scores import CaptionScores
from metrics.philautia.image_bootstrap import percentile_intervals, resample_matrices


@pytest.mark.parametrize(("images", "level"), [(2, 0.95), (5, 0.95), (20, 0.9), (1000, 0.95)])
def test_its_quantiles_reach_as_far_as_students_t(images, level):
    resampled = np.linspace(0, 1, 10_001)[:, None]
    outside = norm.cdf(-t.ppf((1 + level) / 2, images - 1) * np.sqrt(images / (images - 1)))
    low, high = percentile_intervals(resampled, images, level=level)
    assert (low[0], high[0]) == pytest.approx((outside, 1 - outside))


def test_resamples_in_portions_are_all_there(monkeypatch):
    values = np.random.default_rng(0).random((30, 2, 3))
    values[0, 0, 0] = np.nan
    scores = CaptionScores(values, ("a", "b"), ("x", "y", "z"))
    monkeypatch.setattr(image_bootstrap, "_AT_ONCE", 30 * 64)
    matrices = resample_matrices(scores, seed=0, rounds=200)
    assert matrices.shape == (200, 2, 3)
    spread = np.nanstd(values, axis=0) / np.sqrt(30)
    for portion in (matrices[:64], matrices[64:128], matrices[128:192]):
        np.testing.assert_allclose(portion.mean(axis=0), np.nanmean(values, axis=0), atol=0.03)
        np.testing.assert_allclose(portion.std(axis=0), spread, rtol=0.35)
