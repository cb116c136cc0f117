"""Panels, against loops, and the search for them."""

from itertools import combinations

import numpy as np
import pytest

from metrics import (
    CaptionScores,
    build_growing_panels,
    greedy_panels,
    mean_matrix,
    panel_scores,
    panel_tables,
)
from metrics.frame.held_out_search import select_half
from metrics.philautia.image_bootstrap import resample_matrices
from metrics.philautia.panels import panel_preference
from metrics.philautia.preference_fit import fit_preference
from metrics.philautia.preference_tables import build_preference_tables
from tests.metrics.philautia.simulated_captions import expanded_quantiles, letters, simulated

ROUNDS = 100


def by_loops(scores, panel):
    """Φ̃ of a panel by the words of its definition."""
    means = mean_matrix(scores).means.T
    columns = [[(x - np.mean(of)) / np.std(of) for x in of] for of in means]
    members = [columns[scores.evaluators.index(name)] for name in panel]
    found = []
    for at in range(len(scores.generators)):
        joint = np.mean([column[at] for column in members])
        single = [column[at] for column in columns]
        found.append((joint - np.mean(single)) / np.std(single))
    return np.array(found)


def test_it_is_what_loops_say():
    scores = simulated(np.random.default_rng(0), models=5, preference=5.0)
    panels = [("B", "D"), ("A", "C", "E")]
    tables = panel_tables(scores, panels, rounds=ROUNDS)
    for panel, summary in zip(panels, tables.panels.to_dict("records"), strict=True):
        rows = tables.generators[[of == panel for of in tables.generators["panel"]]]
        expected = by_loops(scores, panel)
        np.testing.assert_allclose(rows["standardized"], expected)
        assert rows["member"].tolist() == [name in panel for name in letters(5)]
        assert summary["standardized"] == pytest.approx(expected[rows["member"]].mean())
        assert summary["absolute"] == pytest.approx(np.abs(expected).mean())
        assert (rows["standardized_low"] <= rows["standardized"]).all()


def test_intervals_are_those_of_all_resamples():
    """Each resample's numbers are computed by loops and fitted by itself."""
    images, panel = 8, ("B", "D")
    scores = simulated(np.random.default_rng(12), images, models=5, preference=9.0)
    tables = panel_tables(scores, [panel], seed=2, rounds=ROUNDS)

    def estimate(means):
        one_image = CaptionScores.from_arrays(means[None], scores.generators, scores.evaluators)
        residuals = fit_preference(means, ~scores.own_cells).residuals
        deviations = means[:, [1, 3]].std(axis=0)
        shared = (residuals[:, [1, 3]] / deviations).mean(axis=1) * deviations.mean()
        return by_loops(one_image, panel), shared

    value, points = estimate(mean_matrix(scores).means)
    drawn = resample_matrices(scores, seed=2, rounds=ROUNDS)
    resampled, drawn_points = (
        np.array(part) for part in zip(*(estimate(means) for means in drawn), strict=True)
    )

    def ends(table, name):
        return table[[f"{name}_low", f"{name}_high"]].to_numpy(float).T

    def mirrored(value, resampled, least):
        low, high = expanded_quantiles(resampled, images)
        reach = np.maximum(np.abs(value - low), np.abs(high - value))
        return np.clip([value - reach, value + reach], least, 2).reshape(2, -1)

    generators, panels, members = tables.generators, tables.panels, [1, 3]
    assert set(generators["generator"]) <= set(scores.generators)
    np.testing.assert_allclose(generators["preference"], points, atol=1e-3)
    for table, found, found_points in (
        (generators, (value, resampled), drawn_points),
        (
            panels,
            (value[members].mean(), resampled[:, members].mean(axis=1)),
            drawn_points[:, members].mean(axis=1),
        ),
    ):
        expected = expanded_quantiles(found_points, images).reshape(2, -1)
        np.testing.assert_allclose(ends(table, "preference"), expected, atol=1e-3)
        np.testing.assert_allclose(ends(table, "standardized"), mirrored(*found, -2))
    sizes = np.abs(value).mean(), np.abs(resampled).mean(axis=1)
    np.testing.assert_allclose(ends(panels, "absolute"), mirrored(*sizes, 0))
    assert panels["preference"].item() == pytest.approx(points[members].mean(), abs=1e-3)


