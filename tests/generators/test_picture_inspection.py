"""Pictures that show nothing or no change, beside those that nearly do."""

import io
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from generators.picture_inspection import inspect_picture, is_unchanged, measure_white_border

PHOTOGRAPHS = sorted((Path(__file__).parents[2] / "photographs").glob("*.jpg"))


def encode(pixels, file_format="PNG", **options):
    file = io.BytesIO()
    Image.fromarray(pixels).save(file, file_format, **options)
    return file.getvalue()


def grey(height=30, width=20):
    return np.full((height, width, 3), 120, dtype=np.uint8)


@pytest.mark.parametrize(
    ("levels", "blank"), [(0, "of one colour"), (4, "of one colour"), (5, None)]
)
def test_a_picture_is_blank_up_to_the_noise_of_jpeg(levels, blank):
    pixels = grey()
    pixels[3, 4, 1] += levels
    assert inspect_picture(encode(pixels)).blank == blank


@pytest.mark.parametrize(("lightest", "blank"), [(16, "black"), (17, None)])
def test_a_picture_is_black_up_to_16_levels(lightest, blank):
    pixels = grey() * 0
    pixels[3, 4, 1] = lightest
    assert inspect_picture(encode(pixels)).blank == blank


def test_a_border_is_white_where_all_levels_are_from_245_on():
    pixels = np.full((30, 20, 3), 245, dtype=np.uint8)
    pixels[10:20, 5:15] = 0  # within: no pixel of the border
    assert measure_white_border(encode(pixels)) == 1
    pixels[0, :4, 2] = 244
    pixels[9, -1, 0] = pixels[-1, 7, 1] = 0
    assert measure_white_border(encode(pixels)) == (96 - 6) / 96


def test_pixels_are_the_same_in_two_encodings_and_not_in_another_shape():
    first, second = (encode(grey(), compress_level=level) for level in (0, 9))
    assert first != second
    assert inspect_picture(first) == inspect_picture(second)
    turned = inspect_picture(encode(grey(20, 30)))
    assert turned.pixels != inspect_picture(first).pixels
    assert inspect_picture(first)[:2] == (20, 30)


@pytest.mark.parametrize("path", PHOTOGRAPHS, ids=lambda path: path.stem)
def test_a_photograph_saved_as_a_fine_jpeg_is_unchanged_and_a_line_on_it_is_a_change(path):
    with Image.open(path) as image:
        image.thumbnail((256, 256))
        pixels = np.asarray(image.convert("RGB"))
    original = encode(pixels)
    assert is_unchanged((original, original))
    assert is_unchanged((original, encode(pixels, "JPEG", quality=95, subsampling=0)))
    assert not is_unchanged((original, encode(pixels, "JPEG", quality=30)))
    marked = pixels.astype(int)
    column = marked[40:48, 51]
    column += np.where(column.mean(axis=0) < 128, 20, -20)
    assert not is_unchanged((original, encode(marked.astype(np.uint8))))


@pytest.mark.parametrize(
    ("area", "levels", "unchanged"),
    [
        ((slice(0, 1), slice(0, 1)), 24, True),
        ((slice(0, 1), slice(0, 1)), 25, False),
        ((slice(0, 8), slice(8, 16)), 2, True),
        ((slice(0, 8), slice(8, 16)), 3, False),
        # The last block has 6 × 4 px: eight of them by 6 levels are 48 / 24 = 2 in its mean.
        ((slice(24, 26), slice(16, 20)), 6, True),
        ((slice(24, 26), slice(16, 20)), 7, False),
    ],
)
def test_bounds_of_a_pixel_and_of_a_block(area, levels, unchanged):
    for sign in (1, -1):
        changed = grey().astype(int)
        changed[(*area, 2)] += sign * levels
        assert is_unchanged((encode(grey()), encode(changed.astype(np.uint8)))) is unchanged


def test_pictures_of_two_sizes_differ():
    assert not is_unchanged((encode(grey()), encode(grey(20, 30))))
