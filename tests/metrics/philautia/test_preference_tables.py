"""The tables of preference: what they hold, and what becomes of a matrix that is not whole."""

from dataclasses import replace

import numpy as np
import pytest

from metrics import CaptionScores, mean_matrix, standardized_matrix
from metrics.philautia.image_bootstrap import (
    mirrored_intervals,
    percentile_intervals,
    resample_matrices,
)
from metrics.philautia.preference_fit import fit_preference
from metrics.philautia.preference_model import CAVEATS
from metrics.philautia.preference_tables import build_preference_tables
from tests.metrics.philautia.simulated_captions import expanded_quantiles, letters, simulated

ROUNDS = 100
FAMILIES = {"A": "one", "B": "one", "C": "two", "D": "two", "E": "three"}


def tables_of(scores):
    return build_preference_tables(scores, rounds=ROUNDS)


def test_a_row_a_cell_with_its_counts_and_estimates():
    scores = simulated(np.random.default_rng(0), families=FAMILIES)
    scores.values[:7, 1, 2] = np.nan
    cells = tables_of(scores).cells
    means = mean_matrix(scores).means
    np.testing.assert_allclose(cells["mean"], means.ravel())
    np.testing.assert_allclose(cells["standardized"], standardized_matrix(means).ravel())
    fit = fit_preference(means, ~scores.family_cells)
    np.testing.assert_allclose(cells["preference"], fit.residuals.ravel())
    row = cells.set_index(["generator", "evaluator"]).loc["B", "C"]
    assert row[["requests", "scored", "missing", "is_self"]].tolist() == [60, 53, 7, False]
    families = cells.set_index(["generator", "evaluator"])["family"]
    assert families["A", "B"] == families["B", "B"] == "one"
    assert families[[("F", "A"), ("A", "C"), ("F", "F")]].isna().all()
    for name in ("mean", "preference"):
        assert (cells[f"{name}_low"] < cells[name]).all()
        assert (cells[f"{name}_high"] > cells[name]).all()
    assert (cells["reason"] == "").all()


def test_models_and_families_are_means_of_cells():
    scores = simulated(np.random.default_rng(1), families=FAMILIES)
    tables = tables_of(scores)
    own = tables.cells[tables.cells["is_self"]]
    models = tables.models
    assert models["model"].tolist() == [*letters(6), "all"]
    for name in ("standardized", "preference"):
        np.testing.assert_allclose(models[name][:-1], own[name])
        assert models[name].iloc[-1] == pytest.approx(own[name].mean())
    assert models["models"].tolist() == [1] * 6 + [6]
    cross = tables.cells[~tables.cells["is_self"]]
    families = tables.families.set_index("family")
    assert families.index.tolist() == ["one", "three", "two"]
    one = cross[cross["family"] == "one"]
    assert families.loc["one", "cells"] == len(one) == 2
    assert families.loc["one", "generators"] == ["A", "B"]
    assert families.loc["one", "preference"] == pytest.approx(one["preference"].mean())
    assert families.loc["three", "reason"] == (
        "none of its models has scored another one's captions"
    )
    assert np.isnan(families.loc["three", "preference"])


def test_without_families_their_table_has_the_same_columns():
    scores = simulated(np.random.default_rng(1), families=FAMILIES)
    columns = list(tables_of(scores).families.columns)
    table = tables_of(replace(scores, families={})).families
    assert (len(table), list(table.columns)) == (0, columns)


def test_evaluators_and_generators_say_what_was_taken_out():
    scores = simulated(np.random.default_rng(2))
    tables = tables_of(scores)
    fit = fit_preference(mean_matrix(scores).means, ~scores.own_cells)
    np.testing.assert_allclose(tables.evaluators["scale"], fit.scale)
    np.testing.assert_allclose(tables.evaluators["leniency"], fit.leniency)
    np.testing.assert_allclose(tables.generators["quality"], fit.quality)
    assert tuple(tables.generators["generator"]) == scores.generators
    assert tuple(tables.evaluators["evaluator"]) == scores.evaluators


