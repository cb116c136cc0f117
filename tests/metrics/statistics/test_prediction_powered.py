"""The interval from a judge's scores of all and people's of some: by hand, an oracle, coverage."""

import sys
from types import SimpleNamespace

import numpy as np
import pytest
from scipy.stats import t

from metrics import powered_mean
from tests.harnesses import open_process


def labelled(rng, clusters, sampled, mean, agreement, rows=3, correlation=0.4):
    """Scores of a judge and of people, 0 or 1, and the clusters of the rows.

    People have scored all rows of `sampled` clusters; a cluster has its own chance to be right,
    and its own chance that the judge differs.
    """
    spread = 1 / correlation - 1
    chances = rng.beta(mean * spread, (1 - mean) * spread, clusters)
    people = rng.binomial(1, chances[:, None], (clusters, rows)).astype(float)
    errors = rng.beta((1 - agreement) * spread, agreement * spread, clusters)
    judge = np.abs(people - rng.binomial(1, errors[:, None], (clusters, rows)))
    is_sampled = np.zeros(clusters, bool)
    is_sampled[rng.choice(clusters, sampled, replace=False)] = True
    names = np.repeat(np.arange(clusters), rows)
    return judge.ravel(), np.where(is_sampled[:, None], people, np.nan).ravel(), names


def estimate(judge, people, names, **options):
    return powered_mean(judge, people, names, np.zeros(len(names)), **options)


def test_it_is_what_the_formula_gives_by_hand():
    """Six pictures of a row each, four of them scored: with fractions written out."""
    judge = [1.0, 1.0, 0.0, 0.0, 1.0, 1.0]
    people = [1.0, 1.0, 0.0, 1.0, np.nan, np.nan]
    # Sampled: people 3/4, judge 1/2; judge in all 2/3.
    human = np.array([1 / 16, 1 / 16, -3 / 16, 1 / 16, 0, 0])
    in_sample = np.array([1 / 8, 1 / 8, -1 / 8, -1 / 8, 0, 0])
    in_all = np.array([1 / 3, 1 / 3, -2 / 3, -2 / 3, 1 / 3, 1 / 3]) / 6
    difference = in_sample - in_all
    reliance = (human @ difference) / (difference @ difference)
    mean = 3 / 4 - reliance * (1 / 2 - 2 / 3)
    residuals = human - reliance * difference
    variance = residuals @ residuals * 4 / 2 + 0.5 / 4**2
    reach = t.ppf(0.975, 2) * np.sqrt(variance)
    result = estimate(judge, people, np.arange(6))
    assert result.reliance == pytest.approx(reliance)
    assert result.mean == pytest.approx(mean)
    assert result.interval == pytest.approx((max(0, mean - reach), min(1, mean + reach)))


def test_a_judge_that_says_nothing_leaves_people_alone():
    people = np.where(np.arange(60) % 2, 1.0, np.nan) * (np.arange(60) % 4 == 1)
    result = estimate(np.full(60, 0.5), people, np.arange(60))
    assert result.reliance == 0
    assert result.mean == pytest.approx(np.nanmean(people))


def test_a_judge_that_contradicts_is_not_turned_round():
    people = np.where(np.arange(40) < 20, np.arange(40) % 2, np.nan)
    result = estimate(1 - np.arange(40) % 2, people, np.arange(40))
    assert (result.reliance, result.mean) == (0, 0.5)


def test_a_judge_that_is_right_gives_its_own_mean():
    judge = np.arange(200) % 4 == 0
    people = np.where(np.arange(200) < 50, judge, np.nan)
    result = estimate(judge, people, np.arange(200))
    assert result.reliance == pytest.approx(1)
    assert result.mean == pytest.approx(0.25)
    # Pictures vary, and the sample may lack one in which people differ.
    variance = 0.25 * 0.75 / 200 * 50 / 48 + 0.5 / 50**2
    assert result.interval.high - 0.25 == pytest.approx(t.ppf(0.975, 48) * np.sqrt(variance))


def test_copies_of_a_cluster_add_nothing():
    """Each row three times is no more than the row: neither the mean nor the interval changes."""
    rng = np.random.default_rng(5)
    judge, people, names = labelled(rng, 200, 40, 0.4, 0.8, rows=1)
    once, thrice = (
        estimate(*(np.repeat(values, times) for values in (judge, people, names)))
        for times in (1, 3)
    )
    assert once.mean == pytest.approx(thrice.mean)
    assert once.interval == pytest.approx(thrice.interval)


def test_strata_weigh_the_same():
    rng = np.random.default_rng(5)
    small, large = labelled(rng, 60, 30, 0.9, 0.8), labelled(rng, 600, 60, 0.2, 0.8)
    apart = [estimate(*stratum) for stratum in (small, large)]
    names = np.concatenate([small[2], 1000 + large[2]])
    strata = np.repeat(["small", "large"], [len(small[0]), len(large[0])])
    rows = [np.concatenate([small[index], large[index]]) for index in (0, 1)]
    together = powered_mean(*rows, names, strata)
    assert together.mean == pytest.approx(np.mean([result.mean for result in apart]))
    assert together.reliance == pytest.approx(np.mean([result.reliance for result in apart]))
    spreads = [
        (result.mean - result.interval.low) / t.ppf(0.975, clusters - 2)
        for result, clusters in zip(apart, (30, 60), strict=True)
    ]
    reach = t.ppf(0.975, 86) * np.hypot(*spreads) / 2
    assert together.interval == pytest.approx((together.mean - reach, together.mean + reach))


