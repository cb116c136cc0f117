"""The fit behind preference in points, against SciPy's optimiser and simulated truths."""

import numpy as np
import pytest
from scipy.optimize import least_squares

from metrics.philautia.caption_scores import CaptionScores
from metrics.philautia.preference_fit import fit_preference
from metrics.philautia.preference_model import choose_model
from tests.metrics.philautia.simulated_captions import letters, parts, true_means

SPREAD = 0.5


def diagonal(values):
    return np.diagonal(values, axis1=-2, axis2=-1)


def noisy(random, models=6, count=None, gap=5.0, noise=1.0, preference=0.0):
    found = parts(random, models, gap, count=count)
    means = true_means(*found, preference * np.eye(models))
    return means + random.normal(0, noise, means.shape), found


def by_scipy(means, outside, penalty, start):
    """Leniency, scale and quality that SciPy finds for the same sum of squares, by its own way."""
    _, evaluators = means.shape

    def unpacked(numbers):
        leniency, rest = np.split(numbers, [evaluators])
        scale, quality = np.split(rest, [evaluators - 1])
        return leniency, np.append(scale, evaluators - scale.sum()), quality

    def errors(numbers):
        leniency, scale, quality = unpacked(numbers)
        off = (means - leniency - np.outer(quality, scale))[outside]
        return np.concatenate([off, np.sqrt(penalty) * (scale - 1), [quality.mean()]])

    begin = np.concatenate([means.mean(axis=0), np.ones(evaluators - 1), start])
    return unpacked(least_squares(errors, begin, xtol=1e-14, ftol=1e-14, gtol=1e-14).x)


def penalty_of(fit, outside):
    """What the docstring says of the penalty, at the solution: σ² over the variance of scales."""
    _, scale, quality, residuals, _ = fit
    squares = (residuals[outside] ** 2).sum()

    def followed(penalty):
        spread = [((quality[held] - quality[held].mean()) ** 2).sum() for held in outside.T]
        return sum(each / (each + penalty) for each in spread)

    penalty = squares
    for _ in range(300):
        free = outside.sum() - len(scale) - len(quality) + 1 - max(0, followed(penalty) - 1)
        penalty = squares / max(free, 1) / SPREAD**2
    return penalty


@pytest.mark.parametrize(("models", "gap"), [(4, 5), (4, 0.1), (6, 0.5), (6, 5), (12, 5)])
def test_it_is_the_minimum_that_scipy_finds(models, gap):
    random = np.random.default_rng(models)
    means, (_, _, quality) = noisy(random, models, gap=gap)
    outside = ~np.eye(models, dtype=bool)
    outside[0, 1] = False
    fit = fit_preference(means, outside)
    assert fit.has_converged
    assert fit.has_converged.dtype == bool
    leniency, scale, quality = by_scipy(means, outside, penalty_of(fit, outside), fit.quality + 0.1)
    np.testing.assert_allclose(fit.scale, scale, atol=2e-4)
    np.testing.assert_allclose(fit.quality, quality, atol=2e-3)
    np.testing.assert_allclose(fit.leniency, leniency, atol=2e-3)
    assert fit.scale.mean() == pytest.approx(1)
    assert fit.quality.mean() == pytest.approx(0, abs=1e-9)


def test_without_noise_it_is_exact():
    random = np.random.default_rng(0)
    means, (leniency, scale, quality) = noisy(random, 5, noise=0, preference=3.0)
    fit = fit_preference(means, ~np.eye(5, dtype=bool))
    np.testing.assert_allclose(fit.residuals, 3 * np.eye(5), atol=1e-4)
    np.testing.assert_allclose(fit.scale, scale / scale.mean(), atol=1e-4)
    np.testing.assert_allclose(fit.quality, quality * scale.mean(), atol=1e-4)
    np.testing.assert_allclose(fit.leniency, leniency, atol=1e-3)


