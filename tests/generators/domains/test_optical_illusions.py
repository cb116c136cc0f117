"""The illusions' scenes and figures; questions and readings are tested beside this."""

import hashlib
from collections import Counter
from itertools import combinations
from math import hypot

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from generators.domains.optical_illusions.draw import PENS_ACROSS, list_scenes, list_shapes
from generators.domains.optical_illusions.illusion_scenes import TARGETS, build_scene
from tests.generators.domains.samples import picture as drawn

SCENES = list_scenes(0)
BY_ID = {scene.base_id: scene for scene in SCENES}
ORIGINALS = [scene for scene in SCENES if scene.variant == "original"]
MODIFIED = [scene for scene in SCENES if scene.variant == "counterfactual"]


def appearance(scene):
    """The sign of the difference that the context makes one see, from the shapes alone."""
    figure = list(list_shapes(scene))
    match scene.subject:
        case "Ebbinghaus":  # amid smaller discs a disc looks larger
            context = {}
            for disc in figure[::-1]:
                context.setdefault(disc.centre[0] < 0, disc.diameter)
            return np.sign(context[False] - context[True])
        case "Müller-Lyer":  # fins that reach beyond a line make it look longer
            line, fin = figure[:2]
            return 1 if fin.box[0] < line.box[0] - 1e-9 else -1
        case "Ponzo":  # where the sides are closer a bar looks longer
            (x1, y1), (x2, y2) = figure[2].points
            return np.sign((x2 - x1) * (y2 - y1))
        case "Vertical–Horizontal":  # the vertical that halves a horizontal looks longer
            return 1
        case "Zöllner":  # acute angles look wider, so that lines turn away from their strokes
            top, bottom = (acute_turn(figure[i], figure[i + 1]) for i in (0, 9))
            return np.sign(bottom - top)
        case "Poggendorff":  # likewise: each part seems to aim too level, the gap too high
            (x1, y1), (x2, y2) = figure[0].points
            return np.sign((y2 - y1) * (x2 - x1))


def acute_turn(line, stroke):
    """The angle from a line to a stroke, between -90 and 90 degrees."""
    one, other = (np.subtract(*shape.points[::-1]) for shape in (line, stroke))
    angle = np.degrees(np.arctan2(other[1], other[0]) - np.arctan2(one[1], one[0]))
    return (angle + 90) % 180 - 90


class TestScenes:
    def test_there_are_66_originals_and_66_modified(self):
        each = dict.fromkeys(TARGETS, 12) | {"Vertical–Horizontal": 6}
        assert Counter(scene.subject for scene in ORIGINALS) == each
        assert Counter(scene.subject for scene in MODIFIED) == each
        assert {scene.image_set for scene in SCENES} == {"benchmark"}
        assert len(BY_ID) == 132
        assert all(name.isascii() for name in BY_ID)

    def test_half_of_the_modified_are_congruent(self):
        counts = Counter((scene.subject, scene.modification) for scene in MODIFIED)
        assert set(counts.values()) == {6, 3}
        assert counts["Vertical–Horizontal", "congruent"] == 3

    @pytest.mark.parametrize(
        ("subject", "strengths", "differences"),
        [
            ("Ebbinghaus", {3, 5}, {0.5, 0.6, 0.7}),
            ("Müller-Lyer", {30, 50}, {0.3, 0.4, 0.5}),
            ("Ponzo", {15, 18}, {0.15, 0.2, 0.25}),
            ("Zöllner", {60, 75}, {2, 2.5, 3}),
            ("Poggendorff", {40, 45, 50}, {0.1, -0.1, 0.2, -0.2}),
        ],
    )
    def test_strengths_and_differences_are_those_of_the_paper(
        self, subject, strengths, differences
    ):
        modified = [scene.settings for scene in MODIFIED if scene.subject == subject]
        assert {abs(s["strength"]) for s in modified} == strengths
        assert {s["difference"] for s in modified} == differences
        assert len({(s["strength"], s["difference"]) for s in modified}) == 12

    def test_lines_of_the_t_are_those_of_the_paper(self):
        sizes = [s.settings["size"] for s in ORIGINALS if s.subject == "Vertical–Horizontal"]
        assert sizes == [0.5, 0.6, 0.7, 0.8, 0.9, 1.0]
        modified = [s.settings for s in MODIFIED if s.subject == "Vertical–Horizontal"]
        assert sorted(s["difference"] for s in modified) == [-0.5, -0.4, -0.3, 0.3, 0.4, 0.5]
        assert {s["size"] for s in modified} == {0.5, 1.0}

    def test_seeds_change_nothing(self):
        assert list_scenes(0) == list_scenes(7)

    @pytest.mark.parametrize("scene", MODIFIED, ids=lambda scene: scene.base_id)
    def test_congruent_is_where_the_context_exaggerates_the_truth(self, scene):
        exaggerates = appearance(scene) == np.sign(scene.truths[scene.target])
        assert scene.modification == ("congruent" if exaggerates else "incongruent")

    @pytest.mark.parametrize("scene", MODIFIED, ids=lambda scene: scene.base_id)
    def test_an_original_has_the_context_of_its_modified_figure(self, scene):
        original = BY_ID[scene.original_id]
        assert original.variant == "original"
        assert original.subject == scene.subject
        assert appearance(original) == appearance(scene)
        strength = "size" if scene.subject == "Vertical–Horizontal" else "strength"
        near = abs(abs(scene.settings[strength]) - abs(original.settings[strength]))
        assert near == (1 if scene.settings[strength] in {18, -18} else 0)

    @settings(max_examples=25, deadline=None)
    @given(
        st.sampled_from(["Ebbinghaus", "Müller-Lyer", "Ponzo", "Zöllner", "Poggendorff"]),
        st.sampled_from([1, -1]),
        st.sampled_from([0.2, -0.2]),
    )
    def test_either_sign_of_strength_and_difference_is_told_apart(self, subject, sign, difference):
        strength = {"Ebbinghaus": 3, "Ponzo": 15, "Zöllner": 60}.get(subject, 40)
        scene = build_scene(subject, strength=sign * strength, difference=difference)
        exaggerates = appearance(scene) == np.sign(difference)
        assert scene.modification == ("congruent" if exaggerates else "incongruent")
        assert appearance(BY_ID[scene.original_id]) == appearance(scene)


