"""Draws of pictures that people score: their chances, several together, and when they count."""

import pandas as pd
import pytest
from upath import UPath

from assets.kit.drawn_sheets import (
    describe_choice,
    draw_by_uncertainty,
    find_estimate_chances,
    read_earlier_draws,
    unite_draws,
)
from assets.kit.score_files import HumanScore
from resources.user_files.rows import UserFileError


def score(image, chance=None):
    return HumanScore(
        image=image, text="", score=1, annotator="anna", place="line 2", chance=chance
    )


def test_items_come_whose_lot_is_below_their_chance():
    """Four items at 2 of 4: 1/4 with equal chances, and 1 in all by rank; lots 1/8, 3/8, …"""
    margins = pd.DataFrame({"eye": [0.4, -0.1, 0.3, 0.2]}, list("abcd"))
    # Doubt 1/4, 1, 1/2, 3/4: chances 0.35, 0.65, 0.45, 0.55 at lots 1/8, 3/8, 5/8, 7/8.
    assert draw_by_uncertainty(margins, 2) == {"a": 0.35, "b": 0.65}
    # Two judges differ on the first alone, whose chance reaches 1.
    votes = pd.DataFrame({"eye": [1.0, 0, 0, 0], "ear": [0.0, 0, 0, 0]}, list("abcd"))
    assert draw_by_uncertainty(votes, 2) == {"a": 1.0}
    assert draw_by_uncertainty(votes, 2.5) == {"a": 1.0, "b": 0.5}
    assert draw_by_uncertainty(votes[:0], 2) == {}


def test_draws_by_the_same_lots_are_one_by_the_largest_chances():
    draws = [{"a": 0.2, "b": 0.5}, {"b": 0.3, "c": 0.9}, {}]
    assert unite_draws(draws) == {"a": 0.2, "b": 0.5, "c": 0.9}


def test_earlier_draws_are_in_the_sheet_and_beside_scores(tmp_path):
    folder = UPath(tmp_path)
    assert read_earlier_draws(folder, [score("a")]) == {}
    sheet = folder / "to-score.csv"
    sheet.write_text("image,text,score\na,A.,\n")
    assert read_earlier_draws(folder, [score("b")]) == {}
    sheet.write_text("image,text,score,chance\na,A.,,0.5\nb,B.,,0.25\nc,C.,,\n")
    scores = [score("b", 0.75), score("d", 0.5), score("e")]
    assert read_earlier_draws(folder, scores) == {"a": 0.5, "b": 0.75, "d": 0.5}
    for chance in ("0", "1.5", "half"):
        sheet.write_text(f"image,text,score,chance\na,A.,,{chance}\n")
        with pytest.raises(UserFileError, match=r"to-score\.csv, line 2: `chance`"):
            read_earlier_draws(folder, [])


def test_a_draw_counts_once_all_of_it_is_scored():
    drawn = {"a": 0.5, "b": 0.25}
    assert find_estimate_chances({}, [score("a"), score("b")]) == {"a": 1.0, "b": 1.0}
    # "b" has no score yet: the equal sheet that came before counts alone.
    begun = [score("a", 0.5), score("x")]
    assert find_estimate_chances(drawn, begun) == {"a": None, "x": 1.0}
    assert "1 of 2 pictures have no score yet" in describe_choice(drawn, begun)
    # What was scored with equal chances and is in the draw has its chance; another is in none.
    done = [score("a"), score("b", 0.25), score("x")]
    assert find_estimate_chances(drawn, done) == {"a": 0.5, "b": 0.25, "x": None}
    assert "All are scored" in describe_choice(drawn, done)
    assert describe_choice({}, done) == "With equal chances."
