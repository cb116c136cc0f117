"""Score inflation: the paper's printed tables, a slow bootstrap, and what intervals cover."""

import numpy as np
import pandas as pd
import pytest
from scipy.stats import binomtest

from assets.frame.pages.paper import printed
from metrics.frame.inflation import (
    _changes,
    inflation_table,
    measure_change,
    measure_success,
    measure_susceptibility,
    success_rates,
    to_percent_change,
)
from tests.metrics.philautia.simulated_captions import expanded_quantiles

PRINTED = printed()
"""FRAME's Tables 3, 4 and 12."""


def judged(before, after, domain="people", bias="brightness"):
    images = [f"{domain}/{at:03}" for at in range(len(before))]
    return pd.DataFrame(
        {"picture": images, "domain": domain, "bias": bias, "original": before, "biased": after}
    )


def moved(random, images, rise, bias="brightness", domain="people"):
    """Whole scores of 0 to 5, and of so many of them one more than before."""
    before = random.binomial(4, 0.35, images).astype(float)
    noise = random.choice([-1, 0, 0, 1], images)
    after = np.clip(before + noise + (random.random(images) < rise), 0, 5)
    return judged(before, after, domain, bias)


def truth(rise, seed=99):
    everyone = moved(np.random.default_rng(seed), 400_000, rise)
    return to_percent_change(everyone["original"].mean(), everyone["biased"].mean())


class TestThePaper:
    @pytest.mark.parametrize(("model", "rate"), [("GPT-4o", 67.65), ("GPT-4o-mini", 64.71)])
    def test_its_attack_success_rates(self, model, rate):
        printed = PRINTED[PRINTED["model"] == model]["percent"].to_numpy()
        assert len(printed) == 34
        assert round(100 * success_rates(printed)[0], 2) == rate

    def test_who_is_most_robust(self):
        """GPT-4o-mini by its rate, Qwen by the mean rise of what succeeds (Section 5.2)."""
        found = {m: success_rates(p.to_numpy()) for m, p in PRINTED.groupby("model")["percent"]}
        assert len(found) == 9
        assert min(found, key=lambda model: found[model][0]) == "GPT-4o-mini"
        assert min(found, key=lambda model: found[model][1]) == "Qwen2.5-VL-32B"

    def test_printed_means_agree_with_printed_percentages_as_far_as_rounding_lets_them(self):
        """Of 306, all but two of o3's indoor scenes, which are up to 1.2 points off."""
        half = 0.005
        off = []
        for row in PRINTED.itertuples():
            low = to_percent_change(row.original + half, row.biased - half) - 0.05
            high = to_percent_change(row.original - half, row.biased + half) + 0.05
            if not low - 1e-9 <= row.percent <= high + 1e-9:
                off.append((row.model, row.domain, row.bias))
                assert abs(to_percent_change(row.original, row.biased) - row.percent) <= 1.2
        assert off == [("o3", "indoor", "authenticity"), ("o3", "indoor", "keyword")]


