"""Schematics are read as before after each bias, by code that is not told of it, or not at all."""

import numpy as np
import pytest

from generators.canvas import decode_png
from generators.perturbations.grids import GRID
from generators.perturbations.pipeline import perturb
from generators.perturbations.registry import build_perturbation
from generators.perturbations.subject import Inapplicable, ObjectBox, Subject
from generators.reading import Unreadable
from generators.sketch import paint_sketch
from generators.sketch_reader import read_traits
from generators.sketch_rereading import reread_traits

ALONE = "Generate an image of three flamingos napping in a meadow."
BESIDE = "A penguin is standing on a beach with exactly three red rocks in the foreground."
SUBJECT = Subject(
    keyword="Flamingo", instruction=ALONE, boxes=(ObjectBox(0.4, 0.3, 0.2, 0.4, "dog"),)
)
CENTRE = ("authenticity", "keyword", "instruction")


def drawn(prompt):
    png = paint_sketch(prompt, "1")
    return decode_png(png), read_traits(png)


@pytest.mark.parametrize("bias", [name for name in GRID if name not in ("brightness", "beauty")])
@pytest.mark.parametrize("prompt", [ALONE, BESIDE])
def test_every_configuration_leaves_what_it_shows(bias, prompt):
    pixels, truth = drawn(prompt)
    for each in GRID[bias]:
        if bias not in CENTRE or each.parameters["position"] != "center":
            assert reread_traits(perturb(pixels, [each], SUBJECT)) == truth


def test_a_drawing_has_no_face_for_the_beauty_filter():
    pixels, _ = drawn(ALONE)
    with pytest.raises(Inapplicable, match="face"):
        perturb(pixels, GRID["beauty"][:1], SUBJECT)


def test_a_figure_alone_is_read_where_all_around_it_has_become_white():
    pixels, truth = drawn(ALONE)
    for each in GRID["brightness"]:
        assert reread_traits(perturb(pixels, [each])) == truth


def test_what_only_colours_tell_apart_is_not_read_without_them():
    pixels, truth = drawn(BESIDE)
    assert reread_traits(perturb(pixels, [build_perturbation("brightness", factor=1.15)])) == truth
    with pytest.raises(Unreadable, match="this picture 4"):
        reread_traits(perturb(pixels, [build_perturbation("brightness", factor=2.3)]))


def test_several_biases_are_undone_together():
    pixels, truth = drawn(BESIDE)
    laid = [GRID["gamma"][12], *(GRID[name][0] for name in ("authenticity", "padding"))]
    assert reread_traits(perturb(pixels, laid, SUBJECT)) == truth


@pytest.mark.parametrize(
    "pixels",
    [
        np.zeros((512, 512, 3), np.uint8),
        np.full((512, 512, 3), 255, np.uint8),
        np.random.default_rng(1).integers(0, 256, (512, 512, 3), np.uint8),
        np.full((300, 300, 3), 240, np.uint8),
    ],
    ids=["black", "white", "noise", "another size"],
)
def test_what_is_no_schematic_is_unreadable(pixels):
    with pytest.raises(Unreadable):
        reread_traits(pixels)
