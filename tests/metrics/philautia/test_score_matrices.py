"""Φ and Φ̃, against loops that do what the paper says, and against the paper's own page."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from metrics import CaptionScores, mean_matrix, standardized_matrix
from metrics.philautia.score_matrices import find_constants
from tests.metrics.philautia.simulated_captions import letters, simulated

SELF = {
    "GPT-4o": 1.08,
    "Gemini-2.5-Pro": 1.84,
    "Qwen2.5-VL-7B": 1.12,
    "Molmo-7B-D": 0.86,
    "Eagle2-9B": 1.05,
    "LLaVA-OneVision-7B": 1.83,
    "DeepSeek-VL2": 2.0,
    "Gemma3-4B-IT": 1.1,
    "Phi-3.5-Vision": 1.26,
    "LLaVA-NeXT-Vicuna-7B": 1.09,
    "LLaVA-1.5-13B": 1.26,
    "InternVL2.5-8B": 3.03,
}
"""The philautia scores that the paper's page prints."""
SINGLE = {"GPT-4o": 1.08, "Qwen2.5-VL-7B": 1.12, "InternVL2.5-8B": 3.03}
"""Those of its other table, of G-VEval with one evaluator."""


def by_loops(values):
    """Φ̃ of scores by the paper's words, with nothing but `math`."""
    _, generators, evaluators = np.shape(values)
    phi = [[float("nan")] * evaluators for _ in range(generators)]
    for i in range(generators):
        for j in range(evaluators):
            there = [image[i][j] for image in values if not math.isnan(image[i][j])]
            if there:
                phi[i][j] = math.fsum(there) / len(there)
    columns = [standard([phi[i][j] for i in range(generators)]) for j in range(evaluators)]
    rows = [standard([columns[j][i] for j in range(evaluators)]) for i in range(generators)]
    return np.array(phi), np.array(rows)


def standard(numbers):
    there = [number for number in numbers if not math.isnan(number)]
    if len(there) < 2:
        return [math.nan] * len(numbers)
    mean = math.fsum(there) / len(there)
    deviation = math.sqrt(math.fsum((number - mean) ** 2 for number in there) / len(there))
    if deviation < 1e-9 * max(1.0, *map(abs, there)):
        return [math.nan] * len(numbers)
    return [(number - mean) / deviation for number in numbers]


@pytest.mark.parametrize("missing", [0, 0.1, 0.6])
@pytest.mark.parametrize("shape", [(30, 5, 5), (4, 3, 7), (2, 6, 2)])
def test_it_is_what_loops_say(missing, shape):
    random = np.random.default_rng(0)
    values = random.integers(0, 101, shape).astype(float)
    values[random.random(shape) < missing] = np.nan
    scores = CaptionScores.from_arrays(values, letters(shape[1]), letters(shape[2]))
    phi, standardized = by_loops(values)
    found = mean_matrix(scores)
    np.testing.assert_allclose(found.means, phi)
    np.testing.assert_allclose(standardized_matrix(found.means), standardized, atol=1e-9)
    np.testing.assert_array_equal(found.scored + found.missing, shape[0])
    np.testing.assert_array_equal(found.missing, np.isnan(values).sum(axis=0))


@given(
    arrays(float, st.tuples(st.integers(1, 6), st.integers(1, 6)), elements=st.integers(0, 20)),
)
def test_it_never_exceeds_its_bound(means):
    found = standardized_matrix(means)
    there = found[~np.isnan(found)]
    assert (np.abs(there) <= np.sqrt(means.shape[1] - 1) + 1e-9).all()
    for row in found:
        assert np.isnan(row).all() or np.nanmean(row) == pytest.approx(0, abs=1e-9)
        assert np.isnan(row).all() or np.nanstd(row) == pytest.approx(1)


def test_the_papers_philautia_scores_are_possible_and_its_tables_agree():
    bound = np.sqrt(len(SELF) - 1)
    assert all(abs(score) < bound for score in SELF.values())
    assert all(SELF[model] == score for model, score in SINGLE.items())
    assert np.mean(list(SELF.values())) == pytest.approx(1.46, abs=0.005)


def test_it_takes_out_leniency_and_scale_and_saturates():
    """However small the preference, nothing else being there Φ̃ is at its bound."""
    random = np.random.default_rng(1)
    models = 5
    quality = np.sort(random.normal(0, 5, models))[:, None]
    for size in (0.01, 1e-4):
        means = 60 + random.normal(size=models) + quality * random.uniform(0.5, 2, models)
        means[2, 2] += size
        assert standardized_matrix(means)[2, 2] == pytest.approx(np.sqrt(models - 1), rel=0.1)


