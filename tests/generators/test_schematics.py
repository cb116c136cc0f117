"""Schematics of photographs: what their prompts ask for is what the pixels show.

Marks are counted from pixels in another way than they are drawn: as areas of a colour, or as
changes of colour along a line.
"""

import re
from functools import cache

import numpy as np
import pytest
from scipy import ndimage

from generators.canvas import decode_png
from generators.photographs import animals, logos
from generators.prompts.triplet_grammar import build_triplet
from generators.schematics import draw_schematic
from generators.sketch import paint_sketch

ANIMALS = {p.base_id: p for p in animals.list_photographs(animals.BUILT_IN)}
LOGOS = {p.base_id: p for p in logos.list_photographs(logos.BUILT_IN)}
LEG, LOGO, GRILLE = (0x5B, 0x3A, 0x1E), (0x1D, 0x35, 0x57), (0xEE, 0xF0, 0xF1)
SHOES = {"black": (0x2B, 0x2D, 0x31), "red": (0xC8, 0x37, 0x2D), "white": (0xF7, 0xF6, 0xF2)}
MARKS = {"white": (255, 255, 255), "black": (0, 0, 0)}


@cache
def drawn(prompt, seed, pictures):
    return paint_sketch(prompt, seed, pictures)


def painted(prompt, seed="None/0", pictures=()):
    return drawn(prompt, seed, tuple(pictures))


def of_colour(png, colour):
    return (decode_png(png) == np.array(colour)).all(axis=2)


def areas(mask, smallest=12):
    labels, count = ndimage.label(mask)
    return int((ndimage.sum(mask, labels, range(1, count + 1)) >= smallest).sum())


def runs(line):
    return int((np.diff(np.concatenate(([0], line.astype(int)))) == 1).sum())


def crossings(mask, row):
    """How often a line at a share of the height of the mask's ink crosses ink."""
    rows = np.flatnonzero(mask.any(axis=1))
    return runs(mask[round(rows[0] + row * (rows[-1] - rows[0]))])


def points(mask):
    """How many arms a circle about the middle of the ink crosses, halfway to its ring."""
    ys, xs = np.nonzero(mask)
    y, x = (ys.min() + ys.max()) / 2, (xs.min() + xs.max()) / 2
    turns = np.linspace(0, 2 * np.pi, 2000, endpoint=False)
    reach = (ys.max() - ys.min()) / 2 * 0.45
    around = mask[
        np.rint(y + reach * np.sin(turns)).astype(int),
        np.rint(x + reach * np.cos(turns)).astype(int),
    ]
    first = int(np.flatnonzero(~around)[0])
    return runs(np.roll(around, -first))


def stacked(mask):
    """How often a line down the ink crosses it, for tips may be too thin to be one area."""
    columns = np.flatnonzero(mask.any(axis=0))
    return runs(mask[:, round(columns[0] + 0.3 * (columns[-1] - columns[0]))])


COUNTED = {
    "overlapping circles": lambda mask: crossings(mask, 0.5) / 2,
    "points on the star": points,
    "prongs": lambda mask: crossings(mask, 0.3),
}


@pytest.mark.parametrize("base_id", list(ANIMALS)[::3])
def test_an_animal_has_the_legs_it_is_to_have(base_id):
    photograph = ANIMALS[base_id]
    original = painted(photograph.paintings[0].prompt)
    assert areas(of_colour(original, LEG)) == photograph.standard
    for trial in range(2):
        edited = painted(photograph.edit, f"None/{trial}/digest", [original])
        assert areas(of_colour(edited, LEG)) == photograph.truth


@pytest.mark.parametrize("base_id", list(LOGOS)[::2])
def test_a_logo_has_the_elements_it_is_to_have(base_id):
    photograph = LOGOS[base_id]
    pictures = [painted(painting.prompt) for painting in photograph.paintings]
    edited = painted(photograph.edit, "None/0/digest", pictures)
    if photograph.subtopic == "cars":
        logo, car = pictures
        count = COUNTED[photograph.target]
        assert count(of_colour(logo, LOGO)) == photograph.truth
        assert not of_colour(car, LOGO).any()
        assert count(of_colour(edited, LOGO)) == photograph.truth
    else:
        [shoe] = pictures
        mark = MARKS[photograph.settings["mark_colour"]]
        assert areas(of_colour(shoe, mark)) == photograph.truth
        assert areas(of_colour(edited, mark)) == 2 * photograph.truth


@pytest.mark.parametrize("count", range(1, 10))
def test_any_count_is_drawn(count):
    prompt = f"Edit this image: Add 1 more leg to the dog so that it has {count} legs in total."
    assert areas(of_colour(painted(prompt), LEG)) == count
    for element, count_in in COUNTED.items():
        logo = painted(f"Generate a Foo logo but with {count} {element} instead of 3.")
        assert count_in(of_colour(logo, LOGO)) == count
    for element, count_in in {
        "stripes": areas,
        "stylized curves": stacked,
        "dashes": areas,
    }.items():
        shoe = painted(
            f"Generate an Foo style running shoe but with {count} {element} instead of 3. "
            f"The shoe is black and its {element} are white."
        )
        assert count_in(of_colour(shoe, MARKS["white"])) == count


