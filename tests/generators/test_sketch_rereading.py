"""Schematics are read as before after each bias, by code that is not told of it, or not at all."""

import numpy as np
import pytest

from generators.canvas import pixels_of
from generators.perturbations.grids import GRID
from generators.perturbations.perturb import perturb
from generators.perturbations.registry import perturbation
from generators.perturbations.subject import Box, Inapplicable, Subject
from generators.reading import Unreadable
from generators.sketch import paint
from generators.sketch_reader import read
from generators.sketch_rereading import read_again

ALONE = "Generate an image of three flamingos napping in a meadow."
BESIDE = "A penguin is standing on a beach with exactly three red rocks in the foreground."
SUBJECT = Subject(keyword="Flamingo", instruction=ALONE, boxes=(Box(0.4, 0.3, 0.2, 0.4, "dog"),))
CENTRE = ("authenticity", "keyword", "instruction")


def drawn(prompt):
    png = paint(prompt, "1")
    return pixels_of(png), read(png)


@pytest.mark.parametrize("bias", [name for name in GRID if name not in ("brightness", "beauty")])
@pytest.mark.parametrize("prompt", [ALONE, BESIDE])
def test_every_configuration_leaves_what_it_shows(bias, prompt):
    pixels, truth = drawn(prompt)
    for each in GRID[bias]:
        if bias not in CENTRE or each.parameters["position"] != "center":
            assert read_again(perturb(pixels, [each], SUBJECT)) == truth


def test_a_drawing_has_no_face_for_the_beauty_filter():
    pixels, _ = drawn(ALONE)
    with pytest.raises(Inapplicable, match="face"):
        perturb(pixels, GRID["beauty"][:1], SUBJECT)


def test_a_figure_alone_is_read_where_all_around_it_has_become_white():
    pixels, truth = drawn(ALONE)
    for each in GRID["brightness"]:
        assert read_again(perturb(pixels, [each])) == truth


def test_what_only_colours_tell_apart_is_not_read_without_them():
    pixels, truth = drawn(BESIDE)
    assert read_again(perturb(pixels, [perturbation("brightness", factor=1.15)])) == truth
    with pytest.raises(Unreadable, match="this picture 4"):
        read_again(perturb(pixels, [perturbation("brightness", factor=2.3)]))


def test_several_biases_are_undone_together():
    pixels, truth = drawn(BESIDE)
    laid = [GRID["gamma"][12], *(GRID[name][0] for name in ("authenticity", "padding"))]
    assert read_again(perturb(pixels, laid, SUBJECT)) == truth


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
        read_again(pixels)
