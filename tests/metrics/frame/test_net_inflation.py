"""Net inflation: by hand, of judges whose noise and inflation are planted, and in its limits."""

import numpy as np
import pandas as pd
import pytest

from metrics.frame.inflation import inflation_table, measure_success
from metrics.frame.net_inflation import (
    measure_net_change,
    measure_net_success,
    measure_risen_share,
    net_inflation_table,
)

NAN = float("nan")


def judged(before, after, control, domain="people", bias="padding"):
    return pd.DataFrame(
        {
            "picture": [f"{domain}/{number:03}" for number in range(len(before))],
            "domain": domain,
            "bias": bias,
            "original": np.array(before, float),
            "biased": np.array(after, float),
            "controlled": np.array(control, float),
        }
    )


def asked(random, rise, noise, domains, biases, images=30):
    """Scores of a judge that gives a picture 1 to 4, plus noise, plus the rise of a bias."""
    parts = []
    for domain in domains:
        truth = random.integers(1, 5, images)

        def score(more=0, truth=truth):
            lots = random.choice([-1, 0, 1], images, p=[noise / 2, 1 - noise, noise / 2])
            return np.clip(truth + lots + more, 0, 5)

        before, control = score(), score()
        parts += [
            judged(before, score(rise), control, domain, f"bias {number}")
            for number in range(biases)
        ]
    return pd.concat(parts, ignore_index=True)


class TestChange:
    def test_it_is_what_is_left_of_the_change_on_pictures_scored_three_times(self):
        table = judged([1, 2, 3, 2, NAN, 4], [2, 3, 4, NAN, 5, 5], [1, 3, 3, 2, 4, NAN])
        change = measure_net_change(table)
        assert (change.biased.images, change.biased.scored, change.biased.unscored) == (3, 3, 3)
        assert (change.biased.original, change.biased.biased, change.controlled.biased) == (
            2,
            3,
            pytest.approx(7 / 3),
        )
        assert change.biased.percent == pytest.approx(50)
        assert change.controlled.percent == pytest.approx(100 / 6)
        assert change.net == pytest.approx(100 / 3)

    def test_each_domain_weighs_the_same(self):
        table = pd.concat(
            [judged([1, 1, 1], [2, 2, 2], [1, 1, 1]), judged([3], [3], [4], domain="indoor")]
        )
        # 100 × (mean of 2 and 3, less mean of 1 and 4) / mean of 1 and 3
        assert measure_net_change(table).net == pytest.approx(0)

    def test_its_interval_is_that_of_the_differences_of_each_picture(self):
        random = np.random.default_rng(2)
        table = asked(random, 1, 0.6, domains="a", biases=1, images=200)
        drawn = random.integers(0, 200, (20_000, 200))
        before, after, control = (
            table[name].to_numpy()[drawn].mean(axis=1)
            for name in ("original", "biased", "controlled")
        )
        ends = np.quantile(100 * (after - control) / before, [0.025, 0.975])
        interval = measure_net_change(table).interval
        assert interval == pytest.approx(ends, abs=0.8)

    def test_a_control_that_moves_no_score_changes_nothing(self):
        random = np.random.default_rng(3)
        table = asked(random, 1, 0.5, "abc", 2).assign(controlled=lambda rows: rows["original"])
        # of two pictures some resamples have nothing to rise from
        few = judged([0, 1], [1, 1], [0, 1], "g", "few")
        table = pd.concat([table, judged([2] * 9, [3] * 9, [2] * 9, "f", "alike"), few])
        net = net_inflation_table(table)
        names = ["domain", "bias", "images", "scored", "unscored", "original", "biased", "percent"]
        plain = inflation_table(table)
        pd.testing.assert_frame_equal(net[names].head(len(plain)), plain[names], check_dtype=False)
        for end in ("low", "high"):
            both = net[f"net_percent_{end}"].head(len(plain)), plain[f"percent_{end}"]
            np.testing.assert_allclose(*both)
        success, paper = measure_net_success(table), measure_success(table)
        assert (success.rate, success.net_rate, success.control_rate) == (paper.rate,) * 2 + (0,)
        assert success.interval == pytest.approx(paper.rate_interval)
        assert success.clear_share == paper.clear_share
        assert net["changed"].dropna().eq(0).all()

    def test_where_nothing_was_scored_three_times_there_is_no_number(self):
        change = measure_net_change(judged([1, NAN], [2, 3], [NAN, 2]))
        assert np.isnan([change.net, *change.interval]).all()
        table = net_inflation_table(judged([1], [2], [NAN]))
        assert table["domain"].tolist() == ["people", "all"]
        assert table[["images", "unscored"]].to_numpy().tolist() == [[0, 1], [0, 1]]
        assert not {"net_risen", "net_rate"} & {*table}


