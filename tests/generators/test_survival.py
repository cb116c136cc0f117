"""Whether the truth survives a perturbation: a few pictures; `bench` measures a sample of all."""

import numpy as np
import pytest
from scipy import ndimage

from generators.canvas import pixels_of, rasterise
from generators.cleaning import cleaned
from generators.domains import domains
from generators.perturbations.perturb import perturb
from generators.perturbations.registry import perturbation
from generators.perturbations.subject import Box, Subject
from generators.reading import Unreadable
from generators.survival import Rereading, read_again, survival

BRIGHTEST = perturbation("brightness", factor=2.3)
HARMLESS = [
    perturbation("padding", thickness=50),
    perturbation("gamma", gamma=1.2),
    perturbation("brightness", factor=1.1),
]


@pytest.mark.parametrize("name", sorted(domains()))
@pytest.mark.parametrize("made", HARMLESS, ids=lambda made: made.name)
def test_slight_changes_of_tone_and_a_frame_are_read_through(name, made):
    scene = domains()[name].drawing.scenes(0)[3]
    found = survival(Rereading(scene, 768, (made,)))
    assert (found.outcome, found.reason, found.exempt) == ("right", "", False)
    assert found.readable


@pytest.mark.parametrize(
    ("name", "made"),
    [
        ("chess_pieces", BRIGHTEST),
        ("flags", perturbation("hsv_brightness")),
        ("patterned_grids", perturbation("noise")),
        ("game_boards", perturbation("defocus")),
    ],
)
def test_what_pixels_still_hold_is_restored(name, made):
    scene = domains()[name].drawing.scenes(0)[3]
    assert survival(Rereading(scene, 768, (made,))).outcome == "right"


@pytest.mark.parametrize("name", sorted(domains()))
def test_an_untouched_picture_is_clean(name):
    drawing = domains()[name].drawing
    drawn = pixels_of(rasterise(drawing.draw(drawing.scenes(0)[3], 768)))
    [clean] = cleaned(drawn)
    assert (clean == drawn).all()


@pytest.mark.parametrize(("left", "exempt"), [(0.06, True), (0.7, False)])
def test_what_lies_on_something_counted_is_exempt_and_nothing_else(left, exempt):
    """A box within the plain part of Samoa's flag, and one across the edge of its canton."""
    scene = scene_of("flags/samoa")
    subject = Subject(boxes=(Box(left, 0.6 if not exempt else 0.2, 0.2, 0.2, "part"),))
    found = survival(Rereading(scene, 768, (perturbation("boxes"),), subject))
    assert found.exempt == exempt


def test_what_is_lost_says_why():
    """Micronesia's light blue clips to white, as its stars and the ground do."""
    found = survival(Rereading(scene_of("flags/micronesia-stars-add"), 768, (BRIGHTEST,)))
    assert found.outcome == "unreadable"
    assert found.reason.endswith(".")
    assert not found.exempt


def test_a_white_stripe_at_the_rim_is_read_by_the_margins_alone():
    """Malaysia's lowest stripe is white, and so is a ground that clips."""
    scene = scene_of("flags/malaysia")
    assert survival(Rereading(scene, 768, (BRIGHTEST,))).outcome == "right"
    drawn = pixels_of(rasterise(domains()["flags"].drawing.draw(scene, 768)))
    with pytest.raises(Unreadable):
        read_again("flags", perturb(drawn, [BRIGHTEST])[:, 20:], tuple(scene.truths))


def test_what_is_readable_after_one_way_to_undo_a_defocus_alone_is_lost():
    """One leaves 8 of the 51 stars, the other none."""
    scene = scene_of("flags/united-states-stars-add")
    found = survival(Rereading(scene, 768, (perturbation("defocus"),)))
    assert found.outcome == "unreadable"


def test_thin_lines_are_steep_and_blurred_all_the_same():
    scene = scene_of("patterned_grids/tally-7x7-e3-add")
    found = survival(Rereading(scene, 384, (perturbation("defocus"),)))
    assert found.outcome == "right"


def test_a_blur_that_is_no_disks_is_not_read():
    random = np.random.default_rng(0).integers(0, 2, (200, 200, 1), np.uint8) * np.uint8(255)
    moved = ndimage.uniform_filter1d(random.astype(float), 9, axis=1).round().astype(np.uint8)
    with pytest.raises(Unreadable, match="blurred"):
        cleaned(np.repeat(moved, 3, axis=2))


def scene_of(name):
    scenes = domains()[name.partition("/")[0]].drawing.scenes(0)
    return next(scene for scene in scenes if scene.base_id == name)