class TestPercentChange:
    def test_of_means_over_what_was_scored_both_times(self):
        change = measure_change(judged([1, 2, 3, np.nan, 5], [2, 2, 4, 5, np.nan]))
        assert (change.images, change.original) == (3, 2)
        assert change.percent == pytest.approx(100 * (8 / 6 - 1))

    def test_over_domains_each_weighs_the_same(self):
        table = pd.concat([judged([1, 1, 1, 1], [2, 2, 2, 2]), judged([3], [3], "indoor")])
        assert measure_change(table).percent == pytest.approx(100 * (2.5 / 2 - 1))

    def test_the_order_of_rows_does_not_matter(self):
        table = moved(np.random.default_rng(1), 40, 0.3)
        one, other = measure_change(table), measure_change(table.sample(frac=1, random_state=1))
        assert one[:7] == other[:7]

    def test_it_is_what_resampling_by_hand_gives(self):
        random = np.random.default_rng(3)
        table = moved(random, 200, 0.4)
        before, after = table["original"].to_numpy(), table["biased"].to_numpy()
        drawn = random.integers(0, 200, (20_000, 200))
        by_hand = 100 * (after[drawn].mean(axis=1) / before[drawn].mean(axis=1) - 1)
        ends = np.quantile(by_hand, [0.025, 0.975])
        assert measure_change(table).interval == pytest.approx(ends, abs=0.6)

    def test_over_domains_it_is_what_resampling_each_by_hand_gives(self):
        """Pictures of one text and of two, some of them without a score."""
        random = np.random.default_rng(9)
        parts = [moved(random, number, 0.4, domain=name) for name, number in (("a", 18), ("b", 12))]
        parts.append(parts[0][:9].assign(biased=parts[0]["biased"] + 1))
        table = pd.concat(parts, ignore_index=True)
        table.loc[3, "original"] = table.loc[20, "biased"] = np.nan
        change = measure_change(table)
        assert (change.images, change.scored, change.unscored) == (29, 37, 2)
        # 11 pictures are the fewest of a domain, and there are two domains
        ends = expanded_quantiles(change.resampled[~np.isnan(change.resampled)], 22)
        assert change.interval == pytest.approx(ends)
        both = table.dropna()
        before, after = 0.0, 0.0
        for name, number in (("a", 18), ("b", 12)):
            sums = both[both["domain"] == name].groupby("picture")[["original", "biased"]]
            totals = (
                sums.sum()
                .join(sums.size().rename("rows"))
                .reindex([f"{name}/{at:03}" for at in range(number)], fill_value=0)
            )
            drawn = random.multinomial(number, [1 / number] * number, 40_000) @ totals.to_numpy()
            before, after = (
                before + drawn[:, 0] / drawn[:, 2] / 2,
                after + drawn[:, 1] / drawn[:, 2] / 2,
            )
        by_hand = 100 * (after / before - 1)
        assert change.resampled.std() == pytest.approx(by_hand.std(), rel=0.04)
        assert change.resampled.mean() == pytest.approx(by_hand.mean(), abs=0.1 * by_hand.std())

    def test_a_single_picture_is_bounded_as_none_in_one(self):
        change = measure_change(judged([2.0], [3.0]))
        exact = binomtest(0, 1).proportion_ci(method="exact").high
        assert change.interval == pytest.approx((50 - 150 * exact, 50 + 100 * exact))

    @pytest.mark.parametrize("after", [0.0, 1.0])
    def test_resamples_that_have_nothing_to_rise_from_are_left_out(self, after):
        change = measure_change(judged([0.0, 1.0], [after, 1.0]))
        there = ~np.isnan(change.resampled)
        assert there.mean() == pytest.approx(3 / 4, abs=0.05)
        if after:
            assert set(change.resampled[there]) == {0, 100}
            assert change.interval == pytest.approx(expanded_quantiles(change.resampled[there], 2))

    def test_pairing_makes_it_narrower_than_two_means_apart(self):
        random = np.random.default_rng(3)
        before = random.integers(0, 5, 100).astype(float)
        paired = measure_change(judged(before, before + (random.random(100) < 0.3)))
        apart = measure_change(judged(before, random.permutation(before) + 0.3))
        width, wide = (np.ptp(change.interval) for change in (paired, apart))
        assert width < wide / 3

    @pytest.mark.slow
    @pytest.mark.parametrize("images", [25, 50, 100])
    @pytest.mark.parametrize("rise", [0.0, 0.4])
    def test_its_interval_covers_the_truth(self, images, rise):
        random, true = np.random.default_rng(7), truth(rise)
        found = [measure_change(moved(random, images, rise)).interval for _ in range(150)]
        assert np.mean([low <= true <= high for low, high in found]) >= 0.9

    def test_no_change_anywhere_is_bounded_as_none_in_n(self):
        change = measure_change(judged([2.0] * 30, [2.0] * 30))
        exact = binomtest(0, 30).proportion_ci(method="exact").high
        assert change.percent == 0
        # all that is unseen may have lost every point, or have gained 3 of 2
        assert change.interval == pytest.approx((-100 * exact, 100 * exact * 3 / 2))

    @pytest.mark.parametrize(
        "table", [judged([0, 0], [1, 2]), judged([np.nan, 1], [1, np.nan]), judged([], [])]
    )
    def test_nothing_to_rise_from_is_no_number(self, table):
        change = measure_change(table)
        assert np.isnan([change.percent, *change.interval]).all()


class TestTable:
    def test_a_row_for_each_domain_and_bias_and_over_all(self):
        random = np.random.default_rng(5)
        parts = [
            moved(random, 30, rise, bias, domain)
            for domain in ("people", "outdoor")
            for bias, rise in (("instruction", 0.5), ("brightness", 0.0))
        ]
        parts.append(moved(random, 30, 0.1, "boxes"))
        table = inflation_table(pd.concat(parts, ignore_index=True))
        keys = list(zip(table["domain"], table["bias"], strict=True))
        assert keys == [
            *(("outdoor", "instruction"), ("outdoor", "brightness")),
            *(("people", "instruction"), ("people", "brightness"), ("people", "boxes")),
            *(("all", "instruction"), ("all", "brightness"), ("all", "boxes")),
        ]
        assert table["images"].tolist() == [30] * 5 + [60, 60, 30]
        assert (table["percent_low"] <= table["percent"]).all()
        assert (table["percent"] <= table["percent_high"]).all()
        rows = table.set_index(["bias", "domain"])["biased"]
        two = [rows["instruction", domain] for domain in ("people", "outdoor")]
        assert rows["instruction", "all"] == pytest.approx(np.mean(two))


