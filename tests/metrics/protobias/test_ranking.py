"""Failures, mean scores and margins of metrics on pairs."""

import numpy as np
import pandas as pd
import pytest

from metrics.protobias.normalization import normalize_scores
from metrics.protobias.ranking import MEASURES, ranking_table
from metrics.protobias.scored_pairs import pair_scores
from metrics.statistics.cluster_intervals import stratified_interval
from metrics.statistics.graded_intervals import graded_interval
from tests.metrics.protobias.ranked import row_of, scored

# Of ProtoBias's Table 2, by metric: SC, PA and Δ of animals, demography and objects, as printed.
TABLE_2 = {
    "CLIPScore": (0.63, 0.74, -0.10, 0.56, 0.69, -0.13, 0.60, 0.51, 0.08),
    "PickScore": (0.55, 0.57, -0.02, 0.36, 0.24, 0.11, 0.35, 0.29, 0.07),
    "VQAScore": (0.87, 0.79, 0.08, 0.39, 0.50, -0.11, 0.93, 0.75, 0.19),
    "GPT-4o": (0.60, 0.60, 0.00, 0.53, 0.50, 0.03, 0.50, 0.22, 0.28),
    "GPT-5": (0.73, 0.26, 0.47, 0.56, 0.25, 0.31, 1.00, 0.33, 0.67),
    "ProtoScore": (0.83, 0.52, 0.32, 0.75, 0.57, 0.18, 0.89, 0.54, 0.35),
    "Human": (0.89, 0.24, 0.65, 0.50, 0.17, 0.33, 0.84, 0.40, 0.44),
}
DOMAINS = ("animals", "demography", "objects")


