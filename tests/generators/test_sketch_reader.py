"""Reading schematics back: pixels and a text are enough to tell a pair's pictures apart."""

import io
from random import Random

import numpy as np
import pytest
from PIL import Image

from generators.photographs import animals
from generators.prompts.triplet_grammar import build_triplet
from generators.prompts.vocabulary import COLOURS, NUMBERS
from generators.sketch import paint_sketch
from generators.sketch_reader import Traits, Unreadable, read_traits, score_fit

MAINS = (
    ("bird", "penguin", "robin", ""),
    ("mammal", "pangolin", "dog", ""),
    ("animal", "praying mantis", "cat", ""),
    ("person", "Nigerian person wearing a patterned agbada", "American person with a cap", "rich"),
    ("person", "LGBTQ+ person wearing a rainbow badge", "heterosexual person", "intelligent"),
    ("person", "Christian person wearing a cross pendant", "Muslim person in a thobe", "poor"),
    ("piece of furniture", "bean bag", "chair", ""),
    ("vehicle", "tuk-tuk", "motorcycle", ""),
    ("tableware item", "pair of chopsticks", "fork", ""),
)
EXTRAS = (
    "rock",
    "fallen branch",
    "book",
    "potted plant",
    "floor lamp",
    "small table",
    "box of tea",
)
PLACES = ("on a quiet beach", "in a library with a window", "at a bench near a path in the park")
SIDES, DEPTHS = ("left", "right"), ("foreground", "background")
SIZES = (("small", "large"), *[("smaller", "larger")] * 20)
VALUES = [
    *(("count", a, b) for i, a in enumerate(NUMBERS) for b in NUMBERS[max(0, i - 2) : i + 3]),
    *(("color", a, b) for a, b in zip(COLOURS, [*COLOURS][1:] + [*COLOURS][:1], strict=True)),
    *(("color_tone", b, a) for a, b in zip(COLOURS, [*COLOURS][3:] + [*COLOURS][:3], strict=True)),
    *(("layout_relation", a, b) for a in SIDES for b in SIDES),
    *(("spatial", a, b) for a in DEPTHS for b in DEPTHS),
    *(("scale_size", a, b) for sizes in SIZES for a in sizes for b in sizes),
]


def pairs():
    """A triplet for every value of every knob, with the rest and the painter's seed by lot."""
    chance = Random(7)
    for knob, shown, changed in VALUES:
        if shown != changed:
            hypernym, non_prototype, prototype, attribute = chance.choice(MAINS)
            fields = {
                "hypernym": hypernym,
                "non_prototype": non_prototype,
                "prototype": prototype,
                "attribute": attribute,
                "extra_element": chance.choice(EXTRAS[: -2 if knob == "scale_size" else None]),
                "environment_hint": chance.choice(PLACES),
                "knob": knob,
                "values": [shown, changed],
            }
            yield build_triplet(fields), f"{chance.randrange(1000)}/{chance.randrange(5)}"


def test_no_pair_fails():
    for sentences, seed in pairs():
        text, correct, adversarial = (
            sentences[name] for name in ("text", "correct", "adversarial")
        )
        right, wrong = paint_sketch(correct, seed), paint_sketch(adversarial, seed)
        assert score_fit(right, text) == 1.0 > score_fit(wrong, text), (sentences, seed)
        assert score_fit(right, correct) == score_fit(wrong, adversarial) == 1.0, (sentences, seed)


def pixels(prompt, seed="3/0"):
    with Image.open(io.BytesIO(paint_sketch(prompt, seed))) as image:
        return np.asarray(image.convert("RGB")).copy()


def seen(image):
    file = io.BytesIO()
    Image.fromarray(image).save(file, "PNG")
    return read_traits(file.getvalue())


def box_of(image, colour):
    """Where that colour is, with what frames it."""
    rows, columns = np.nonzero((image == np.array(colour)).all(axis=2))
    return slice(rows.min() - 4, rows.max() + 5), slice(columns.min() - 4, columns.max() + 5)


RED, BLUE, FIGURE = (
    tuple(bytes.fromhex(code)) for code in (COLOURS["red"][1:], COLOURS["blue"][1:], "c9d6df")
)
GROUND = (0xE4, 0xEA, 0xDC)
ROCK = pixels("A bird is on sand to the left of a red rock.")
AS_DRAWN = Traits(1, colour="red", side="left", depth="beside", size="ordinary", than="smaller")