def test_marks_fill_the_box_of_the_logo_and_stay_in_it():
    for photograph in list(LOGOS.values())[::4]:
        if photograph.subtopic == "cars":
            png = painted(photograph.edit)
            ink, grille = (np.argwhere(of_colour(png, colour)) for colour in (LOGO, GRILLE))
            assert (ink.min(axis=0) > grille.min(axis=0)).all()
            assert (ink.max(axis=0) < grille.max(axis=0)).all()
            assert np.ptp(ink, axis=0).max() > 0.4 * np.ptp(grille, axis=0).min()


@pytest.mark.parametrize("colour", SHOES)
def test_an_athletes_shoes_have_the_colour_of_the_picture(colour):
    [shoe] = LOGOS[f"logos/nike-soccer-{colour}"].paintings
    png = painted(shoe.prompt)
    edited = painted(LOGOS[f"logos/nike-soccer-{colour}"].edit, "None/0/digest", [png])
    for other, rgb in SHOES.items():
        assert (of_colour(png, rgb).sum() > 10_000) == (other == colour)
        assert (of_colour(edited, rgb).sum() > 3_000) == (other == colour)


def test_a_picture_that_sketch_has_not_painted_gives_black_shoes():
    foreign = painted("a dog")
    edit = LOGOS["logos/nike-soccer-red"].edit
    assert of_colour(painted(edit, pictures=[foreign]), SHOES["black"]).sum() > 3_000
    assert of_colour(painted(edit), SHOES["black"]).sum() > 3_000


def test_cars_have_their_colour_and_bodies_differ():
    paints = {"white": (0xF4, 0xF4, 0xF0), "grey": (0x8D, 0x92, 0x99), "black": (0x3A, 0x3D, 0x42)}
    for colour, rgb in paints.items():
        png = painted(LOGOS[f"logos/audi-sedan-{colour}"].paintings[1].prompt)
        assert of_colour(png, rgb).sum() > 15_000
    heights = set()
    for photograph in LOGOS.values():
        if photograph.settings.get("colour") == "grey" and photograph.subtopic == "cars":
            mask = of_colour(painted(photograph.edit), paints["grey"])
            heights.add((photograph.settings["body"], int(np.argwhere(mask)[:, 0].min())))
    assert len(dict(heights)) == len({low for _, low in heights}) == 6


def test_every_prompt_of_the_photographs_is_understood():
    for photograph in [*ANIMALS.values(), *LOGOS.values()]:
        for prompt in [photograph.edit, *(painting.prompt for painting in photograph.paintings)]:
            assert draw_schematic(prompt, "0/0") is not None


def test_the_sentences_of_triplets_are_left_to_the_grammar():
    fields = {"hypernym": "animal", "non_prototype": "ostrich", "prototype": "dog",
              "attribute": "", "extra_element": "logo", "knob": "count",
              "values": ["two", "three"], "environment_hint": "on the road"}  # fmt: skip
    assert all(draw_schematic(text, "0/0") is None for text in build_triplet(fields).values())


@pytest.mark.parametrize(
    "prompt",
    [
        "",
        "A photo of a dog with 4 legs",
        "Generate a clear, full-body, side-view image of a(n) dog with 0 legs",
        "Edit this image: Add 1 more leg to the dog so that it has 13 legs in total.",
        "Generate a Foo logo but with 5 rings.",
    ],
)
def test_other_prompts_are_left_to_the_labelled_figure(prompt):
    assert draw_schematic(prompt, "0/0") is None


def test_the_same_seed_gives_the_same_bytes_and_another_moves_what_is_shown():
    for photograph in (ANIMALS["animals/emu"], *list(LOGOS.values())[::23]):
        assert paint_sketch(photograph.edit, "0/0") == paint_sketch(photograph.edit, "0/0")
        for prompt in (photograph.edit, photograph.paintings[0].prompt):
            assert len({painted(prompt, f"None/{sample}") for sample in range(6)}) == 6


def test_an_animal_looks_alike_in_all_its_pictures():
    looks = set()
    for trial in range(4):
        pixels = decode_png(painted(ANIMALS["animals/giraffe"].edit, f"None/{trial}"))
        ys, xs = np.nonzero((pixels == LEG).all(axis=2))
        looks.add(tuple(int(value) for value in pixels[ys.min() - 30, (xs.min() + xs.max()) // 2]))
    assert len(looks) == 1


def test_what_is_shown_is_written_below_without_a_count():
    """The label's letters are the same for any count of legs."""
    prompt = "Edit this image: Add 1 more leg to the dog so that it has {} legs in total."
    strips = [decode_png(painted(prompt.format(legs)))[-40:] for legs in (4, 5)]
    assert (strips[0] == strips[1]).all()
    assert (strips[0] < 0x80).any()
    other = decode_png(painted(prompt.format(4).replace("dog", "cat")))[-40:]
    assert (strips[0] != other).any()


def test_a_long_name_is_cut_and_fits():
    strip = decode_png(painted(f"side-view image of a(n) {'w' * 60} with 4 legs"))[-40:]
    inked = np.flatnonzero((strip < 0x80).all(axis=2).any(axis=0))
    assert inked[0] > 10
    assert inked[-1] < strip.shape[1] - 10


def test_labels_carry_no_digits():
    for photograph in [*ANIMALS.values(), *LOGOS.values()]:
        assert not re.search(r"\d", photograph.subject)