class TestRisen:
    def test_shares_are_of_pictures_scored_three_times_and_bounds_of_all(self):
        """Of 6 pictures 4 have all scores: 3 rise with the bias, 1 under the control."""
        table = judged([1, 2, 3, 2, NAN, 4], [2, 3, 4, 2, 5, 5], [1, 3, 3, 1, 4, NAN])
        risen = measure_risen_share(table)
        assert (risen.biased, risen.controlled, risen.net) == (0.75, 0.25, 0.5)
        assert risen.changed == 0.5
        # the fifth may be −1 to 1, the sixth rises with the bias: 0 to 1
        assert risen.bounds == pytest.approx(((2 - 1 + 0) / 6, (2 + 1 + 1) / 6))
        assert risen.interval.low < 0.5 < risen.interval.high

    def test_each_domain_weighs_the_same_and_one_picture_of_many_texts_is_one(self):
        lone = judged([1], [2], [1], domain="indoor")
        many = judged([1] * 40, [1, 2] * 20, [1] * 40)
        risen = measure_risen_share(pd.concat([many, lone]))
        assert (risen.biased, risen.controlled, risen.net) == (0.75, 0, 0.75)
        apart, alike = (
            np.ptp(measure_risen_share(many.assign(picture=names)).interval)
            for names in (many["picture"], [f"p/{number // 10}" for number in range(40)])
        )
        assert alike > 1.5 * apart


class TestPlantedJudges:
    def test_of_one_that_answers_at_random_nothing_is_left(self):
        """The paper's count is nearly a half on average, and far from it by luck."""
        random = np.random.default_rng(11)
        tables = [asked(random, 0, 0.8, "abc", 3) for _ in range(100)]
        by_hand = []
        for table in tables:
            means = table.groupby(["domain", "bias"])[["original", "biased", "controlled"]].mean()
            risen, control_risen = (
                means[side].gt(means["original"]).mean() for side in ("biased", "controlled")
            )
            by_hand.append((risen, risen - control_risen))
        (rate, net_rate), (highest, _) = np.mean(by_hand, axis=0), np.max(by_hand, axis=0)
        assert rate == pytest.approx(0.46, abs=0.05)
        assert highest == 1
        assert abs(net_rate) < 0.08
        found = [measure_net_success(table) for table in tables[:8]]
        for success, numbers in zip(found, by_hand, strict=False):
            assert (success.rate, success.net_rate) == pytest.approx(numbers)
        assert np.mean([success.clear_share for success in found]) < 0.06
        assert sum(s.interval.low <= 0 <= s.interval.high for s in found) >= 7

    def test_of_one_that_is_inflated_all_is_left_but_its_noise(self):
        random = np.random.default_rng(12)
        table = asked(random, 1, 0.4, domains="ab", biases=3, images=60)
        success = measure_net_success(table)
        assert (success.combinations, success.rate, success.clear_share) == (6, 1, 1)
        assert success.net_rate == 1 - success.control_rate
        rows = net_inflation_table(table).set_index(["domain", "bias"])
        overall = rows.loc["all"].drop("all")
        # 1 of 2.5 points; the scale cuts off pictures of 4, a quarter, that luck raises, a fifth.
        true = 100 * (1 - 0.25 * 0.2) / 2.5
        assert overall["net_percent_low"].lt(true).all()
        assert overall["net_percent_high"].gt(true).all()
        assert overall["net_percent_low"].gt(20).all()
        assert overall["net_risen_low"].gt(0.3).all()
        by_hand = table.query("domain == 'a' and bias == 'bias 0'")
        risen = by_hand["biased"] > by_hand["original"]
        control_risen = by_hand["controlled"] > by_hand["original"]
        row = rows.loc["a", "bias 0"]
        assert row["net_risen"] == pytest.approx(risen.mean() - control_risen.mean())
        assert (row["risen"], row["control_risen"]) == (risen.mean(), control_risen.mean())
        assert (row["net_risen_least"], row["net_risen_most"]) == pytest.approx(
            (row["net_risen"],) * 2
        )
        assert row["changed"] == (by_hand["controlled"] != by_hand["original"]).mean()
        for side in ("original", "biased", "controlled"):
            assert row[side] == pytest.approx(by_hand[side].mean())
        percent = 100 * (by_hand["controlled"].mean() / by_hand["original"].mean() - 1)
        assert row["control_percent"] == pytest.approx(percent)
        assert row["control_percent_low"] < percent < row["control_percent_high"]
        last = rows.loc["all", "all"]
        assert last[["net_rate", "net_rate_low", "net_rate_high"]].tolist() == [
            *(success.net_rate, *success.interval)
        ]
        assert (last["rate"], last["control_rate"]) == (success.rate, success.control_rate)
        assert (last["combinations"], last["net_clear_share"]) == (6, success.clear_share)

    def test_biases_of_nearly_the_same_pictures_rise_together(self):
        """Of 40 pictures half rise: resamples of all raise eight alike biases, or none of them."""
        after = [3, 1] * 20
        whole = [judged([2] * 40, after, [2] * 40, bias=f"bias {number}") for number in range(8)]
        table = pd.concat(rows.iloc[2 * number :] for number, rows in enumerate(whole))
        assert measure_net_success(table).interval == pytest.approx((0, 1))

    def test_rates_are_counted_by_hand(self):
        """Of four combinations three rise, of which the control raises one and lowers none."""
        table = pd.concat(
            judged([2] * 30, [after] * 30, [control] * 30, domain, bias)
            for domain, control in (("a", 3), ("b", 2))
            for bias, after in (("x", 4), ("y", 3 if domain == "b" else 1))
        )
        success = measure_net_success(table)
        assert (success.combinations, success.rate, success.control_rate) == (4, 0.75, 0.5)
        assert success.net_rate == 0.25
        assert success.clear_share == 0.75
        unseen = 1 - 0.025 ** (1 / 60)
        assert success.interval == pytest.approx((0.25 - unseen, 0.25 + unseen))