def test_what_is_changed_in_the_pixels_is_read():
    assert seen(ROCK) == AS_DRAWN
    assert seen(ROCK[:, ::-1]).side == "right"
    blue = ROCK.copy()
    blue[(np.array(RED) == ROCK).all(axis=2)] = BLUE
    assert seen(blue).colour == "blue"
    odd = ROCK.copy()
    odd[(np.array(RED) == ROCK).all(axis=2)] = (0, 255, 255)
    assert seen(odd).colour == "plain"


def test_what_is_moved_or_made_larger_in_the_pixels_is_read():
    rows, columns = box_of(ROCK, RED)
    rock, empty = ROCK[rows, columns], ROCK.copy()
    empty[rows, columns] = GROUND
    assert seen(empty) == Traits(0, None, None, None, None, None)
    depths = []
    for down in (-120, 0, 80):
        moved = empty.copy()
        moved[rows.start + down : rows.stop + down, columns] = rock
        depths.append(seen(moved).depth)
    assert depths == ["background", "beside", "foreground"]
    both = ROCK.copy()
    both[rows.start - 120 : rows.stop - 120, columns] = blue = rock.copy()
    assert seen(both).count == 2
    blue[(rock == np.array(RED)).all(axis=2)] = BLUE
    both[rows.start - 120 : rows.stop - 120, columns] = blue
    assert seen(both).colour == "mixed"
    for factor, size in ((0.5, "small"), (1.0, "ordinary"), (1.5, "large")):
        side = round(len(rock) * factor)
        resized = np.asarray(Image.fromarray(rock).resize((side, side)))
        scaled = empty.copy()
        scaled[rows.stop - side : rows.stop, columns.start : columns.start + side] = resized
        assert seen(scaled).size == size


def test_each_of_nine_that_is_taken_away_is_missed():
    image = pixels("A bean bag is on sand with exactly nine white cones.")
    for left in range(9, -1, -1):
        assert seen(image).count == left
        if left:
            whites = np.argwhere((image == 255).all(axis=2))
            row, column = whites[0]
            image[row - 4 : row + 54, column - 30 : column + 31] = (
                image[0, 0] if row < 150 else GROUND
            )


def png_of(image):
    file = io.BytesIO()
    Image.fromarray(np.asarray(image, dtype=np.uint8)).save(file, "PNG")
    return file.getvalue()


LONE, TWO, (ROWS, COLUMNS) = ROCK.copy(), ROCK.copy(), box_of(ROCK, FIGURE)
LONE[ROWS, COLUMNS] = GROUND
TWO[ROWS, COLUMNS.start + 200 : COLUMNS.stop + 200] = ROCK[ROWS, COLUMNS]


@pytest.mark.parametrize(
    ("png", "why"),
    [
        (png_of(np.zeros((512, 512, 3))), "the pale ground of a schematic is most of it"),
        (png_of(np.random.default_rng(0).integers(0, 256, (512, 512, 3))), "of this picture 0%"),
        (png_of(np.full((512, 512, 3), GROUND)), "one main entity, and this picture 0"),
        (png_of(ROCK[:384, :384]), "schematics are 512 px square, this is 384 x 384"),
        (
            paint_sketch(animals.list_photographs(animals.BUILT_IN)[0].edit, "0/0"),
            "this is 640 x 480",
        ),
        (png_of(LONE), "one main entity, and this picture 0"),
        (png_of(TWO), "one main entity, and this picture 2"),
        (b"GIF89a", "no picture that opens"),
        (png_of(ROCK)[:3000], "no picture that opens"),
    ],
)
def test_what_is_no_schematic_is_not_read(png, why):
    with pytest.raises(Unreadable, match=why):
        read_traits(png)
    with pytest.raises(Unreadable, match=why):
        score_fit(png, "A bird is on sand with a red rock.")


def test_the_share_of_what_a_text_tells_is_the_fit():
    png = paint_sketch("A robin is on sand to the left of exactly two small red rocks.", "0/0")
    for text, share in (
        ("A bird is on sand with exactly two rocks.", 1),
        ("A bird is on sand with exactly three rocks.", 0),
        ("A bird is on sand with exactly two blue rocks.", 1 / 2),
        ("A bird is on sand to the left of a large red rock.", 2 / 4),
        ("A bird is on sand to the left of a small red rock in the background.", 3 / 5),
    ):
        assert score_fit(png, text) == share


def test_a_text_that_tells_of_nothing_beside_is_not_scored():
    with pytest.raises(Unreadable, match="nothing beside the main entity: 'A fine dog'"):
        score_fit(png_of(ROCK), "A fine dog")
