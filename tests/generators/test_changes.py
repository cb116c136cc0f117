"""What was changed in a picture, in words."""

import pytest

from generators.changes import SceneChange
from generators.domains import load_domains
from generators.topics import DRAWN, describe_change

CHESS = {"square": "f2", "removed": "Pawn", "added": "Queen"}


@pytest.mark.parametrize(
    ("topic", "modification", "target", "difference", "settings", "words"),
    [
        ("chess_pieces", "remove", "chess pieces", -1, CHESS, "no pawn on f2"),
        ("chess_pieces", "replace", "Queen", 1, CHESS, "queen on f2 in place of the pawn"),
        ("flags", "add", "stars", 1, {}, "one star more"),
        ("flags", "remove", "stripes", -1, {}, "one stripe fewer"),
        ("game_boards", "add row first", "rows", 1, {}, "one row more at the top"),
        ("game_boards", "remove row last", "rows", -1, {}, "one row fewer at the bottom"),
        ("game_boards", "add column first", "columns", 1, {}, "one column more on the left"),
        ("game_boards", "remove column last", "columns", -1, {}, "one column fewer on the right"),
        (
            "optical_illusions",
            "congruent",
            "length",
            0.2,
            {},
            "parts differ, as the illusion suggests",
        ),
        (
            *("optical_illusions", "incongruent", "length", -0.2, {}),
            "parts differ, against the illusion",
        ),
        ("patterned_grids", "add", "lines in D3", 1, {"cell": "D3"}, "one line more in D3"),
        (
            "patterned_grids",
            "remove",
            "circles in D3",
            -1,
            {"cell": "D3"},
            "one circle fewer in D3",
        ),
        (
            *("patterned_grids", "replace", "circles in D3", -1, {"cell": "D3", "shape": "star"}),
            "star in place of a circle in D3",
        ),
        ("animals", "add", "legs", 1, {}, "one leg more"),
        ("logos", "add", "circles", 2, {}, "2 circles more"),
    ],
)
def test_the_change_says_what_is_more_fewer_or_another(
    topic, modification, target, difference, settings, words
):
    assert describe_change(topic, SceneChange(modification, target, difference, settings)) == words


@pytest.mark.parametrize("topic", DRAWN)
def test_every_counterfactual_of_a_domain_has_its_change_in_words(topic):
    for scene in load_domains()[topic].draw_module.list_scenes(0):
        if scene.variant == "counterfactual":
            difference = scene.truths[scene.target] - scene.standards[scene.target]
            change = SceneChange(scene.modification, scene.target, difference, scene.settings)
            assert " " in describe_change(topic, change), scene.base_id
