"""The search for the best configuration: what it finds, and what luck alone gives."""

import numpy as np
import pandas as pd
import pytest

from metrics.frame.held_out_search import find_best_configuration, search_held_out
from metrics.frame.inflation import measure_change


def searched(random, images=60, rises=(0.0,) * 16):
    """Scores of pictures under configurations, each of which raises so many of them by one."""
    before = random.binomial(4, 0.35, images).astype(float)
    tables = [
        pd.DataFrame(
            {
                "picture": [f"people/{at:03}" for at in range(images)],
                "domain": "people",
                "configuration": f"configuration {number:02}",
                "original": before,
                "biased": before + random.choice([-1, 0, 1], images) + (random.random(images) < r),
            }
        )
        for number, r in enumerate(rises)
    ]
    return pd.concat(tables, ignore_index=True)


@pytest.mark.slow
def test_without_an_effect_the_one_is_inflated_and_the_other_is_not():
    random = np.random.default_rng(11)
    found = [search_held_out(searched(random), seed=seed) for seed in range(40)]
    in_sample, held_out = (np.array([each[way].change.percent for each in found]) for way in (0, 1))
    assert in_sample.min() > 0
    assert in_sample.mean() > 8
    error = held_out.std() / np.sqrt(len(found))
    assert abs(held_out.mean()) < 2.6 * error
    covered = [low <= 0 <= high for each in found for low, high in [each.held_out.change.interval]]
    claimed = [each.in_sample.change.interval.low > 0 for each in found]
    assert np.mean(covered) >= 0.85
    assert np.mean(claimed) >= 0.3


def test_a_true_effect_is_found_both_ways():
    found = search_held_out(searched(np.random.default_rng(2), rises=(0, 0, 0.9, 0)))
    for way in found:
        assert way.configuration == "configuration 02"
        assert way.change.interval.low > 0


def test_no_picture_is_chosen_on_and_reported_on():
    table = searched(np.random.default_rng(3), images=31)
    found = search_held_out(table)
    assert found.in_sample.change.images == 31
    assert found.held_out.change.images == 16
    assert search_held_out(table.sample(frac=1, random_state=3)).held_out.change.images == 16


def test_a_single_configuration_is_reported_on_all_pictures_by_the_seed():
    table = searched(np.random.default_rng(4), rises=(0.5,))
    found = search_held_out(table, seed=2)
    assert found.in_sample == found.held_out
    assert found.held_out.configuration == "configuration 00"
    assert found.held_out.change[:7] == measure_change(table, seed=2)[:7]


def test_the_halves_depend_on_the_seed_alone():
    table = searched(np.random.default_rng(3))
    one, again, other = (
        search_held_out(table, seed=seed).held_out.change[3:6] for seed in (1, 1, 3)
    )
    assert one == again != other


def test_what_was_not_scored_is_never_the_best():
    table = searched(np.random.default_rng(3), rises=(0, 0.9))
    table.loc[table["configuration"] == "configuration 01", "biased"] = np.nan
    assert find_best_configuration(table) == "configuration 00"
    nothing = search_held_out(table.assign(biased=np.nan))
    assert np.isnan(nothing.in_sample.change.percent)


def test_it_is_the_greedy_search_of_the_paper():
    table = searched(np.random.default_rng(6))
    means = table.groupby("configuration")["biased"].mean()
    assert find_best_configuration(table) == means.idxmax()
    highest = means.max() / table["original"].mean() - 1
    assert search_held_out(table).in_sample.change.percent == pytest.approx(100 * highest)
