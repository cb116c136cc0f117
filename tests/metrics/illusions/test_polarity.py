"""Numbers of judgements against a plain count, and what is known of reference judges."""

from itertools import product
from math import isnan
from random import Random

import numpy as np
import pandas as pd
import pytest

from metrics import stratified_interval
from metrics.illusions.polarity import polarity_table

POLARITIES = ("equal", "different")


def build_design(illusions=("ponzo", "zöllner"), pairs=4, judge=lambda **picture: 1.0):
    """Answers of a judge to `pairs` figures of equal parts and two changed ones of each."""
    rows = []
    for illusion, inducer, number, polarity in product(
        illusions, ("with", "without"), range(pairs), POLARITIES
    ):
        equal = f"{illusion} {inducer} {number}"
        for name, is_equal in ((equal, True), (f"{equal} a", False), (f"{equal} b", False)):
            picture = {
                "model": "judge",
                "illusion": illusion,
                "inducer": inducer,
                "picture_id": name,
                "pair_id": equal,
                "is_equal": is_equal,
                "polarity": polarity,
            }
            rows.append({**picture, "judged_equal": judge(**picture)})
    return pd.DataFrame(rows)


def to_values(table):
    """The values by illusion, inducer and measure."""
    keys = zip(table["illusion"], table["inducer"], table["measure"], strict=True)
    return dict(zip(keys, table["value"], strict=True))


def count_plainly(answers, illusion, inducer):
    """The measures of one illusion, by loops over its answers."""
    rows = answers.query("illusion == @illusion and inducer == @inducer").to_dict("records")
    judged = {(row["picture_id"], row["polarity"]): row["judged_equal"] for row in rows}
    values = {name: [] for name in ("right_equal", "right_different", "turns")}
    for row in rows:
        answer, truth = row["judged_equal"], float(row["is_equal"])
        if not isnan(answer):
            values["right_equal" if truth else "right_different"].append(answer == truth)
        if not truth:
            other = judged[row["pair_id"], row["polarity"]]
            if not isnan(answer) and not isnan(other):
                values["turns"].append(answer == 0 and other == 1)
    both = [
        (
            judged[row["picture_id"], "equal"],
            judged[row["picture_id"], "different"],
            row["is_equal"],
        )
        for row in rows
        if row["polarity"] == "equal"
    ]
    both = [pair for pair in both if not isnan(pair[0]) and not isnan(pair[1])]
    values["consistent"] = [first == second for first, second, _ in both]
    values["consistent_right"] = [first == second == truth for first, second, truth in both]
    values["consistent_wrong"] = [first == second != truth for first, second, truth in both]
    values["fixed"] = [first != second for first, second, _ in both]
    return {name: sum(found) / len(found) for name, found in values.items()}


@pytest.fixture
def guesses():
    random = Random(7)
    return build_design(
        pairs=9, judge=lambda **_: random.choices([1.0, 0.0, np.nan], [0.5, 0.4, 0.1])[0]
    )


def test_values_are_those_of_a_plain_count(guesses):
    values = to_values(polarity_table(guesses))
    for inducer in ("with", "without"):
        plain = {name: count_plainly(guesses, name, inducer) for name in ("ponzo", "zöllner")}
        for measure in plain["ponzo"]:
            for illusion, counted in plain.items():
                assert values[illusion, inducer, measure] == pytest.approx(counted[measure])
            mean = np.mean([counted[measure] for counted in plain.values()])
            assert values["all", inducer, measure] == pytest.approx(mean)
        parts = ("consistent_right", "consistent_wrong", "fixed")
        assert sum(values["all", inducer, name] for name in parts) == pytest.approx(1)
    drops = [
        values["all", inducer, "right_equal"] - values["all", inducer, "right_different"]
        for inducer in ("with", "without")
    ]
    assert values["all", "with", "multiplier"] == pytest.approx(drops[0] / (drops[1] + 0.001))


def test_intervals_resample_pictures_of_equal_parts_with_what_differs_from_them(guesses):
    table = polarity_table(guesses, seed=3).set_index(["illusion", "inducer", "measure"])
    shown = guesses[guesses["inducer"] == "with"].dropna(subset="judged_equal")
    changed = shown[~shown["is_equal"]]
    right = 1 - changed["judged_equal"]
    expected = stratified_interval(right, changed["pair_id"], changed["illusion"], seed=3)
    row = table.loc[("all", "with", "right_different")]
    assert (row["value_low"], row["value_high"]) == expected
    assert row["clusters"] == changed["pair_id"].nunique()
    assert (row["requests"], row["answers"]) == (2 * 18 * 2, len(changed))
    equal = shown[shown["is_equal"]].set_index(["picture_id", "polarity"])["judged_equal"]
    turns = [
        (1 - row.judged_equal) * equal[row.pair_id, row.polarity]
        for row in changed.itertuples()
        if (row.pair_id, row.polarity) in equal.index
    ]
    paired = [
        (row.pair_id, row.illusion)
        for row in changed.itertuples()
        if (row.pair_id, row.polarity) in equal.index
    ]
    clusters, strata = zip(*paired, strict=True)
    row = table.loc[("all", "with", "turns")]
    assert (row["value_low"], row["value_high"]) == stratified_interval(
        turns, clusters, strata, seed=3
    )
    assert row["clusters"] == len(set(clusters))
    assert (row["requests"], row["answers"]) == (2 * 18 * 2, len(turns))
    multiplier = table.loc[("all", "with", "multiplier")]
    assert np.isnan(multiplier["value_low"])
    assert np.isnan(multiplier["value_high"])
    assert multiplier["requests"] == len(guesses)
    assert multiplier["answers"] == guesses["judged_equal"].notna().sum()