class TestIntervals:
    """Every interval is computed again from all resamples."""

    IMAGES, MODELS = 7, 5

    @pytest.fixture
    def scores(self):
        families = {"A": "one", "B": "one"}
        random = np.random.default_rng(20)
        return simulated(random, self.IMAGES, self.MODELS, families=families, preference=9.0)

    @pytest.fixture
    def tables(self, scores):
        return build_preference_tables(scores, seed=3, rounds=ROUNDS)

    @pytest.fixture
    def fits(self, scores):
        drawn = resample_matrices(scores, seed=3, rounds=ROUNDS)
        return fit_preference(drawn, ~scores.family_cells)

    def check(self, table, name, resampled):
        ends = table[[f"{name}_low", f"{name}_high"]].to_numpy(float).T
        expected = expanded_quantiles(np.array(resampled), self.IMAGES)
        np.testing.assert_allclose(ends, expected.reshape(2, -1), atol=1e-3)

    def test_of_cells_and_means_over_them(self, scores, tables, fits):
        residuals = fits.residuals
        drawn = resample_matrices(scores, seed=3, rounds=ROUNDS)
        self.check(tables.cells, "mean", drawn)
        self.check(tables.cells, "preference", residuals)
        own = residuals[:, scores.own_cells]
        self.check(tables.models[:-1], "preference", own)
        self.check(tables.models[-1:], "preference", own.mean(axis=1))
        others = residuals[:, scores.family_cells & ~scores.own_cells].mean(axis=1)
        self.check(tables.families, "preference", others)

    def test_of_what_was_taken_out(self, tables, fits):
        self.check(tables.generators, "quality", fits.quality)
        self.check(tables.evaluators, "leniency", fits.leniency)
        self.check(tables.evaluators, "scale", fits.scale)

    def test_of_standardized_cells_reach_as_far_on_either_side_within_what_can_be(
        self, scores, tables
    ):
        drawn = resample_matrices(scores, seed=3, rounds=ROUNDS)
        resampled = np.array([standardized_matrix(means) for means in drawn])
        values = standardized_matrix(mean_matrix(scores).means)
        most = np.sqrt(self.MODELS - 1)
        for table, value, part in (
            (tables.cells, values, resampled),
            (tables.models[:-1], values[scores.own_cells], resampled[:, scores.own_cells]),
            (
                tables.models[-1:],
                values[scores.own_cells].mean(),
                resampled[:, scores.own_cells].mean(axis=1),
            ),
        ):
            low, high = expanded_quantiles(part, self.IMAGES)
            reach = np.maximum(np.abs(value - low), np.abs(high - value))
            expected = np.clip([value - reach, value + reach], -most, most).reshape(2, -1)
            ends = table[["standardized_low", "standardized_high"]].to_numpy(float).T
            np.testing.assert_allclose(ends, expected)
        assert np.isclose(tables.cells["standardized_high"], most).any()
        assert np.isclose(tables.cells["standardized_low"], -most).any()


