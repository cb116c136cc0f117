"""Rates by either rule, against numbers by hand."""

import numpy as np
import pandas as pd
import pytest

from metrics.game_rules.rule_rates import build_rule_table
from metrics.statistics.cluster_intervals import stratified_interval
from metrics.statistics.paired_intervals import paired_interval

SCORES = {
    # game, position: right by the usual rule, by the inverse one; None was refused.
    ("chess", "a"): (1.0, 0.0),
    ("chess", "b"): (1.0, 1.0),
    ("chess", "c"): (0.0, None),
    ("chess", "d"): (1.0, 0.0),
    ("xiangqi", "e"): (0.0, 1.0),
    ("xiangqi", "f"): (1.0, 0.0),
}


def answer(model, game, position, rule, score):
    usual = score if rule == "usual" or score is None else 1 - score
    cells = {"model": model, "game": game, "goal": "pieces", "rule": rule}
    read = None if score is None else "White"
    return cells | {"base_id": position, "score": score, "usual": usual, "answer": read}


@pytest.fixture
def table():
    rows = [
        answer("judge", game, position, rule, score)
        for (game, position), scores in SCORES.items()
        for rule, score in zip(("usual", "inverse"), scores, strict=True)
    ]
    rows[-1] |= {"answer": None, "usual": np.nan}  # unparsed: not right, and no answer at all
    return build_rule_table(pd.DataFrame(rows)).set_index("game")


def test_shares_are_means_of_games(table):
    assert table["right_usual"].to_dict() == {"all": 0.625, "chess": 0.75, "xiangqi": 0.5}
    assert table["right_inverse"].to_dict() == pytest.approx(
        {"all": (1 / 3 + 1 / 2) / 2, "chess": 1 / 3, "xiangqi": 0.5}
    )
    assert table["usual_answers"].to_dict() == pytest.approx(
        {"all": 1 / 3, "chess": 2 / 3, "xiangqi": 0.0}
    )
    unread = pd.DataFrame([answer("judge", "chess", "a", "inverse", 0.0)])
    table = build_rule_table(unread.assign(answer=None, usual=np.nan))
    assert table["right_inverse"].to_list() == [0.0, 0.0]
    assert table["usual_answers"].isna().all()


def test_a_change_is_of_positions_answered_by_both_rules(table):
    assert table["change"].to_dict() == pytest.approx(
        {"all": -1 / 3, "chess": -2 / 3, "xiangqi": 0.0}
    )


def test_positions_requests_and_answers_are_counted(table):
    columns = ["goal", "positions", "requests", "answers", "readable"]
    assert table.loc["all", columns].to_list() == ["all", 6, 12, 11, 10]
    assert table.loc["chess", columns].to_list() == ["pieces", 4, 8, 7, 7]


def test_intervals_resample_positions(table):
    row = table.loc["chess"]
    usual = stratified_interval([1, 1, 0, 1], list("abcd"), ["chess"] * 4, seed=0)
    assert (row["right_usual_low"], row["right_usual_high"]) == usual
    change = paired_interval([-1, 0, np.nan, -1], list("abcd"), ["chess"] * 4, seed=0)
    assert (row["change_low"], row["change_high"]) == change


def test_two_judges_are_apart_and_one_without_answers_has_no_share():
    rows = [answer("eye", "chess", "a", "usual", 1.0), answer("ear", "chess", "a", "usual", None)]
    table = build_rule_table(pd.DataFrame(rows)).set_index(["model", "game"])
    assert table.loc[("eye", "all"), "right_usual"] == 1.0
    assert np.isnan(table.loc[("ear", "all"), "right_usual_high"])
    assert table.loc[("ear", "chess"), ["positions", "answers"]].to_list() == [0, 0]
    assert np.isnan(table.loc[("eye", "chess"), "change"])