def test_weights_undo_a_choice_by_uncertainty():
    """Rows that came into the sample three times as often weigh a third; their factor is free."""
    rng = np.random.default_rng(2)
    people = rng.binomial(1, np.where(np.arange(4000) < 1000, 0.9, 0.1)).astype(float)
    chances = np.where(np.arange(4000) < 1000, 0.3, 0.1)
    sampled = np.where(rng.random(4000) < chances, people, np.nan)
    judge = np.full(4000, 0.5)
    naive = estimate(judge, sampled, np.arange(4000))
    weighted, scaled = (
        estimate(judge, sampled, np.arange(4000), probabilities=factor * chances)
        for factor in (1, 7)
    )
    assert naive.mean > 0.45
    assert weighted.interval.low <= people.mean() <= weighted.interval.high < 0.4
    assert weighted.interval == pytest.approx(scaled.interval)


def test_the_ends_stay_on_the_scale():
    people = np.array([0.2, 0.2, 0.2, np.nan])
    result = estimate(people * 0, people, np.arange(4), least=0.2)
    assert result.interval == pytest.approx((0.2, 1.0))
    assert estimate(people * 0, 1 + 0 * people, np.arange(4)).interval.high == 1.0


def test_level_and_few_clusters():
    rng = np.random.default_rng(5)
    rows = labelled(rng, 300, 60, 0.5, 0.7)
    wide, narrow = (estimate(*rows, level=level) for level in (0.95, 0.8))
    half_widths = [result.interval.high - result.mean for result in (wide, narrow)]
    assert half_widths[0] / half_widths[1] == pytest.approx(t.ppf(0.975, 58) / t.ppf(0.9, 58))
    with pytest.raises(ValueError, match=r"scored 2 of at least 3 clusters"):
        estimate(*labelled(rng, 30, 2, 0.5, 0.7))
    assert estimate(*labelled(rng, 30, 3, 0.5, 0.7)).interval.high <= 1


def estimate_by_oracle(people, judge, rest):
    """ppi-python's mean and the ends of its interval; what it compiles and fits is not needed."""
    linear_model = SimpleNamespace(LinearRegression=0, LogisticRegression=0, PoissonRegressor=0)
    stubs = {
        "numba": SimpleNamespace(njit=lambda function: function),
        "sklearn.linear_model": linear_model,
        "sklearn.isotonic": SimpleNamespace(IsotonicRegression=0),
        "sklearn.neighbors": SimpleNamespace(KernelDensity=0),
    }
    sys.modules.update(stubs)
    from ppi_py import ppi  # noqa: PLC0415 - only that process has it

    mean = ppi.ppi_mean_pointestimate(people, judge, rest)
    ends = ppi.ppi_mean_ci(people, judge, rest, alpha=0.05)
    return [float(np.squeeze(value)) for value in (mean, *ends)]


@pytest.mark.slow
@pytest.mark.parametrize(("rows", "sampled"), [(2000, 150), (3000, 600)])
def test_it_agrees_with_an_oracle_on_independent_rows(rows, sampled, tmp_path):
    rng = np.random.default_rng(3)
    people = rng.binomial(1, 0.4, rows).astype(float)
    judge = 0.7 * np.where(rng.random(rows) < 0.85, people, 1 - people) + 0.3 * rng.random(rows)
    labels = np.where(np.arange(rows) < sampled, people, np.nan)
    inputs = people[:sampled], judge[:sampled], judge[sampled:]
    with open_process(tmp_path) as process:
        mean, low, high = process.submit(estimate_by_oracle, *inputs).result()
    result = estimate(judge, labels, np.arange(rows))
    assert result.mean == pytest.approx(mean, abs=0.002)
    width = result.interval.high - result.interval.low
    # Student's t and the added cluster make it wider by little.
    assert 1 <= width / (high - low) <= 1.04


@pytest.mark.slow
@pytest.mark.parametrize("sampled", [30, 100, 300])
@pytest.mark.parametrize(("mean", "agreement"), [(0.5, 0.8), (0.2, 0.8), (0.9, 0.6)])
def test_it_covers_the_true_mean(sampled, mean, agreement):
    rng = np.random.default_rng(1)
    results = [estimate(*labelled(rng, 1000, sampled, mean, agreement)) for _ in range(2000)]
    is_covered = [result.interval.low <= mean <= result.interval.high for result in results]
    assert 0.93 <= np.mean(is_covered) <= 0.98


@pytest.mark.slow
def test_it_is_narrower_than_people_alone():
    """Width against people alone where a judge agrees in 95, 80 and 60 %, 150 of 2,000 scored."""
    rng = np.random.default_rng(1)
    shares = []
    for agreement in (0.95, 0.8, 0.6):
        judge, people, names = labelled(rng, 2000, 150, 0.5, agreement, rows=1)
        alone = estimate(0 * judge, people, names).interval
        powered = estimate(judge, people, names).interval
        shares.append((powered.high - powered.low) / (alone.high - alone.low))
    assert shares == pytest.approx([0.51, 0.82, 0.98], abs=0.08)