def five_domains(random, rises, images=60):
    parts = [
        moved(random, images, rise, f"bias {at}", domain)
        for domain in ("a", "b", "c", "d", "e")
        for at, rise in enumerate(rises)
    ]
    table = pd.concat(parts, ignore_index=True)
    first = table.groupby(["domain", "picture"])["original"].transform("first")
    table["biased"] = (first + table["biased"] - table["original"]).clip(0, 5)
    return table.assign(original=first)


class TestSuccess:
    def test_all_its_numbers_are_those_of_its_changes(self):
        table = five_domains(np.random.default_rng(6), [0.1, 0.5], images=12)
        table.loc[table["domain"].eq("c") & table["picture"].gt("c/008"), "biased"] = np.nan
        changes = [change for _, change in _changes(table, [], 3)]
        found = measure_success(table, seed=3)
        percents = [change.percent for change in changes]
        resampled = np.array([change.resampled for change in changes]).T
        rises = [np.mean([p for p in drawn if p > 0]) for drawn in resampled]
        rates = (resampled > 0).mean(axis=1)
        assert found.combinations == 10
        assert found.rate == np.mean([p > 0 for p in percents])
        assert found.clear_share == np.mean([change.interval.low > 0 for change in changes])
        assert 0 < found.clear_share < found.rate < 1
        assert found.mean_rise == pytest.approx(np.mean([p for p in percents if p > 0]))
        assert found.mean == pytest.approx(np.mean(percents))
        assert found.rise_interval == pytest.approx(np.quantile(rises, [0.025, 0.975]))
        # no combination rises in all resamples with an interval around 0, or the other way round
        assert found.rate_interval == pytest.approx(np.quantile(rates, [0.025, 0.975]))
        # 9 pictures of domain c are scored
        ends = expanded_quantiles(resampled.mean(axis=1), 9)
        assert found.mean_interval == pytest.approx(ends)

    def test_biases_of_a_domain_have_the_same_pictures_and_domains_and_seeds_others(self):
        one = moved(np.random.default_rng(7), 20, 0.4)
        table = pd.concat(
            one.assign(domain=domain, bias=bias) for domain in "ab" for bias in ("x", "y")
        )
        drawn = [change.resampled for seed in (0, 1, 2) for _, change in _changes(table, [], seed)]
        for x, y in zip(drawn[::2], drawn[1::2], strict=True):
            np.testing.assert_array_equal(x, y)
        correlations = np.corrcoef(drawn[::2])
        assert np.abs(correlations[~np.eye(6, dtype=bool)]).max() < 0.1

    def test_where_all_change_alike_the_mean_has_the_mean_of_their_intervals(self):
        table = pd.concat([judged([2] * 9, [3] * 9), judged([2] * 9, [2] * 9, "indoor")])
        changes = [change.interval for _, change in _changes(table, [], 0)]
        assert measure_success(table).mean_interval == pytest.approx(np.mean(changes, axis=0))
        others = moved(np.random.default_rng(1), 9, 0.4, domain="b")
        lone = pd.concat([judged([2.0], [3.0]), others])
        changes = [change.interval for _, change in _changes(lone, [], 0)]
        assert measure_success(lone).mean_interval == pytest.approx(np.mean(changes, axis=0))

    def test_where_all_rise_alike_the_mean_rise_has_the_mean_of_their_intervals_above_0(self):
        """What does not rise has no part in it."""
        many, few = judged([2] * 90, [3] * 90), judged([2] * 3, [3] * 3, "indoor")
        still = judged([2] * 9, [2] * 9, "outdoor")
        ends = {
            change.images: change.interval
            for _, change in _changes(pd.concat([many, few, still]), [], 0)
        }
        found = measure_success(pd.concat([many, still]))
        assert (found.mean_rise, found.rise_interval) == (50, ends[90])
        assert 0 < ends[90].low < 50 < ends[90].high
        assert ends[3].low < -ends[90].low
        lone = measure_success(pd.concat([few, still]))
        assert (lone.mean_rise, lone.rise_interval) == (50, (0, ends[3].high))
        both = measure_success(pd.concat([many, few, still])).rise_interval
        assert both == pytest.approx((0, (ends[90].high + ends[3].high) / 2))

    def test_a_rate_goes_by_the_share_of_changes_that_leave_it_open(self):
        """Of four, three pictures each leave one that rises and one that does not open."""
        table = pd.concat(
            judged([2] * images, [after] * images, domain)
            for domain, images, after in (("a", 3, 3), ("b", 3, 2), ("c", 90, 5), ("d", 3, 1))
        )
        found = measure_success(table)
        assert found.rate == 0.5
        assert found.rate_interval == (0.25, 1.0)

    def test_what_rises_by_a_stated_amount_succeeds_everywhere(self):
        found = measure_success(five_domains(np.random.default_rng(1), [0.9, 0.9, 0.9]))
        assert (found.combinations, found.rate, found.clear_share) == (15, 1, 1)
        # 5 domains of 60 pictures
        assert found.rate_interval == pytest.approx((0.025 ** (1 / 300), 1))
        assert found.rise_interval.low < found.mean_rise < found.rise_interval.high

    @pytest.mark.slow
    def test_the_mean_rise_has_an_interval_that_covers_it(self):
        random, true = np.random.default_rng(2), truth(0.7)
        inside = 0
        for _ in range(30):
            low, high = measure_success(five_domains(random, [0.7, 0.7])).rise_interval
            inside += low <= true <= high
        assert inside >= 25

    def test_a_judge_that_is_not_moved_succeeds_by_half_and_never_clearly(self):
        random = np.random.default_rng(4)
        tables = []
        for _ in range(10):
            still = five_domains(random, [0.0, 0.0, 0.0])
            still["biased"] = still["original"] + random.choice([-1, 1], len(still))
            tables.append(measure_success(still))
        assert 0.35 <= np.mean([found.rate for found in tables]) <= 0.65
        assert np.mean([found.clear_share for found in tables]) <= 0.06

    @pytest.mark.parametrize("after", [2, 3])
    def test_three_pictures_that_change_alike_leave_the_rate_open(self, after):
        """Of the pictures that were not seen, more than half may change the other way."""
        found = measure_success(judged([2] * 3, [after] * 3))
        assert found.rate == (after > 2)
        assert found.rate_interval == (0, 1)

    def test_many_pictures_that_change_alike_do_not(self):
        found = measure_success(judged([2] * 200, [3] * 200))
        assert found.rate == 1
        assert found.rate_interval == pytest.approx((0.025 ** (1 / 200), 1))

    def test_scores_at_the_top_of_the_scale_are_bounded_as_none_in_n(self):
        """Of two domains the smaller has 10 pictures: 20 count."""
        table = pd.concat([judged([5] * 30, [5] * 30), judged([5] * 10, [5] * 10, "indoor")])
        found = measure_success(table)
        assert (found.rate, found.clear_share) == (0, 0)
        assert found.rate_interval == pytest.approx((0, 1 - 0.025 ** (1 / 20)))

    def test_rises_and_falls_that_are_clear_leave_as_much_to_both_sides(self):
        table = pd.concat([judged([2] * 40, [4] * 40), judged([3] * 40, [1] * 40, "indoor")])
        found = measure_success(table)
        unseen = 1 - 0.025 ** (1 / 80)
        assert (found.rate, found.clear_share) == (0.5, 0.5)
        assert found.rate_interval == pytest.approx((0.5 - unseen, 0.5 + unseen))

    def test_what_has_no_score_is_no_combination(self):
        table = pd.concat([judged([1, 2, 3], [2, 2, 4]), judged([1, 2], [np.nan] * 2, "indoor")])
        assert measure_success(table).combinations == 1
        none = measure_success(judged([1, 2, 3], [1, 1, 2]))
        assert none.rate == 0
        assert np.isnan([none.mean_rise, *none.rise_interval]).all()