class TestNotWhole:
    def test_an_empty_cell_is_marked_and_the_rest_is_there(self):
        scores = simulated(np.random.default_rng(3))
        scores.values[:, 1, 3] = np.nan
        tables = tables_of(scores)
        empty = tables.cells[tables.cells["reason"] == "no score"]
        assert len(empty) == 1
        assert empty.filter(regex="mean|standardized|preference").isna().all(axis=None)
        assert tables.problems == ("Cells without any score, which are empty: 1.",)
        assert tables.caveat == ""

    def test_an_empty_diagonal_cell_counts_for_no_mean(self):
        scores = simulated(np.random.default_rng(4))
        scores.values[:, 1, 1] = np.nan
        models = tables_of(scores).models
        assert models["models"].tolist() == [1, 0, 1, 1, 1, 1, 5]
        assert models["preference"].iloc[-1] == pytest.approx(models["preference"][:-1].mean())

    def test_an_evaluator_that_gives_all_the_same_is_named(self):
        scores = simulated(np.random.default_rng(5))
        scores.values[:, :, 2] = 70.1
        tables = tables_of(scores)
        held = tables.cells["evaluator"] == "C"
        assert (tables.cells["reason"][held] == "C gives all generators the same mean").all()
        assert tables.cells["standardized"][held].isna().all()
        assert not tables.cells["standardized"][~held].isna().any()
        np.testing.assert_allclose(tables.cells["preference"][held], 0, atol=1)
        assert tables.problems[0].startswith("C: it gives all generators the same mean.")

    def test_a_generator_that_all_place_alike_is_named(self):
        scores = simulated(np.random.default_rng(6), models=3, noise=0)
        scores.values[:] = np.arange(3)[:, None] * [1, 2, 3] + [5, 6, 7]
        tables = tables_of(scores)
        assert tables.cells["standardized"].isna().all()
        assert any("all evaluators place it alike" in each for each in tables.problems)

    @pytest.mark.parametrize(
        ("families", "caveat"),
        [
            (["", "", ""], "scales uncertain"),
            (["one", "one", "two", "two"], "families left in"),
            (["", ""], "double-centred"),
        ],
    )
    def test_what_makes_preference_less_certain_is_said(self, families, caveat):
        of = dict(zip(letters(len(families)), families, strict=True))
        scores = simulated(np.random.default_rng(7), models=len(of), families=of)
        tables = tables_of(scores)
        assert tables.caveat == caveat
        assert tables.problems[-1] == CAVEATS[caveat]
        grid = tables.cells.pivot(index="generator", columns="evaluator", values="preference")
        assert np.allclose(grid.sum(), 0, atol=1e-4) == (caveat == "double-centred")

    @pytest.mark.parametrize("names", [("A", "A"), ("AB", "A"), ("A", "AB"), ("AB", "AB")])
    def test_one_or_two_models_give_tables_all_the_same(self, names):
        shape = (9, len(names[0]), len(names[1]))
        values = np.random.default_rng(8).random(shape)
        tables = tables_of(CaptionScores.from_arrays(values, list(names[0]), list(names[1])))
        assert len(tables.cells) == shape[1] * shape[2]
        (problem,) = tables.problems[-1:]
        if 1 in shape:
            assert problem == "Preference: it takes two generators and two evaluators. Add a model."
            assert tables.cells["preference"].isna().all()
            assert (tables.cells["reason"] == "too few cells to standardise").all()

    def test_nothing_but_missing_scores(self):
        tables = tables_of(
            CaptionScores.from_arrays(np.full((5, 4, 4), np.nan), letters(4), letters(4))
        )
        assert (tables.cells["reason"] == "no score").all()
        assert tables.models["preference"].isna().all()

    def test_a_single_image_has_no_intervals(self):
        tables = tables_of(simulated(np.random.default_rng(9), images=1))
        assert tables.cells.filter(regex="_low|_high").isna().all(axis=None)
        assert not tables.cells["preference"].isna().any()

    def test_a_family_of_everybody_has_nobody_to_be_compared_with(self):
        scores = simulated(np.random.default_rng(10), families=dict.fromkeys(letters(6), "all"))
        (row,) = tables_of(scores).families.to_dict("records")
        assert row["reason"].startswith("it holds all generators or all evaluators")
        assert np.isnan(row["preference"])

    def test_a_model_in_no_family_is_in_no_block(self):
        scores = simulated(np.random.default_rng(11), families={"A": "one", "B": "one", "C": None})
        assert scores.family_names == ("one",)
        assert scores.family_cells.sum() == 6 + 2


class TestBootstrap:
    def test_resamples_are_those_of_whole_images(self):
        scores = simulated(np.random.default_rng(12), images=15, models=2)
        scores.values[:, 1, 1] = scores.values[:, 0, 0] + 3
        found = resample_matrices(scores, seed=0, rounds=50)
        np.testing.assert_allclose(found[:, 1, 1], found[:, 0, 0] + 3)
        error = found[:, 0, 1].std() / scores.values[:, 0, 1].std() * np.sqrt(15)
        assert error == pytest.approx(1, rel=0.35)

    def test_means_are_over_what_was_drawn_and_there(self):
        values = np.array([[[1.0]], [[np.nan]], [[4.0]]])
        found = resample_matrices(
            CaptionScores.from_arrays(values, "A", "B"), seed=0, rounds=400
        ).ravel()
        assert set(found[~np.isnan(found)]) == {1, 4, 2.5, 2.0, 3.0}
        assert np.isnan(found).mean() == pytest.approx(1 / 27, abs=0.03)

    def test_few_images_ask_for_further_quantiles(self):
        """Of normal means the ends are Student's t for n − 1, at √(n / (n − 1)) deviations."""
        drawn = np.random.default_rng(13).normal(size=(200_000, 1))
        low, high = percentile_intervals(drawn, 20)
        assert (low, high) == pytest.approx((-2.147, 2.147), abs=0.03)
        assert percentile_intervals(drawn, 100_000).high == pytest.approx(1.96, abs=0.02)

    def test_mirrored_ends_reach_as_far_on_either_side(self):
        drawn = np.random.default_rng(14).normal(1.0, 0.1, (5000, 1))
        low, high = mirrored_intervals(np.array([1.2]), drawn, 5000, within=(0.9, 1.5))
        assert (low, high) == (0.9, 1.5)
        low, high = mirrored_intervals(np.array([1.2]), drawn, 5000, within=(-3, 3))
        assert (low, high) == pytest.approx((0.8, 1.6), abs=0.02)

    def test_it_depends_on_its_seed_alone(self):
        scores = simulated(np.random.default_rng(15))
        one, again, other = (build_preference_tables(scores, seed=s, rounds=20) for s in (0, 0, 1))
        assert one.cells.equals(again.cells)
        assert not one.cells.equals(other.cells)