def test_many_are_fitted_as_each_alone():
    random = np.random.default_rng(1)
    means, _ = noisy(random, 5, count=6)
    means[2, 0, 3] = np.nan
    outside = ~np.eye(5, dtype=bool)
    many = fit_preference(means, outside)
    for at, each in enumerate(means):
        np.testing.assert_allclose(
            many.residuals[at], fit_preference(each, outside).residuals, atol=1e-8
        )


def test_missing_cells_are_left_out():
    random = np.random.default_rng(2)
    means, _ = noisy(random, 8)
    outside = ~np.eye(8, dtype=bool)
    without, hidden = means.copy(), outside.copy()
    without[2, 5], hidden[2, 5] = np.nan, False
    found = fit_preference(without, outside)
    assert np.isnan(found.residuals[2, 5])
    np.testing.assert_allclose(found.scale, fit_preference(means, hidden).scale)


@pytest.mark.parametrize("gap", [0.3, 3, 30])
@pytest.mark.parametrize("models", [6, 12])
def test_it_recovers_a_preference_without_bias_whatever_quality_and_scale(models, gap):
    random = np.random.default_rng(models)
    means, (_, scale, quality) = noisy(random, models, count=400, gap=gap, preference=3.0)
    found = diagonal(fit_preference(means, ~np.eye(models, dtype=bool)).residuals)
    error = found.mean(axis=1).std() / np.sqrt(len(means))
    assert found.mean() == pytest.approx(3, abs=3 * error)
    assert error < 0.1
    wide, narrow = scale > 1.4, scale < 0.7
    good = quality > 0.5 * gap
    # Where noise hides the scales, that of a wide or narrow one is not quite followed.
    within = 0.25 if gap > 10 else {6: 0.6, 12: 0.35}[models]
    for held in (wide & good, wide & ~good, narrow & good, narrow & ~good):
        assert found[held].mean() == pytest.approx(3, abs=within)


def test_double_centring_takes_scales_for_preference():
    """The reason for the fit: a wide evaluator that writes well seems to favour itself."""
    random = np.random.default_rng(3)
    gap, models = 10, 8
    means, (_, scale, quality) = noisy(random, models, count=400, gap=gap, preference=0.0)
    outside = ~np.eye(models, dtype=bool)
    fitted = diagonal(fit_preference(means, outside).residuals)
    centred = diagonal(fit_preference(means, np.array(True), scaled=False).residuals)
    for wide, good, sign in ((True, True, 1), (True, False, -1), (False, True, -1)):
        held = ((scale > 1.4) if wide else (scale < 0.7)) & (sign * (quality * (wide - 0.5)) > 0)
        held &= (quality > 0) == good
        assert sign * centred[held].mean() > 1.5
        assert abs(fitted[held].mean()) < 0.25


def test_double_centring_shrinks_a_true_preference():
    random = np.random.default_rng(4)
    leniency, _, quality = parts(random, 4, 5, count=50)
    same = true_means(leniency, np.ones_like(leniency), quality, 2 * np.eye(4))
    found = fit_preference(same, np.array(True), scaled=False).residuals
    centred = (
        same
        - same.mean(axis=1, keepdims=True)
        - same.mean(axis=2, keepdims=True)
        + same.mean(axis=(1, 2), keepdims=True)
    )
    np.testing.assert_allclose(found, centred, atol=1e-5)
    np.testing.assert_allclose(diagonal(found), 2 * (1 - 1 / 4), atol=1e-5)


def test_models_of_equal_quality_do_not_break_it():
    """Least squares alone have deviations of 158 and 34 here."""
    random = np.random.default_rng(5)
    for models, most in ((4, 1.8), (12, 1.3)):
        means, _ = noisy(random, models, count=300, gap=1e-6)
        found = diagonal(fit_preference(means, ~np.eye(models, dtype=bool)).residuals)
        assert found.std() < most


