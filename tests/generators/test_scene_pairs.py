"""Pairs of scenes of two seeds: the same design, at places that one seed alone has."""

import pytest

from generators.domains import load_domain, load_domains
from generators.scene import Scene
from generators.scene_pairs import ChangePlace, pair_scenes
from generators.topics import PLACED


def scene(name, variant="counterfactual"):
    """A scene named by its board, place and design."""
    return Scene(
        base_id=name,
        original_id="board",
        domain="boards",
        subject="board",
        subtopic="board",
        variant=variant,
        modification="remove",
        target="pieces",
        truths={"pieces": 1.0},
        standards={"pieces": 2.0},
    )


def locate(changed):
    return ChangePlace(*changed.base_id.split())


def pair_names(released, fresh):
    pairs = pair_scenes(map(scene, released), map(scene, fresh), locate)
    return [(pair.released.base_id, pair.fresh.base_id, pair.places) for pair in pairs]


def test_a_place_is_paired_with_one_of_the_same_designs_first():
    released = ("x a remove", "x a knight", "x b remove", "x b king")
    fresh = ("x c remove", "x c king", "x d remove", "x d knight")
    assert pair_names(released, fresh) == [
        ("x a remove", "x d remove", "x: a, d"),
        ("x a knight", "x d knight", "x: a, d"),
        ("x b remove", "x c remove", "x: b, c"),
        ("x b king", "x c king", "x: b, c"),
    ]


def test_places_of_other_designs_are_paired_in_order_by_what_they_share():
    released = ("x b remove", "x b king", "x a remove", "x a rook")
    fresh = ("x d remove", "x d knight", "x c remove", "x c queen")
    assert pair_names(released, fresh) == [
        ("x a remove", "x c remove", "x: a, c"),
        ("x b remove", "x d remove", "x: b, d"),
    ]


def test_a_place_that_both_have_is_left_out_with_all_its_scenes_and_boards_are_apart():
    released = ("x a remove", "x a knight", "x b remove", "y e remove")
    fresh = ("x a remove", "x a king", "x c remove", "z f remove")
    assert pair_names(released, fresh) == [("x b remove", "x c remove", "x: b, c")]


def test_originals_have_no_place():
    originals = [scene("x a remove", "original")]
    assert pair_scenes(originals, [scene("x b remove")], locate) == []


@pytest.mark.parametrize("seed", [1, 7])
@pytest.mark.parametrize("topic", PLACED)
def test_pairs_of_a_topic_differ_in_the_place_alone(topic, seed):
    domain = load_domain(topic)
    released, fresh = map(domain.draw_module.list_scenes, (0, seed))
    pairs = pair_scenes(released, fresh, domain.locate_change)
    listed = {changed.base_id for changed in released}
    assert not listed & {pair.fresh.base_id for pair in pairs}
    for sides in zip(*((pair.released.base_id, pair.fresh.base_id) for pair in pairs), strict=True):
        assert len(set(sides)) == len(sides)
    for pair in pairs:
        old, new = pair.released, pair.fresh
        assert (old.subject, old.modification) == (new.subject, new.modification)
        assert old.target.partition(" in ")[0] == new.target.partition(" in ")[0]
        first, second = (q[0].text for q in map(domain.ask_module.write_questions, (old, new)))
        cells = [str(changed.settings.get("cell", "")) for changed in (old, new)]
        assert first.replace(cells[0], "#") == second.replace(cells[1], "#")


def test_topics_without_places_are_the_same_with_every_seed():
    for name, domain in load_domains().items():
        is_same = domain.draw_module.list_scenes(0) == domain.draw_module.list_scenes(7)
        assert is_same == (name not in PLACED)


def test_the_counts_that_the_page_has():
    pairs = [
        pair
        for domain in map(load_domain, PLACED)
        for pair in pair_scenes(*map(domain.draw_module.list_scenes, (0, 7)), domain.locate_change)
    ]
    assert (len({pair.places for pair in pairs}), len(pairs)) == (25, 69)
