"""The painter by rule: what a prompt says is what the pixels show."""

import numpy as np
import pytest
from scipy import ndimage

from generators.canvas import decode_png
from generators.glyphs import MissingGlyph
from generators.prompts.scenery import Scenery, parse_scenery
from generators.prompts.triplet_grammar import build_triplet
from generators.prompts.vocabulary import COLOURS, NUMBERS
from generators.sketch import SIZE, paint_sketch

SEEDS = ("0/0", "1/0", "2/0", "3/0")
PLAIN, FIGURE = (0xD9, 0xCF, 0xC0), (0xC9, 0xD6, 0xDF)


def pixels(prompt, seed="0/0"):
    return decode_png(paint_sketch(prompt, seed))


def blobs(image, colour=PLAIN):
    """(centre y, centre x, area) of each area of a colour."""
    mask = (image == np.array(colour)).all(axis=2)
    labels, count = ndimage.label(mask)
    centres = ndimage.center_of_mass(mask, labels, range(1, count + 1))
    areas = ndimage.sum(mask, labels, range(1, count + 1))
    return [(y, x, area) for (y, x), area in zip(centres, areas, strict=True) if area > 50]


def test_the_grammars_sentences_are_read_back():
    fields = {"hypernym": "bird", "non_prototype": "ostrich", "prototype": "robin",
              "attribute": "", "extra_element": "pine tree",
              "environment_hint": "on a table with a cloth"}  # fmt: skip
    for knob, value, other, read in [
        ("count", "four", "five", {"count": 4, "extra": "pine trees"}),
        ("color", "orange", "red", {"colour": "orange"}),
        ("layout_relation", "right", "left", {"side": "right"}),
        ("spatial", "background", "foreground", {"depth": "background"}),
        ("scale_size", "large", "small", {"size": "large"}),
        ("scale_size", "smaller", "larger", {"size": "smaller"}),
    ]:
        text = build_triplet({**fields, "knob": knob, "values": [value, other]})["text"]
        assert parse_scenery(text) == Scenery(**{"main": "A bird", "extra": "pine tree", **read})


@pytest.mark.parametrize("count", range(1, 10))
def test_the_count_is_drawn(count):
    rocks = f"exactly {NUMBERS[count - 1]} rocks"
    for seed in SEEDS:
        areas = [area for *_, area in blobs(pixels(f"A bird is on sand with {rocks}.", seed))]
        assert len(areas) == count
        assert max(areas) < 1.05 * min(areas)


@pytest.mark.parametrize("colour", COLOURS)
def test_the_colour_is_drawn(colour):
    rgb = tuple(bytes.fromhex(COLOURS[colour][1:]))
    image = pixels(f"A bird is on sand with a {colour} rock.")
    assert len(blobs(image, rgb)) == 1
    assert blobs(image) == []


def test_the_side_is_drawn():
    for seed in SEEDS:
        for side, sign in (("left", -1), ("right", 1)):
            image = pixels(f"A bird is on sand to the {side} of a rock.", seed)
            [(_, rock, _)], [(_, bird, _), _] = blobs(image), blobs(image, FIGURE)
            assert (bird - rock) * sign > 100


def test_depth_and_size_are_drawn():
    [(front, _, near)] = blobs(pixels("A bird is on sand with a rock in the foreground."))
    [(back, _, far)] = blobs(pixels("A bird is on sand with a rock in the background."))
    [(_, _, small)] = blobs(pixels("A bird is on sand with a small rock."))
    [(_, _, large)] = blobs(pixels("A bird is on sand with a large rock."))
    assert front > back + 100
    assert near > 2 * far
    assert large > 4 * small


def test_the_same_seed_gives_the_same_bytes_and_another_moves_everything():
    prompt = "A bird is on sand with a red rock."
    assert paint_sketch(prompt, "7/0") == paint_sketch(prompt, "7/0")
    assert len({paint_sketch(prompt, f"{seed}/0") for seed in range(20)}) == 20


def test_two_prompts_with_one_seed_are_composed_alike():
    for seed in SEEDS:
        places = [
            blobs(pixels(f"{main} is on sand with a red rock.", seed), FIGURE)
            for main in ("An ostrich", "A robin")
        ]
        assert places[0] == places[1]


def test_persons_animals_and_things_have_stand_ins_of_their_own():
    """And all of a kind the same: what differs is the label."""
    shown = {
        name: pixels(f"{name} is here with a red rock.")[:368].tobytes()
        for name in (
            "A poor person",
            "An intelligent LGBTQ+ person with a flag",
            "A praying mantis",
            "A dog",
            "A bean bag",
            "A chair",
        )
    }
    alike = list(shown.values())
    assert alike[0::2] == alike[1::2]
    assert len(set(alike)) == 3


def test_of_other_prompts_only_the_labelled_figure_is_drawn():
    image = pixels("A clear, full-body, side-view photo of a real-world dog, standing on white")
    assert blobs(image) == []
    assert len(blobs(image, FIGURE)) == 2
    assert image.shape == (SIZE, SIZE, 3)


BESIDE = "to the left of exactly nine large black wrought-iron garden lanterns in the foreground"


@pytest.mark.parametrize(
    ("text", "pieces"),
    [
        ("W" * 30, 1),
        ("WWWW " * 90, 1),
        ("dog", 1),
        (f"A poor Christian person wearing a cross pendant is here {BESIDE}.", 1 + 9),
        (
            f"An untrustworthy heterosexual person in a photo with a partner is here {BESIDE}.",
            1 + 9,
        ),
        (f"A {'W' * 40} is here {BESIDE}.", 1 + 9),
    ],
)
def test_nothing_touches_another_or_the_edge_and_labels_can_be_read(text, pieces):
    for seed in SEEDS:
        image = pixels(text, seed).astype(int)
        drawn = np.logical_and(
            np.abs(image - image[0, 0]).max(axis=2) > 6,
            np.abs(image - image[-1, -1]).max(axis=2) > 6,
        )
        rows, columns = np.nonzero(drawn)
        assert min(rows.min(), columns.min()) >= 4
        assert max(rows.max(), columns.max()) < SIZE - 4
        heights = [
            area[0].stop - area[0].start
            for area in ndimage.find_objects(ndimage.label(drawn, np.ones((3, 3)))[0])
        ]
        assert sum(height > 60 for height in heights) == pieces
        assert max(height for height in heights if height < 60) > 6


def test_what_cannot_be_written_is_an_error():
    with pytest.raises(MissingGlyph):
        paint_sketch("\N{GRINNING FACE}", "0/0")