def test_a_panel_of_two_that_are_one_is_that_one():
    scores = simulated(np.random.default_rng(1), models=5)
    values = np.concatenate([scores.values, 7 + 0.5 * scores.values[:, :, :1]], axis=2)
    scores = CaptionScores.from_arrays(values, letters(5), [*letters(5), "twin"])
    found = panel_tables(scores, [("A", "twin")], rounds=ROUNDS).generators
    cells = build_preference_tables(scores, rounds=ROUNDS).cells
    alone = cells[cells["evaluator"] == "A"]
    np.testing.assert_allclose(found["standardized"], alone["standardized"])


def test_the_panel_of_all_has_no_preference_by_definition():
    scores = simulated(np.random.default_rng(2), preference=9.0)
    found = panel_tables(scores, [scores.evaluators], rounds=ROUNDS).panels
    assert found["absolute"].item() == pytest.approx(0, abs=1e-9)
    assert found["absolute_low"].item() == 0
    assert found["preference"].item() > 0.5


def test_no_absolute_preference_is_below_0():
    scores = simulated(np.random.default_rng(3), images=12)
    panels = panel_tables(scores, [*combinations(scores.evaluators, 2)], rounds=ROUNDS).panels
    assert panels["absolute_low"].min() == 0


def test_a_panel_of_k_has_a_kth_of_its_members_preference():
    random, found = np.random.default_rng(3), []
    for _ in range(20):
        scores = simulated(random, images=100, models=8, preference=8.0)
        tables = panel_tables(scores, build_growing_panels(letters(4)), rounds=2)
        found.append(tables.panels["preference"])
    np.testing.assert_allclose(np.mean(found, axis=0), [4, 8 / 3, 2], rtol=0.15)


def test_it_grows_one_by_one():
    assert build_growing_panels(letters(4)) == [("A", "B"), ("A", "B", "C"), ("A", "B", "C", "D")]


@pytest.mark.parametrize(
    ("panel", "said"),
    [
        (("A",), "Panel: A is too few. Name two evaluators or more"),
        ((), "Panel: no evaluator is too few"),
        (("A", "B", "A"), "Panel: A is listed twice"),
        (("A", "Q"), r"Panel: Q has scored nothing here. Choose among A, B, C"),
    ],
)
def test_what_is_no_panel_is_an_error(panel, said):
    scores = simulated(np.random.default_rng(4), models=3)
    with pytest.raises(ValueError, match=said):
        panel_tables(scores, [panel], rounds=2)


def test_a_single_evaluator_cannot_grow():
    with pytest.raises(ValueError, match="A is too few"):
        build_growing_panels(["A"])


def test_members_without_a_measure_are_named():
    scores = simulated(np.random.default_rng(5), models=4)
    scores.values[:, :, 1] = 70.0
    scores.values[:, :, 2] = np.nan
    found = panel_tables(scores, [("A", "B"), ("A", "C"), ("A", "D")], rounds=ROUNDS).panels
    assert found["reason"].tolist() == [
        "B: the same mean for all generators, or none",
        "C: the same mean for all generators, or none",
        "",
    ]
    assert found[["standardized", "preference"]].isna().all(axis=1).tolist() == [True, True, False]


def test_metrics_that_write_nothing_have_no_captions_of_their_own():
    scores = CaptionScores.from_arrays(
        np.random.default_rng(6).random((9, 4, 3)), letters(4), list("xyz")
    )
    (found,) = panel_tables(scores, [("x", "y")], rounds=ROUNDS).panels.to_dict("records")
    assert found["reason"] == "none of its members has written captions"
    assert found["absolute"] > 0
    assert np.isnan(found["standardized"])


class TestScoresOfItems:
    def test_each_member_counts_in_its_own_measure(self):
        one = np.array([1.0, 2, 3, 4])
        np.testing.assert_allclose(
            panel_scores(np.stack([one, 1000 * one], axis=1)), (one - 2.5) / one.std()
        )

    def test_an_item_that_a_member_has_not_scored_has_none(self):
        scores = np.array([[1.0, 5], [2, np.nan], [3, 9], [8, 1]])
        found = panel_scores(scores)
        assert np.isnan(found).tolist() == [False, True, False, False]
        np.testing.assert_allclose(found[[0, 2, 3]], panel_scores(scores[[0, 2, 3]]))

    def test_a_member_that_gives_all_the_same_leaves_none(self):
        assert np.isnan(panel_scores([[1.0, 5], [2, 5]])).all()