def test_what_has_no_variance_is_empty_and_named():
    means = np.array([[50, 70, 1.0], [60, 70, 2.0], [73, 70, 2.5]])
    rows, columns = find_constants(means)
    np.testing.assert_array_equal(columns, [False, True, False])
    assert not rows.any()
    found = standardized_matrix(means)
    np.testing.assert_array_equal(np.isnan(found), [[False, True, False]] * 3)
    np.testing.assert_allclose(found[:, [0, 2]], standardized_matrix(means[:, [0, 2]]))
    alike = np.array([[1.0, 10], [2, 20], [3, 30]])
    rows, columns = find_constants(alike)
    assert rows.all()
    assert not columns.any()
    assert np.isnan(standardized_matrix(alike)).all()


def test_equal_scores_are_constant_whatever_their_rounding():
    values = np.full((7, 4, 4), 70.1)
    values[::2] = 0.3
    values[:, :, 1:] += np.random.default_rng(0).normal(size=(7, 4, 3))
    means = mean_matrix(CaptionScores.from_arrays(values, letters(4), letters(4))).means
    assert find_constants(means)[1].tolist() == [True, False, False, False]


@pytest.mark.parametrize(
    ("values", "is_constant"),
    [
        # Rounding is up to a billionth of the largest value, which counts as 1 or more.
        *(([1e6, 1e6 + 1e-3], True), ([1e6, 1e6 + 3e-3], False)),
        *(([0.0, 1e-9], True), ([0.0, 3e-9], False), ([-1e6, -1e6 + 1e-3], True)),
    ],
)
def test_rounding_grows_with_the_largest_value(values, is_constant):
    assert find_constants(np.array([values, [0.0, 1.0]]).T)[1].tolist() == [is_constant, False]


def test_a_cell_without_scores_is_empty_not_zero():
    scores = simulated(np.random.default_rng(2))
    scores.values[:, 1, 3] = np.nan
    found = mean_matrix(scores)
    assert np.isnan(found.means[1, 3])
    assert (found.scored[1, 3], found.missing[1, 3]) == (0, 60)
    standardized = standardized_matrix(found.means)
    assert np.isnan(standardized).sum() == 1


class TestNames:
    def test_the_diagonal_is_by_name(self):
        scores = CaptionScores.from_arrays(np.zeros((1, 2, 3)), ["b", "x"], ["a", "b", "metric"])
        np.testing.assert_array_equal(scores.own_cells, [[False, True, False], [False] * 3])

    def test_a_family_is_a_block_of_what_writes_and_what_scores(self):
        families = {"b": "one", "a": "one", "x": None}
        scores = CaptionScores.from_arrays(
            np.zeros((1, 2, 3)), ["b", "x"], ["a", "b", "c"], families
        )
        assert scores.family_names == ("one",)
        np.testing.assert_array_equal(
            scores.family_block("one"), [[True, True, False], [False] * 3]
        )

    def test_models_may_stand_in_another_order_as_evaluators(self):
        families = {"a": "one", "b": "one"}
        scores = CaptionScores.from_arrays(np.zeros((1, 3, 3)), list("abc"), list("cab"), families)
        np.testing.assert_array_equal(scores.family_block("one"), [[0, 1, 1], [0, 1, 1], [0, 0, 0]])
        np.testing.assert_array_equal(scores.own_cells, [[0, 1, 0], [0, 0, 1], [1, 0, 0]])

    @pytest.mark.parametrize(
        ("names", "role"),
        [((["a", "a"], ["b", "c"]), "Generators"), ((["b", "c"], ["a", "a"]), "Evaluators")],
    )
    def test_the_same_model_twice_is_an_error(self, names, role):
        with pytest.raises(ValueError, match=rf"^{role}: a is listed twice\. Name each model once"):
            CaptionScores.from_arrays(np.zeros((1, 2, 2)), *names)

    def test_names_that_do_not_fit_are_an_error(self):
        with pytest.raises(ValueError, match=r"shape is \(3, 2, 2\), not \(images, 1 generators"):
            CaptionScores.from_arrays(np.zeros((3, 2, 2)), ["a"], ["b", "c"])
