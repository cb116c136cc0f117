"""Whether the truth survives a perturbation: a few pictures; `bench` measures a sample of all."""

import numpy as np
import pytest
from scipy import ndimage

from generators.canvas import decode_png, rasterise
from generators.degradations import remove_degradations
from generators.domains import load_domains
from generators.perturbations.pipeline import perturb
from generators.perturbations.registry import build_perturbation
from generators.perturbations.subject import ObjectBox, Subject
from generators.reading import Unreadable
from generators.survival import RereadJob, check_survival, reread_targets

BRIGHTEST = build_perturbation("brightness", factor=2.3)
HARMLESS = [
    build_perturbation("padding", thickness=50),
    build_perturbation("gamma", gamma=1.2),
    build_perturbation("brightness", factor=1.1),
]


@pytest.mark.parametrize("name", sorted(load_domains()))
@pytest.mark.parametrize("made", HARMLESS, ids=lambda made: made.name)
def test_slight_changes_of_tone_and_a_frame_are_read_through(name, made):
    scene = load_domains()[name].draw_module.list_scenes(0)[3]
    found = check_survival(RereadJob(scene, 768, (made,)))
    assert (found.outcome, found.reason, found.is_exempt) == ("right", "", False)
    assert found.is_readable


@pytest.mark.parametrize(
    ("name", "made"),
    [
        ("chess_pieces", BRIGHTEST),
        ("flags", build_perturbation("hsv_brightness")),
        ("patterned_grids", build_perturbation("noise")),
        ("game_boards", build_perturbation("defocus")),
    ],
)
def test_what_pixels_still_hold_is_restored(name, made):
    scene = load_domains()[name].draw_module.list_scenes(0)[3]
    assert check_survival(RereadJob(scene, 768, (made,))).outcome == "right"


@pytest.mark.parametrize("name", sorted(load_domains()))
def test_an_untouched_picture_is_clean(name):
    drawing = load_domains()[name].draw_module
    drawn = decode_png(rasterise(drawing.draw(drawing.list_scenes(0)[3], 768)))
    [clean] = remove_degradations(drawn)
    assert (clean == drawn).all()


@pytest.mark.parametrize(("left", "exempt"), [(0.06, True), (0.7, False)])
def test_what_lies_on_something_counted_is_exempt_and_nothing_else(left, exempt):
    """A box within the plain part of Samoa's flag, and one across the edge of its canton."""
    scene = scene_of("flags/samoa")
    subject = Subject(boxes=(ObjectBox(left, 0.6 if not exempt else 0.2, 0.2, 0.2, "part"),))
    found = check_survival(RereadJob(scene, 768, (build_perturbation("boxes"),), subject))
    assert found.is_exempt == exempt


def test_what_is_lost_says_why():
    """Micronesia's light blue clips to white, as its stars and the ground do."""
    found = check_survival(RereadJob(scene_of("flags/micronesia-stars-add"), 768, (BRIGHTEST,)))
    assert found.outcome == "unreadable"
    assert found.reason.endswith(".")
    assert not found.is_exempt


def test_a_white_stripe_at_the_rim_is_read_by_the_margins_alone():
    """Malaysia's lowest stripe is white, and so is a ground that clips."""
    scene = scene_of("flags/malaysia")
    assert check_survival(RereadJob(scene, 768, (BRIGHTEST,))).outcome == "right"
    drawn = decode_png(rasterise(load_domains()["flags"].draw_module.draw(scene, 768)))
    with pytest.raises(Unreadable):
        reread_targets("flags", perturb(drawn, [BRIGHTEST])[:, 20:], tuple(scene.truths))


def test_what_is_readable_after_one_way_to_undo_a_defocus_alone_is_lost():
    """One leaves 8 of the 51 stars, the other none."""
    scene = scene_of("flags/united-states-stars-add")
    found = check_survival(RereadJob(scene, 768, (build_perturbation("defocus"),)))
    assert found.outcome == "unreadable"


def test_thin_lines_are_steep_and_blurred_all_the_same():
    scene = scene_of("patterned_grids/tally-7x7-e3-add")
    found = check_survival(RereadJob(scene, 384, (build_perturbation("defocus"),)))
    assert found.outcome == "right"


def test_a_blur_that_is_no_disks_is_not_read():
    random = np.random.default_rng(0).integers(0, 2, (200, 200, 1), np.uint8) * np.uint8(255)
    moved = ndimage.uniform_filter1d(random.astype(float), 9, axis=1).round().astype(np.uint8)
    with pytest.raises(Unreadable, match="blurred"):
        remove_degradations(np.repeat(moved, 3, axis=2))


def scene_of(name):
    scenes = load_domains()[name.partition("/")[0]].draw_module.list_scenes(0)
    return next(scene for scene in scenes if scene.base_id == name)
