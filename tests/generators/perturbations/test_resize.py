"""Images at other sizes."""

import io

import numpy as np
import pytest
from PIL import Image, PngImagePlugin

from generators.canvas import decode_png
from generators.perturbations.resize import ResizeJob, resize_png


def resized(source, longer):
    return resize_png(ResizeJob(source, longer))


def png(width, height, mode="RGB", **save):
    ramp = np.linspace(0, 255, width * height).reshape(height, width).astype(np.uint8)
    file = io.BytesIO()
    Image.fromarray(ramp).convert(mode).save(file, "PNG", **save)
    return file.getvalue()


@pytest.mark.parametrize(
    ("source", "longer", "size"),
    [
        ((1536, 1024), 384, (384, 256)),
        ((1536, 1024), 768, (768, 512)),
        ((1024, 1536), 1152, (768, 1152)),
        ((640, 480), 1152, (1152, 864)),
        ((1000, 667), 384, (384, 256)),
        ((700, 700), 700, (700, 700)),
        ((4000, 2), 384, (384, 1)),
    ],
)
def test_both_sides_change_by_one_factor_and_the_longer_is_exact(source, longer, size):
    with Image.open(io.BytesIO(resized(png(*source), longer))) as image:
        assert image.size == size


def test_the_result_is_an_rgb_png_that_says_nothing_else():
    notes = PngImagePlugin.PngInfo()
    notes.add_text("prompt", "secret")
    source = png(300, 200, pnginfo=notes, dpi=(72, 72))
    assert b"secret" in source
    for longer in (150, 300, 600):
        result = resized(source, longer)
        with Image.open(io.BytesIO(result)) as image:
            assert (image.format, image.mode, image.info) == ("PNG", "RGB", {})
        assert b"secret" not in result


def test_grey_images_become_rgb():
    with Image.open(io.BytesIO(resized(png(300, 200, mode="L"), 150))) as image:
        assert image.mode == "RGB"


def test_the_same_image_gives_the_same_bytes():
    assert resized(png(300, 200), 150) == resized(png(300, 200), 150)


def test_an_image_of_that_size_keeps_its_pixels():
    source = png(300, 200)
    assert (decode_png(resized(source, 300)) == decode_png(source)).all()


def test_what_was_seen_is_seen_in_its_place():
    """A square of red in the lower right stays there, at a third of its size."""
    image = Image.new("RGB", (600, 300), "white")
    image.paste((255, 0, 0), (450, 150, 540, 240))
    file = io.BytesIO()
    image.save(file, "PNG")
    small = decode_png(resized(file.getvalue(), 200))
    assert tuple(small[65, 165]) == (255, 0, 0)
    red = (small[..., 1] < 128).sum()
    assert 850 <= red <= 950
