"""Where a domain says that a counterfactual was changed, against the pixels."""

from dataclasses import replace

import numpy as np
import pytest

from generators.domains import load_domains
from tests.generators.domains.samples import picture, scenes_of

SIZE = 384
SAME_LAYOUT = ("chess_pieces", "flags", "patterned_grids")


def pixels(domain, scene, size=SIZE):
    return picture(scene, size).astype(int)


def covered(boxes, shape, spare=2):
    """A mask of what the boxes cover, `spare` px around them as well."""
    mask = np.zeros(shape[:2], bool)
    for left, top, width, height in boxes:
        rows, columns = shape[0], shape[1]
        begin, end = top * rows - spare, (top + height) * rows + spare
        first, last = left * columns - spare, (left + width) * columns + spare
        mask[max(0, round(begin)) : round(end), max(0, round(first)) : round(last)] = True
    return mask


def counterfactuals(name):
    return [scene for scene in scenes_of(load_domains()[name]) if scene.variant == "counterfactual"]


@pytest.mark.parametrize("name", sorted(load_domains()))
def test_every_counterfactual_is_outlined_inside_its_picture(name):
    domain = load_domains()[name]
    for scene in counterfactuals(name):
        boxes = domain.find_outline(scene, SIZE)
        assert boxes, scene.base_id
        for left, top, width, height in boxes:
            assert 0 <= left < left + width <= 1.0001, scene.base_id
            assert 0 <= top < top + height <= 1.0001, scene.base_id
    (original,) = ({s.base_id: s for s in scenes_of(domain) if s.variant == "original"}.values(),)
    assert all(list(domain.find_outline(scene, SIZE)) == [] for scene in original)


@pytest.mark.parametrize("name", SAME_LAYOUT)
def test_all_pixels_that_differ_from_the_original_are_outlined(name):
    domain = load_domains()[name]
    originals = {s.base_id: pixels(domain, s) for s in scenes_of(domain) if s.variant == "original"}
    for scene in counterfactuals(name):
        picture = pixels(domain, scene)
        differs = (picture != originals[scene.original_id]).any(axis=2)
        mask = covered(domain.find_outline(scene, SIZE), picture.shape)
        assert differs.any(), scene.base_id
        assert not (differs & ~mask).any(), scene.base_id
        if name != "flags":
            assert mask.mean() < 0.05, scene.base_id


@pytest.mark.parametrize("size", [384, 768, 1152])
def test_an_outline_is_that_of_its_size(size):
    domain = load_domains()["chess_pieces"]
    scene = counterfactuals("chess_pieces")[0]
    start = next(s for s in scenes_of(domain) if s.base_id == scene.original_id)
    picture = pixels(domain, scene, size)
    differs = (picture != pixels(domain, start, size)).any(axis=2)
    assert not (differs & ~covered(domain.find_outline(scene, size), picture.shape, 1)).any()


def board(picture):
    """The picture without the ground around the board."""
    ink = (picture != picture[0, 0]).any(axis=2)
    rows, columns = np.flatnonzero(ink.any(axis=1)), np.flatnonzero(ink.any(axis=0))
    return picture[rows[0] : rows[-1] + 1, columns[0] : columns[-1] + 1]


@pytest.mark.parametrize("scene", counterfactuals("game_boards"), ids=lambda s: s.base_id)
def test_a_board_without_its_outlined_band_is_the_board_as_usual(scene):
    domain = load_domains()["game_boards"]
    picture = pixels(domain, scene)
    ((left, top, width, height),) = domain.find_outline(scene, SIZE)
    rows = slice(round(top * picture.shape[0]), round((top + height) * picture.shape[0]))
    columns = slice(round(left * picture.shape[1]), round((left + width) * picture.shape[1]))
    band = picture[rows, columns]
    if scene.modification.startswith("remove"):
        assert (band == picture[0, 0]).all()
        return
    axis = 0 if "row" in scene.modification else 1
    rest = board(np.delete(picture, rows if axis == 0 else columns, axis=axis))
    start = next(s for s in scenes_of(domain) if s.base_id == scene.original_id)
    pitch = band.shape[axis]
    for size in range(200, 800):
        usual = board(pixels(domain, start, size)) if _pitch(start, size) == pitch else None
        if usual is not None and usual.shape == rest.shape:
            assert (usual == rest).mean() > 0.97
            return
    raise AssertionError(f"{scene.base_id}: no size has a pitch of {pitch} px")


def _pitch(scene, size):
    lines = "lines" in scene.target
    counts = scene.settings["rows"] - lines, scene.settings["columns"] - lines
    return int(size * 0.9) // max(counts)


def test_an_outline_of_an_illusion_holds_two_things_with_ink_in_each():
    domain = load_domains()["optical_illusions"]
    for scene in counterfactuals("optical_illusions"):
        picture = pixels(domain, scene)
        boxes = domain.find_outline(scene, SIZE)
        assert len(boxes) == 2, scene.base_id
        for box in boxes:
            assert (picture[covered([box], picture.shape, 0)] < 128).any(), scene.base_id


def test_a_domain_that_says_nothing_outlines_nothing(monkeypatch):
    monkeypatch.setattr("generators.domains.find_spec", lambda name: None)
    scene = counterfactuals("flags")[0]
    assert list(load_domains()["flags"].find_outline(scene, SIZE)) == []
    assert (
        list(load_domains()["flags"].find_outline(replace(scene, variant="original"), SIZE)) == []
    )