def model_for(means, families=None):
    names = letters(len(means))
    return choose_model(means, CaptionScores.from_arrays(means[None], names, names, families))


class TestTooFew:
    @pytest.mark.parametrize(
        ("models", "caveat"),
        [(1, ""), (2, "double-centred"), (3, "scales uncertain"), (4, ""), (12, "")],
    )
    def test_what_makes_it_less_certain(self, models, caveat):
        model = model_for(np.random.default_rng(0).normal(size=(models, models)))
        assert (model.caveat, model.is_fitted) == (caveat, models > 2)
        np.testing.assert_array_equal(model.left_out, np.eye(models, dtype=bool) & (models > 2))

    @pytest.mark.parametrize(
        ("families", "caveat"),
        [
            ("one one two two", "families left in"),
            ("one one two three", "scales uncertain"),
            ("one one two two three", ""),
            ("one one two two three three", ""),
            ("all all all all", ""),
        ],
    )
    def test_families_are_left_out_where_the_others_are_enough(self, families, caveat):
        """One of everybody has nobody outside, and is none."""
        families = families.split()
        of = dict(zip(letters(len(families)), families, strict=True))
        model = model_for(np.random.default_rng(0).normal(size=(len(of), len(of))), of)
        assert (model.is_fitted, model.caveat) == (True, caveat)
        alike = np.array([[one == other for other in families] for one in families])
        whole = caveat != "families left in" and len({*families}) > 1
        np.testing.assert_array_equal(model.left_out, alike if whole else np.eye(len(of)))

    @pytest.mark.parametrize(("lacking", "caveat"), [(1, ""), (2, "scales uncertain")])
    def test_ten_numbers_take_eleven_cells(self, lacking, caveat):
        """Four judges' leniency and scale, and four qualities, of which two are a convention."""
        means = np.random.default_rng(0).normal(size=(4, 4))
        means[[0, 2][:lacking], [1, 3][:lacking]] = np.nan
        assert model_for(means).caveat == caveat

    def test_metrics_with_a_single_cell_are_left_out_of_the_count(self):
        means = np.random.default_rng(0).normal(size=(4, 6))
        means[1:, 4:] = np.nan
        model = choose_model(means, CaptionScores.from_arrays(means[None], letters(4), letters(6)))
        assert model.columns.tolist() == [True] * 4 + [False] * 2
        assert model.caveat == ""

    def test_enough_cells_in_the_wrong_places_are_too_few(self):
        """A generator that its own family alone has scored."""
        means = np.random.default_rng(0).normal(size=(8, 8))
        means[0, 2:] = np.nan
        assert model_for(means).caveat == ""
        assert model_for(means, {"A": "one", "B": "one"}).caveat == "families left in"

    def test_a_determined_cell_is_one_that_truth_is_read_from(self):
        """Independent of ranks: fits that start elsewhere agree where it says they must."""
        random = np.random.default_rng(6)
        for models in (4, 5, 6):
            means, (_, scale, quality) = noisy(random, models, noise=0)
            outside = ~np.eye(models, dtype=bool)
            assert model_for(means).caveat == ""
            starts = random.normal(0, 3, (4, models))
            for start in quality * scale.mean() + 0.3 * starts:
                leniency, found, best = by_scipy(means, outside, 1e-12, start)
                np.testing.assert_allclose(leniency + np.outer(best, found), means, atol=1e-3)

    def test_empty_rows_and_columns_are_left_out(self):
        means, _ = noisy(np.random.default_rng(7), 6)
        means[:, 2] = means[4] = np.nan
        model = model_for(means)
        assert model.is_fitted
        residuals = model.fit(means).residuals
        rows, columns = np.array([0, 1, 3, 5]), [0, 1, 3]
        assert np.isnan(residuals[4]).all()
        assert np.isnan(residuals[:, 2]).all()
        assert not np.isnan(residuals[np.ix_(rows, columns)]).any()
