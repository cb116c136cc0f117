"""People's mean over all items: alone, with judges, with chances, and where there is none."""

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from metrics import powered_mean
from metrics.statistics.people_estimates import estimate_people

COLUMNS = ["judge", "items", "sampled", "mean", "low", "high", "reliance"]


def build_items(items=60, sampled=24):
    """Items of two strata in clusters of two, of which people have labelled the first ones."""
    rng = np.random.default_rng(3)
    labels = rng.random((2, items))
    labels[:, sampled:] = np.nan
    return pd.DataFrame(
        {
            "item": [f"{stratum}/{number}" for stratum in "ab" for number in range(items)],
            "cluster": [f"{stratum}/{number // 2}" for stratum in "ab" for number in range(items)],
            "stratum": np.repeat(["a", "b"], items),
            "label": labels.ravel(),
        }
    )


def predict(items, judge, spread):
    rng = np.random.default_rng(7)
    truth = items["label"].fillna(0.5)
    predictions = np.clip(truth + spread * rng.standard_normal(len(items)), 0, 1)
    return pd.DataFrame({"judge": judge, "item": items["item"], "prediction": predictions})


def to_powered(items, predictions, **options):
    label, cluster, stratum = (items[name] for name in ("label", "cluster", "stratum"))
    estimate = powered_mean(predictions, label, cluster, stratum, **options)
    return [estimate.mean, *estimate.interval, estimate.reliance]


def test_people_come_first_and_judges_as_they_are_listed():
    items = build_items()
    near, far = predict(items, "near", 0.05), predict(items, "far", 1.0)
    far.loc[0, "prediction"] = np.nan  # of a labelled item
    # Its rows are in another order than the items.
    estimates = estimate_people(items, pd.concat([near[::-1], far]))
    assert list(estimates.columns) == COLUMNS
    assert estimates["judge"].tolist() == ["people", "near", "far"]
    assert estimates["items"].tolist() == [120, 120, 119]
    assert estimates["sampled"].tolist() == [48, 48, 47]
    numbers = estimates[["mean", "low", "high", "reliance"]].to_numpy().tolist()
    assert numbers[0] == pytest.approx(to_powered(items, np.zeros(120)))
    assert numbers[1] == pytest.approx(to_powered(items, near["prediction"]))
    assert numbers[2] == pytest.approx(to_powered(items[1:], far["prediction"][1:]))
    assert numbers[0][0] == pytest.approx(items.groupby("stratum")["label"].mean().mean())


def test_chances_weigh_the_labels():
    items = build_items()
    chances = pd.Series(np.where(np.arange(120) % 3, 0.2, 0.6))
    judged = predict(items, "near", 0.05)
    estimates = estimate_people(items.assign(chance=chances), judged)
    numbers = estimates[["mean", "low", "high", "reliance"]].to_numpy().tolist()
    assert numbers[0] == pytest.approx(to_powered(items, np.zeros(120), probabilities=chances))
    by_judge = to_powered(items, judged["prediction"], probabilities=chances)
    assert numbers[1] == pytest.approx(by_judge)
    weighted = [
        np.average(rows["label"], weights=1 / rows["chance"])
        for _, rows in items.assign(chance=chances).dropna().groupby("stratum")
    ]
    assert numbers[0][0] == pytest.approx(np.mean(weighted))
    # An item outside of the sample has no chance.
    unknown = items.assign(chance=chances.where(items["label"].notna()))
    pd.testing.assert_frame_equal(estimate_people(unknown, judged), estimates)


def test_without_enough_people_there_is_nothing():
    for items in (build_items(sampled=0), build_items(sampled=4), build_items()[:0]):
        estimates = estimate_people(items, predict(items, "near", 0.05))
        assert estimates.empty
        assert list(estimates.columns) == COLUMNS
    assert len(estimate_people(build_items(sampled=5))) == 1
    # One stratum lacks people.
    lacking = build_items().assign(label=lambda rows: rows["label"].where(rows["stratum"].eq("a")))
    assert estimate_people(lacking).empty


def test_a_judge_of_nothing_more_is_left_out():
    items = build_items()
    labelled = items.dropna()
    estimates = estimate_people(items, predict(labelled, "idle", 0.05))
    assert estimates["judge"].tolist() == ["people"]


def test_labels_that_do_not_vary_are_bounded_by_clopper_and_pearson():
    """None of 100 is up to 3.6 %, whatever a judge says; of two strata, by twice the smaller."""
    items = pd.DataFrame({"item": range(400), "stratum": "", "label": np.nan})
    items = items.assign(cluster=items["item"]).assign(
        label=lambda rows: rows["label"].where(rows["item"] >= 100, 0.0)
    )
    judged = pd.DataFrame({"judge": "odd", "item": items["item"], "prediction": items.index % 2})
    for row in estimate_people(items, judged).to_dict("records"):
        assert (row["mean"], row["low"], row["reliance"]) == pytest.approx((0, 0, 0))
        assert row["high"] == pytest.approx(stats.binomtest(0, 100).proportion_ci().high)
    split = items.assign(stratum=np.where(items.index < 30, "a", "b"))
    split.loc[30:99, "label"] = 1.0
    (alone,) = estimate_people(split).to_dict("records")
    missed = stats.binomtest(0, 60).proportion_ci().high
    assert alone["mean"] == pytest.approx(0.5)
    assert (alone["low"], alone["high"]) == pytest.approx((0.5 - missed, 0.5 + missed))
