"""The picture of a number: digits that cannot be guessed, in the colours that it names."""

from generators.canvas import decode_png
from generators.number_picture import COLOUR_NAMES, SIDE, draw_number

RGB = {
    "white": (255, 255, 255),
    "yellow": (255, 232, 0),
    "red": (176, 0, 32),
    "green": (0, 105, 43),
    "blue": (11, 59, 179),
    "purple": (106, 27, 154),
}


def test_the_picture_has_the_ink_and_the_ground_that_are_named():
    for seed in "abcdef":
        picture = draw_number(seed)
        pixels = decode_png(picture.png)
        assert pixels.shape == (SIDE, SIDE, 3)
        assert tuple(pixels[0, 0]) == RGB[picture.ground]
        inked = (pixels == RGB[picture.ink]).all(axis=2)
        assert 0.03 < inked.mean() < 0.2
        assert not inked[: SIDE // 4].any()
        assert picture.colours == f"{picture.ink} on {picture.ground}"
        assert {picture.ink, picture.ground} < COLOUR_NAMES


def test_numbers_have_four_different_digits_and_follow_from_the_seed():
    pictures = [draw_number(str(seed)) for seed in range(20)]
    assert all(len({*str(picture.number)}) == 4 for picture in pictures)
    assert len({picture.number for picture in pictures}) > 17
    assert len({picture.colours for picture in pictures}) > 4
    assert draw_number("7") == draw_number("7")
