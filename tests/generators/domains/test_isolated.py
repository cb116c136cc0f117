"""Scenes drawn isolated: the benchmark's, with nothing added and what is counted left in place."""

import pytest

from generators.domains import UnknownDomain, load_domain, load_domains, load_isolated_domains
from generators.isolation import isolate_scenes
from tests.generators.domains.samples import measurable, picture, readings

SHOWN = {
    "chess_pieces": "chess_pieces/xiangqi-i4-remove",
    "flags": "flags/new-zealand-stars-remove",
    "game_boards": "game_boards/sudoku-remove-row-first",
    "optical_illusions": "optical_illusions/ponzo-strength-15-difference-0.2-incongruent",
    "patterned_grids": "patterned_grids/tally-12x12-d3-remove",
}
"""A scene of each domain whose parts are drawn as they are in the whole picture."""


@pytest.fixture(params=SHOWN)
def domain(request):
    return load_isolated_domains()[request.param]


def test_every_drawn_domain_is_drawn_isolated():
    assert SHOWN.keys() == load_domains().keys() == load_isolated_domains().keys()
    with pytest.raises(UnknownDomain, match="Choose from: chess_pieces, flags"):
        load_domain("clock_faces.isolated")


def test_scenes_are_those_of_the_benchmark(domain):
    whole = load_domain(domain.name.removesuffix(".isolated")).draw_module.list_scenes(0)
    scenes = domain.draw_module.list_scenes(0)
    assert [scene.base_id for scene in scenes] == [
        scene.base_id for scene in whole if scene.image_set == "benchmark"
    ]
    for scene, original in zip(scenes, isolate_scenes(whole), strict=True):
        assert scene.truths[scene.target] == original.truths[original.target]
        assert measurable(domain, scene)[:2] == measurable(domain, original)[:2]


def test_what_is_left_lies_where_it_was(domain):
    name = domain.name.removesuffix(".isolated")
    scene, whole = (
        next(s for s in scenes(0) if s.base_id == SHOWN[name])
        for scenes in (domain.draw_module.list_scenes, load_domain(name).draw_module.list_scenes)
    )
    isolated, complete = picture(scene), picture(whole)
    assert isolated.shape == complete.shape
    is_left = (isolated != isolated[0, 0]).any(axis=2)
    is_same = (isolated == complete).all(axis=2)
    assert 0.001 < is_left.mean() < 0.5
    # But at edges, which mix with another ground.
    assert is_same[is_left].mean() > 0.6
    assert readings(scene)[scene.target] == pytest.approx(scene.truths[scene.target], abs=0.015)