class TestSusceptibility:
    def test_a_mean_over_judges_of_what_each_domain_and_bias_does(self):
        table = pd.concat(
            judged([2.0] * 20, [2.0 * more] * 20, domain, bias).assign(model=model)
            for domain, bias, model, more in (
                ("people", "padding", "eye", 1.5),
                ("people", "padding", "ear", 1.0),
                ("people", "boxes", "eye", 2.0),
                ("indoor", "padding", "eye", 0.75),
            )
        )
        by_domain, by_bias = (measure_susceptibility(table, by) for by in ("domain", "bias"))
        assert {name: found.mean for name, found in by_domain.items()} == {
            "people": pytest.approx((50 + 0 + 100) / 3),
            "indoor": -25,
        }
        assert by_domain["people"].rate == pytest.approx(2 / 3)
        assert by_bias["padding"].mean == pytest.approx((50 + 0 - 25) / 3)
        assert (by_bias["boxes"].combinations, by_bias["boxes"].mean_rise) == (1, 100)

    @pytest.mark.slow
    def test_judges_are_moved_by_the_same_pictures(self):
        """As if six judges were independent, intervals would cover the truth in 68 %."""
        random, inside = np.random.default_rng(8), 0
        for _ in range(60):
            moved_by = random.choice([-1, 1], 40)
            table = pd.concat(
                judged([2.0] * 40, 2 + moved_by * (random.random(40) < 0.9)).assign(model=model)
                for model in "abcdef"
            )
            low, high = measure_susceptibility(table, "domain")["people"].mean_interval
            inside += low <= 0 <= high
        assert inside >= 60 * (0.95 - 3 * np.sqrt(0.95 * 0.05 / 60))