class TestFigures:
    @pytest.mark.parametrize("size", [384, 768, 501])
    def test_each_is_centred_within_a_margin_and_unlike_all_others(self, size):
        seen, some = set(), SCENES if size == 384 else SCENES[::6]
        for scene in some:
            ink = drawn(scene, size)[:, :, 1] < 128
            rows, columns = (np.flatnonzero(ink.any(axis=axis)) for axis in (1, 0))
            before, after = (
                np.array([rows[0], columns[0]]),
                np.array(ink.shape) - 1 - [rows[-1], columns[-1]],
            )
            assert min(*before, *after) >= 0.03 * size, scene.base_id
            assert abs(before - after).max() <= 2 + size / PENS_ACROSS / 2, scene.base_id
            seen.add(hashlib.sha256(ink.tobytes()).digest())
        assert len(seen) == len(some)

    def test_rings_are_even_and_no_two_discs_touch(self):
        for scene in SCENES:
            if scene.subject == "Ebbinghaus":
                discs = list(list_shapes(scene))
                for one, other in combinations(discs, 2):
                    apart = hypot(*np.subtract(one.centre, other.centre))
                    gap = (apart - (one.diameter + other.diameter) / 2) * 384 / 2.4
                    assert gap >= 4, scene.base_id
                for side in (True, False):
                    inner, *ring = (disc for disc in discs if (disc.centre[0] < 0) == side)
                    spokes = np.array([np.subtract(disc.centre, inner.centre) for disc in ring])
                    steps = np.roll(spokes, 1, axis=0) - spokes
                    for lengths in (np.hypot(*spokes.T), np.hypot(*steps.T)):
                        assert lengths == pytest.approx(lengths[0]), scene.base_id

    def test_bars_do_not_touch_the_sides(self):
        for scene in SCENES:
            if scene.subject == "Ponzo":
                *bars, left, right = list_shapes(scene)
                assert left.box[2] < right.box[0]
                (x1, y1), (x2, y2) = right.points
                for bar in bars:
                    _, y, end, _ = bar.box
                    assert (x1 + (y - y1) / (y2 - y1) * (x2 - x1) - end) * 384 / 2 >= 8

    def test_zollners_lines_end_just_past_their_strokes(self):
        for scene in SCENES:
            if scene.subject == "Zöllner":
                figure = list(list_shapes(scene))
                for line, strokes in ((figure[0], figure[1:9]), (figure[9], figure[10:])):
                    assert len(strokes) == 8
                    past = line.box[2] - max(stroke.box[2] for stroke in strokes)
                    assert 0.02 < past < 0.12, scene.base_id

    def test_the_rectangle_hides_the_stretch_behind_it(self):
        for scene in SCENES:
            if scene.subject == "Poggendorff":
                assert drawn(scene)[30:350, 150:234].min() == 255, scene.base_id
                assert drawn(scene)[:, :140].min() == 0, scene.base_id

    @pytest.mark.parametrize(
        ("name", "size", "digest"),
        [
            (
                "ebbinghaus-strength-3",
                384,
                "4f0a7f060ee1905ddcf276c796d85f733d64afb2246b777e3eeb38c489fd72bd",
            ),
            (
                "muller-lyer-strength-minus-50-difference-0.5-congruent",
                384,
                "136fca547f1743e7d143a8bb231c1876ea73732fc94c2c4fbdc5075e92ed4233",
            ),
            (
                "zollner-strength-75-difference-2.5-incongruent",
                768,
                "fa9eab2e9195b8e996441ffff8b4a6dcee5877dd31d07f893e87a62177f5765e",
            ),
            (
                "poggendorff-strength-45-difference-minus-0.1-congruent",
                1152,
                "d3d779c746fea880b6903d25441d0bb61a85e555f2087d89a695f18cc3dadba3",
            ),
        ],
    )
    def test_pixels_stay_the_same(self, name, size, digest):
        pixels = drawn(BY_ID[f"optical_illusions/{name}"], size)
        assert hashlib.sha256(pixels.tobytes()).hexdigest() == digest