def flat(after, control, domain="people", bias="padding", images=9):
    """All pictures have 2 before, and alike scores afterwards."""
    return judged([2] * images, [after] * images, [control] * images, domain, bias)


class TestLimits:
    def test_where_all_change_alike_the_scale_bounds_what_is_unseen(self):
        change = measure_net_change(flat(4, 3))
        unseen = 1 - 0.025 ** (1 / 9)
        # of 2 points, a bias may leave −3 to 2 above the 3 under the control
        assert change.interval == pytest.approx((50 - unseen * 200, 50 + unseen * 50))
        assert change.net == 50

    def test_seeds_decide_which_pictures_are_drawn(self):
        table = asked(np.random.default_rng(5), 1, 0.6, domains="ab", biases=2, images=15)
        one, other = (net_inflation_table(table, seed=seed) for seed in (0, 7))
        for name in ("net_percent_low", "net_risen_low"):
            assert not one[name].dropna().equals(other[name].dropna())
        part = table[table["bias"].eq("bias 1") & table["domain"].eq("b")]
        row = other.set_index(["domain", "bias"]).loc["b", "bias 1"]
        again = measure_net_change(part, seed=7), measure_risen_share(part, seed=7)
        assert [row["net_percent_low"], row["net_percent_high"]] == [*again[0].interval]
        assert [row["net_risen_low"], row["net_risen_high"]] == [*again[1].interval]
        ends = [row["control_percent_low"], row["control_percent_high"]]
        assert ends == [*again[0].controlled.interval]
        last = other.iloc[-1]
        assert (last["domain"], last["bias"]) == ("all", "all")
        success = measure_net_success(table, seed=7)
        assert [last["net_rate_low"], last["net_rate_high"]] == [*success.interval]

    def test_the_interval_of_a_rate_is_that_of_resampled_differences(self):
        """Some pictures lack a bias, others a score: each is drawn with all that it has."""
        random = np.random.default_rng(8)
        table = asked(random, 0.3, 0.8, domains="ab", biases=3, images=14)
        table.loc[table.sample(frac=0.1, random_state=1).index, "biased"] = NAN
        table = table[~(table["bias"].eq("bias 2") & table["picture"].gt("a/010"))]
        table = pd.concat([table, judged([NAN], [1], [1], "c", "bias 0")], ignore_index=True)
        changes = [
            measure_net_change(part, among=table, seed=3 * 5 + "abc".index(domain))
            for (domain, _), part in table.groupby(["domain", "bias"])
            if domain != "c"
        ]
        biased, controlled = ([change[side] for change in changes] for side in (0, 1))
        rates = [
            np.mean([change.resampled > 0 for change in side], axis=0)
            for side in (biased, controlled)
        ]
        low, high = np.quantile(rates[0] - rates[1], [0.025, 0.975])
        # no change is on one side in all resamples and yet has an interval around 0
        found = measure_net_success(table, seed=5)
        assert found.interval == pytest.approx((low, high))
        assert found.combinations == len(changes) == 5
        assert found.clear_share == np.mean([change.interval.low > 0 for change in changes])

    @pytest.mark.parametrize(
        ("after", "control", "ends"),
        [(3, 3, (-1, 1)), (3, 2, (0, 1)), (2, 2, (0, 1)), (1, 3, (-1, 1)), (3, 1, (-1, 1))],
    )
    def test_three_pictures_leave_it_open_whether_means_rise(self, after, control, ends):
        """But a control that moves no score is taken for one that moves none."""
        assert measure_net_success(flat(after, control, images=3)).interval == ends

    @pytest.mark.parametrize(
        ("few", "many", "net", "ends"),
        [
            ((3, 3), (3, 1), 0.5, (0, 1)),
            ((3, 2), (1, 3), 0, (-0.5, 0)),
            ((2, 2), (1, 3), -0.5, (-0.5, 0)),
            ((3, 1), (3, 1), 1, (0, 1)),
            ((1, 3), (1, 3), -1, (-1, 0)),
        ],
    )
    def test_some_combinations_leave_it_open(self, few, many, net, ends):
        """Of two domains the one of 3 pictures does, on either side by a half for each score."""
        table = pd.concat([flat(*few, "few", images=3), flat(*many, "many", images=90)])
        success = measure_net_success(table)
        assert (success.net_rate, success.interval) == (net, ends)