def drawn(seed, pairs=300, metrics=("one", "two")):
    """Scores in steps of 1/3, so that there are ties, of several pairs a concept and knob."""
    random = np.random.default_rng(seed)
    return pd.concat(
        [
            scored(
                *((f"c{at // 3}", *random.integers(0, 4, 2) / 3) for at in range(pairs // 3)),
                domain=domain,
                metric=metric,
                knob=random.choice(["count", "color"]),
            )
            for domain in DOMAINS
            for metric in metrics
        ],
        ignore_index=True,
    )


@pytest.fixture
def table():
    """The rankings of a few pairs of two metrics."""
    animals = scored(
        ("a", 0.9, 0.4),  # right by 0.5
        ("a", 0.6, 0.6),  # a tie
        ("b", 0.2, 0.5),  # wrong by 0.3
        ("c", 0.8, 0.7),  # right by 0.1
        ("d", None, 0.7),  # unscored
        ("e", None, None),
    )
    objects = scored(("a", 1.0, 0.0), domain="objects", knob="color")
    of_pick = scored(("a", 0.5, 0.6), domain="objects", metric="pick")
    return ranking_table(pd.concat([animals, objects, of_pick], ignore_index=True))


class TestByHand:
    def test_a_domain(self, table):
        row = row_of(table, metric="clip", domain="animals", knob="all", concept="all")
        assert (row["pairs"], row["prompts"], row["unscored"], row["ties"]) == (4, 3, 2, 1)
        expected = {"failure_rate": 1 / 2, "tie_rate": 1 / 4, "sc": 2.5 / 4, "pa": 2.2 / 4}
        expected |= {"delta": 0.3 / 4, "correct_margin": 0.6 / 2, "incorrect_margin": 0.3 / 2}
        assert {name: row[name] for name in MEASURES} == pytest.approx(expected)
        assert all(row[f"{name}_low"] <= row[name] <= row[f"{name}_high"] for name in MEASURES)

    def test_all_domains_weigh_the_same_and_a_margin_is_over_those_that_have_one(self, table):
        row = row_of(table, metric="clip", domain="all")
        expected = {"failure_rate": 1 / 4, "tie_rate": 1 / 8, "sc": (2.5 / 4 + 1) / 2}
        expected |= {"pa": (2.2 / 4 + 0) / 2, "delta": (0.3 / 4 + 1) / 2}
        expected |= {"correct_margin": (0.3 + 1) / 2, "incorrect_margin": 0.15}
        assert {name: row[name] for name in MEASURES} == pytest.approx(expected)
        assert (row["pairs"], row["prompts"], row["unscored"]) == (5, 4, 2)

    def test_a_metric_that_lacks_a_domain_has_no_number_for_all(self, table):
        row = row_of(table, metric="pick", domain="all")
        assert row["pairs"] == 1
        assert all(np.isnan(row[name]) for name in MEASURES)

    def test_a_margin_without_a_pair_is_none(self, table):
        row = row_of(table, metric="pick", domain="objects", knob="all", concept="all")
        assert np.isnan(row["correct_margin"])
        assert row["incorrect_margin"] == pytest.approx(0.1)

    def test_knobs_and_concepts_are_told_apart_inside_a_domain(self, table):
        of_clip = table[table["metric"] == "clip"]
        assert list(zip(of_clip["domain"], of_clip["knob"], of_clip["concept"], strict=True)) == [
            *(("animals", *each) for each in (("all", "all"), ("count", "all"))),
            ("animals", "all", "penguin / robin"),
            *(("objects", *each) for each in (("all", "all"), ("color", "all"))),
            ("objects", "all", "penguin / robin"),
            ("all", "all", "all"),
        ]


class TestIdentities:
    def test_what_a_row_says_agrees_with_itself(self):
        table = ranking_table(drawn(1))
        parts = table[table["domain"] != "all"]
        assert len(parts) == 2 * 3 * 3
        np.testing.assert_allclose(table["delta"], table["sc"] - table["pa"])
        failing = parts["failure_rate"]
        weighed = (1 - failing) * parts["correct_margin"] - failing * parts["incorrect_margin"]
        np.testing.assert_allclose(parts["delta"], weighed)
        np.testing.assert_allclose(parts["tie_rate"], parts["ties"] / parts["pairs"])

    def test_the_papers_table_2_follows_from_its_means(self):
        found = ranking_table(
            pd.concat(
                [
                    scored(("a", *means[:2]), domain=domain, metric=metric)
                    for metric, numbers in TABLE_2.items()
                    for domain, means in zip(DOMAINS, np.reshape(numbers, (3, 3)), strict=True)
                ],
                ignore_index=True,
            )
        )
        whole = found[(found["knob"] == "all") & (found["concept"] == "all")]
        deltas = whole[whole["domain"] != "all"]["delta"].to_numpy().reshape(-1, 3)
        printed = np.array(list(TABLE_2.values()))[:, 2::3]
        # Both means and their difference are rounded to 0.01.
        np.testing.assert_allclose(deltas, printed, atol=0.0151)
        over_all = whole[whole["domain"] == "all"]["delta"]
        np.testing.assert_allclose(over_all, deltas.mean(axis=1))

    def test_the_order_of_rows_is_of_no_account(self):
        scores = drawn(2, 45)
        shuffled = scores.sample(frac=1, random_state=3)
        keys = ["metric", "domain", "knob", "concept"]
        one, other = (
            ranking_table(each).sort_values(keys).reset_index(drop=True)
            for each in (scores, shuffled)
        )
        pd.testing.assert_frame_equal(one, other, rtol=1e-12)

    def test_the_same_seed_gives_the_same_interval_and_another_one_another(self):
        scores = drawn(4, 30, ["one"])
        one, same, other = (ranking_table(scores, seed=seed)["sc_low"] for seed in (0, 0, 1))
        assert one.equals(same)
        assert not one.equals(other)


class TestTies:
    def test_scores_that_clip_to_the_same_are_no_tie(self):
        scores = scored(("a", -0.1, -0.2), ("b", 0.45, 0.5))
        scores["score"] = normalize_scores(scores["raw"], "clip_score")
        row = row_of(ranking_table(scores), domain="all")
        assert (row["ties"], row["failure_rate"]) == (0, 0.5)
        assert (row["correct_margin"], row["incorrect_margin"]) == (0.0, 0.0)

    def test_min_max_makes_none_and_undoes_none(self):
        raw = np.array([20.0, np.nextafter(20.0, 21), 1e9, 20.0])
        scores = scored(("a", *raw[:2]), ("b", *raw[2:]), ("c", 21.5, 21.5))
        scores["score"] = normalize_scores(scores["raw"], "pick_score")
        pairs = pair_scores(scores)
        assert pairs["tie"].tolist() == [0, 0, 1]
        assert pairs["fails"].tolist() == [1, 0, 1]
        assert (pairs["sc"] - pairs["pa"]).tolist()[2] == 0


@pytest.mark.parametrize(
    ("formula", "raw", "score"),
    [
        ("clip_score", [0.3, -0.1, 0.5], [0.75, 0.0, 1.0]),
        ("pick_score", [20.0, 21.5, 23.0], [0.0, 0.5, 1.0]),
        ("pick_score", [21.0, 21.0], [0.5, 0.5]),
        ("siglip_score", [0.2, 0.9], [0.2, 0.9]),
        ("itm_score", [0.2, 0.9], [0.2, 0.9]),
        ("vqa_score", [0.2, 0.9], [0.2, 0.9]),
        ("vision_score", [0.2, 0.9], [0.2, 0.9]),
        ("stand_in", [0.2, 0.9], [0.2, 0.9]),
        ("judge", [1, 2, 4], [0.0, 1 / 3, 1.0]),
        ("human", [1.0, 3.5], [0.0, 2.5 / 3]),
    ],
)
def test_raw_scores_are_brought_to_one_scale(formula, raw, score):
    np.testing.assert_allclose(normalize_scores([*raw, np.nan], formula), [*score, np.nan])


def test_an_interval_covers_the_truth_as_often_as_it_should():
    """Margins of 20 prompts of two pairs: skewed, and most of them small."""
    random = np.random.default_rng(5)
    prompts = np.repeat(np.arange(20), 2)
    covered = 0
    for _ in range(200):
        own = random.exponential(0.05, 20)[prompts] + random.exponential(0.05, 40)
        low, high = graded_interval(own, prompts, np.zeros(40), seed=0)
        covered += low <= 0.1 <= high
    assert 0.88 <= covered / 200 <= 0.99


@pytest.mark.parametrize("number", [2, 3, 5])
def test_few_prompts_are_not_taken_for_all(number):
    random = np.random.default_rng(number)
    prompts = np.repeat(np.arange(number), 2)
    covered = 0
    for _ in range(100):
        own = random.normal(0.6, 0.05, number)[prompts] + random.normal(0, 0.06, 2 * number)
        low, high = graded_interval(own, prompts, np.zeros(2 * number), seed=0)
        assert 0 <= low <= own.mean() <= high <= 1
        covered += low <= 0.6 <= high
    assert covered >= 87


def test_scores_that_all_agree_still_leave_room():
    low, high = graded_interval([0.25] * 6, range(6), [0] * 6, seed=0)
    unseen = 1 - 0.025 ** (1 / 6)
    assert (low, high) == pytest.approx((0.25 * (1 - unseen), 0.25 + 0.75 * unseen))


def test_a_metric_of_the_painters_family_is_marked_in_all_of_its_rows():
    pairs = pd.concat(
        [scored(("a", 0.9, 0.4), same_family=True), scored(("b", 0.9, 0.4), domain="objects")],
        ignore_index=True,
    )
    found = ranking_table(pairs)
    assert found["same_family"].tolist() == [True] * len(found)
    assert not found.duplicated(["metric", "domain", "knob", "concept"]).any()


def test_shares_have_the_interval_of_shares_and_counts_are_whole():
    scores = drawn(3, metrics=("one",))
    found = ranking_table(scores[scores["domain"].eq("animals")])
    row = row_of(found, domain="animals", knob="all", concept="all")
    pairs = pair_scores(scores[scores["domain"].eq("animals")])
    ends = stratified_interval(pairs["fails"], pairs["concept_id"], np.zeros(len(pairs)), seed=0)
    assert (row["failure_rate_low"], row["failure_rate_high"]) == pytest.approx(ends)
    assert {str(found[name].dtype) for name in ("pairs", "prompts", "unscored", "ties")} == {
        "int64"
    }


def test_a_pair_that_lacks_the_row_of_a_side_is_unscored():
    scores = scored(("a", 0.9, 0.4), ("b", 0.8, 0.1))
    found = pair_scores(scores.iloc[:-1])
    assert found["fails"].isna().tolist() == [False, True]


def test_own_scores_go_from_the_least_to_the_greatest_of_their_scale():
    scores = normalize_scores([-2.0, 1.0, 3.0], "own", (-2.0, 3.0))
    np.testing.assert_allclose(scores, [0.0, 0.6, 1.0])