def test_whoever_knows_illusions_is_consistent_and_turns_nowhere():
    values = to_values(polarity_table(build_design(judge=lambda **_: 1.0)))
    for inducer in ("with", "without"):
        assert values["all", inducer, "right_equal"] == 1
        assert values["all", inducer, "right_different"] == 0
        assert values["all", inducer, "turns"] == 0
        assert values["all", inducer, "consistent"] == 1
        assert values["all", inducer, "consistent_right"] == pytest.approx(1 / 3)
    assert values["all", "with", "multiplier"] == pytest.approx(1 / 1.001)


def test_whoever_knows_illusions_alone_has_a_large_multiplier():
    """The familiar answer with the inducer, the truth without it."""
    answers = build_design(
        judge=lambda inducer, is_equal, **_: float(inducer == "with" or is_equal)
    )
    values = to_values(polarity_table(answers))
    assert values["all", "with", "turns"] == 0
    assert values["all", "without", "turns"] == 1
    assert values["all", "with", "multiplier"] == pytest.approx(1000)


def test_whoever_sees_is_right_everywhere():
    values = to_values(polarity_table(build_design(judge=lambda is_equal, **_: float(is_equal))))
    for inducer in ("with", "without"):
        for measure in ("right_equal", "right_different", "turns", "consistent"):
            assert values["all", inducer, measure] == 1
        assert values["all", inducer, "fixed"] == 0
    assert values["all", "with", "multiplier"] == 0


def test_whoever_always_says_yes_is_fixed():
    answers = build_design(judge=lambda polarity, **_: float(polarity == "equal"))
    values = to_values(polarity_table(answers))
    assert values["all", "with", "fixed"] == 1
    assert values["all", "with", "consistent"] == 0
    assert values["all", "with", "right_equal"] == values["all", "with", "right_different"] == 0.5


def test_a_coin_is_consistent_in_half_and_turns_in_a_quarter():
    """The mean over all 16 ways in which a coin may answer both questions about one pair."""
    sums = dict.fromkeys(("right_different", "turns", "consistent", "consistent_right"), 0.0)
    names = ("equal", "changed")
    for tosses in product((0.0, 1.0), repeat=4):
        answers = dict(zip(product(names, POLARITIES), tosses, strict=True))
        table = polarity_table(
            pd.DataFrame(
                {
                    "model": "coin",
                    "illusion": "ponzo",
                    "inducer": "with",
                    "picture_id": name,
                    "pair_id": "equal",
                    "is_equal": name == "equal",
                    "polarity": polarity,
                    "judged_equal": judged,
                }
                for (name, polarity), judged in answers.items()
            )
        )
        values = to_values(table)
        for measure in sums:
            sums[measure] += values["all", "with", measure] / 16
    assert sums == {
        "right_different": 0.5,
        "turns": 0.25,
        "consistent": 0.5,
        "consistent_right": 0.25,
    }


def test_what_has_no_answer_has_no_value():
    silent = build_design(judge=lambda inducer, **_: np.nan if inducer == "without" else 1.0)
    table = polarity_table(silent).set_index(["illusion", "inducer", "measure"])
    for measure in ("right_equal", "turns", "consistent"):
        row = table.loc[("all", "without", measure)]
        assert np.isnan(row["value"])
        assert row["answers"] == row["clusters"] == 0
        assert row["requests"] > 0
    assert np.isnan(table.loc[("all", "with", "multiplier"), "value"])


def test_models_are_apart_and_keep_their_order(guesses):
    both = pd.concat([guesses.assign(model="b"), build_design().assign(model="a")])
    table = polarity_table(both)
    assert list(table["model"].unique()) == ["b", "a"]
    alone = polarity_table(guesses.assign(model="b"))
    pd.testing.assert_frame_equal(table[table["model"] == "b"].reset_index(drop=True), alone)


def test_a_part_of_the_answers_has_the_numbers_that_it_bears():
    """As a limit leaves it: one question, about one picture."""
    (answer,) = build_design(illusions=["ponzo"], pairs=1).to_dict("records")[:1]
    values = to_values(polarity_table(pd.DataFrame([answer])))
    assert len(values) == 2 * (7 + 7 + 1)
    assert values["ponzo", "with", "right_equal"] == values["all", "with", "right_equal"] == 1
    others = {key: value for key, value in values.items() if key[1:] != ("with", "right_equal")}
    assert np.isnan(list(others.values())).all()