IMAGES = [f"{at:03}.jpg" for at in range(60)]


class TestSearch:
    def absolute(self, means, scores, panel):
        at = [scores.evaluators.index(name) for name in panel]
        return round(float(np.abs(panel_preference(means, at)).mean()), 2)

    def test_every_step_is_the_best_of_its_half(self):
        scores = simulated(np.random.default_rng(7), models=5, preference=5.0)
        found = greedy_panels(scores, IMAGES, rounds=ROUNDS)
        half = select_half(IMAGES)
        chosen = np.array([name in half for name in IMAGES])
        means = mean_matrix(scores.select_images(chosen)).means
        choices = list(combinations(letters(5), 2))
        for panel in found.panels:
            least = min(self.absolute(means, scores, choice) for choice in choices)
            assert self.absolute(means, scores, panel) == least
            choices = [(*panel, name) for name in letters(5) if name not in panel]
        assert [len(panel) for panel in found.panels] == [2, 3, 4, 5]
        assert (found.selection_images, found.test_images) == (30, 30)
        reported = panel_tables(scores.select_images(~chosen), found.panels, rounds=ROUNDS)
        assert reported.panels.equals(found.tables.panels)

    def test_a_judge_that_scores_all_alike_joins_last(self):
        scores = simulated(np.random.default_rng(11), models=4)
        scores.values[:, :, 1] = 70.0
        assert greedy_panels(scores, IMAGES, rounds=2).panels[-1][-1] == "B"

    def test_its_seed_and_rounds_are_those_of_the_tables(self):
        scores = simulated(np.random.default_rng(13), models=4)
        half = select_half(IMAGES, seed=5)
        others = scores.select_images(np.array([name not in half for name in IMAGES]))
        found = greedy_panels(scores, IMAGES, seed=5, rounds=30)
        expected = panel_tables(others, found.panels, seed=5, rounds=30)
        assert expected.panels.equals(found.tables.panels)

    @pytest.mark.slow
    def test_chosen_and_reported_on_one_half_a_panel_looks_better_than_it_is(self):
        random = np.random.default_rng(8)
        inside, outside = [], []
        for _ in range(30):
            scores = simulated(random, models=6, noise=20)
            found = greedy_panels(scores, IMAGES, rounds=2)
            half = select_half(IMAGES)
            chosen = scores.select_images(np.array([name in half for name in IMAGES]))
            tables = panel_tables(chosen, found.panels[:1], rounds=2)
            inside.append(tables.panels["absolute"].item())
            outside.append(found.tables.panels["absolute"][0])
        assert np.mean(inside) < np.mean(outside) - 0.05

    def test_equal_ones_are_told_apart_by_people_then_by_name(self):
        """F says what C says, so that both are as good; C comes first by name."""
        scores = simulated(np.random.default_rng(9), models=5)
        twin = np.concatenate([scores.values, 1 + 2 * scores.values[:, :, 2:3]], axis=2)
        scores = CaptionScores.from_arrays(twin, letters(5), letters(6))
        plain = greedy_panels(scores, IMAGES, rounds=2).panels
        asked = greedy_panels(scores, IMAGES, agreement=lambda of: float("F" in of), rounds=2)
        (at,) = {at for at, name in enumerate(plain[-1]) if name == "C"}
        assert at < plain[-1].index("F")
        assert asked.panels[-1].index("F") < asked.panels[-1].index("C")
        unknown = greedy_panels(scores, IMAGES, agreement=lambda of: None, rounds=2)
        assert unknown.panels == plain

    def test_it_needs_two_images_and_two_evaluators(self):
        scores = simulated(np.random.default_rng(10), images=1, models=3)
        with pytest.raises(ValueError, match="two images or more"):
            greedy_panels(scores, ["one.jpg"])
        two = simulated(np.random.default_rng(10), images=2, models=3)
        found = greedy_panels(two, ["one.jpg", "two.jpg"], rounds=2)
        assert (found.selection_images, found.test_images) == (1, 1)
        alone = CaptionScores.from_arrays(np.zeros((4, 2, 1)), ["A", "B"], ["A"])
        with pytest.raises(ValueError, match="A is too few"):
            greedy_panels(alone, IMAGES[:4])
