"""The beauty filter changes skin of faces, in all tones, and nothing else in any photograph."""

import io

import numpy as np
import pytest
from PIL import Image
from scipy.ndimage import uniform_filter

from generators.perturbations.faces import (
    FULL_SHARE,
    compute_box_sums,
    compute_skin_shares,
    find_faces,
)
from generators.perturbations.kinds.beauty import _smooth_plane
from generators.perturbations.pipeline import perturb
from generators.perturbations.registry import build_perturbation
from generators.perturbations.subject import Inapplicable
from generators.sketch import paint_sketch
from tests.photographs import FACELESS, FACES, MONK, head, photograph, recoloured

BEAUTY = build_perturbation("beauty")


@pytest.mark.parametrize("name", FACELESS)
def test_a_photograph_without_a_face_is_inapplicable(name):
    with pytest.raises(Inapplicable, match=r"^Beauty filter: no face .* Choose .*\.$"):
        perturb(photograph(name), [BEAUTY])


@pytest.mark.parametrize("words", ["a man", "an old woman in a park", "three children"])
def test_a_schematic_of_people_has_no_face(words):
    with Image.open(io.BytesIO(paint_sketch(words, "7"))) as image, pytest.raises(Inapplicable):
        perturb(np.asarray(image), [BEAUTY])


@pytest.mark.parametrize("name", FACES)
def test_nothing_but_the_face_changes(name):
    before = photograph(name)
    changed = (perturb(before, [BEAUTY]) != before).any(axis=2)
    assert not changed[~head(name, 1.25)].any()
    assert changed[head(name)].mean() > 0.5
    assert changed.mean() < 0.1


@pytest.mark.parametrize(("tone", "name"), [*zip(MONK, 5 * list(FACES), strict=True)])
def test_skin_of_every_tone_is_smoothed_and_lightened(tone, name):
    before = recoloured(name, tone)
    [face] = find_faces(before)
    assert np.abs(np.subtract((face.x, face.y, face.side), FACES[name])).max() < 0.3 * face.side
    after = perturb(before, [BEAUTY])
    shares = np.zeros(before.shape[:2], int)
    shares[face.slice_window(before.shape)] = compute_skin_shares(before, face)
    assert shares[head(name, 0.8)].mean() > 0.5 * FULL_SHARE
    assert not shares[~head(name, 1.25)].any()
    is_skin = shares == FULL_SHARE
    lift = after[is_skin].astype(int).mean(axis=0) - before[is_skin].mean(axis=0)
    assert (lift >= 0).all()
    assert lift.max() > 1
    assert roughness(after, is_skin) < 0.8 * roughness(before, is_skin)


def roughness(pixels, where):
    """The mean absolute Laplacian of luma."""
    luma = np.asarray(Image.fromarray(pixels).convert("L")).astype(int)
    around = sum(np.roll(luma, shift, axis) for shift in (-1, 1) for axis in (0, 1))
    return np.abs(4 * luma - around)[where].mean()


def test_edges_stay():
    """Eyes, brows and glasses keep nine tenths of their contrast with the skin around them."""
    left, top, side = FACES["grace_hopper"]
    eyes = np.s_[top + side // 5 : top + side // 2, left + side // 6 : left + side * 5 // 6]
    before = photograph("grace_hopper")
    after = perturb(before, [BEAUTY])
    assert after[eyes].std() > 0.9 * before[eyes].std()


def test_the_strength_decides_how_much_changes():
    before = photograph("astronaut").astype(int)
    half, full = (
        np.abs(
            perturb(photograph("astronaut"), [build_perturbation("beauty", strength=each)]) - before
        )
        for each in (0.5, 1)
    )
    assert np.abs(2 * half - full).max() <= 2
    assert full.max() > 5


def test_box_sums_are_those_of_scipy():
    plane = np.random.default_rng(0).integers(0, 256, (37, 23))
    for reach in (1, 5, 30):
        area = (2 * reach + 1) ** 2
        mean = uniform_filter(plane.astype(float), 2 * reach + 1, mode="reflect")
        assert np.allclose(compute_box_sums(plane, reach), mean * area)


def test_wide_windows_are_computed_without_overflow():
    """A window of 1,025 px, as of a face of 16,384 px, on the plane of the largest variance."""
    plane = np.indices((40, 40)).sum(axis=0) % 2 * 255
    smooth = _smooth_plane(plane, 512) / 256
    assert np.abs(smooth - (127.5 + (plane - 127.5) * 127.5**2 / (127.5**2 + 400))).max() < 1
