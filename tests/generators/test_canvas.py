"""Pictures as SVG and their pixels."""

import io
import subprocess
import sys

import numpy as np
import pytest
from PIL import Image

from generators.canvas import RASTERISER, create_canvas, decode_png, rasterise


def test_one_unit_is_one_pixel_and_edges_stay_sharp():
    drawing = create_canvas(40, 30, background="#ff0000")
    drawing.add(drawing.rect((10, 5), (20, 8), fill="#0000ff"))
    pixels = decode_png(rasterise(drawing.tostring()))
    assert pixels.shape == (30, 40, 3)
    assert pixels.dtype == np.uint8
    blue = (pixels == [0, 0, 255]).all(axis=2)
    assert blue[5:13, 10:30].all()
    assert blue.sum() == 20 * 8
    assert (pixels[~blue] == [255, 0, 0]).all()


def test_a_picture_without_a_background_is_white_and_opaque():
    png = rasterise('<svg xmlns="http://www.w3.org/2000/svg" width="3" height="2"/>')
    with Image.open(io.BytesIO(png)) as image:
        assert np.asarray(image.convert("RGBA")).min() == 255


def test_a_half_covered_pixel_is_half_as_dark():
    drawing = create_canvas(4, 4)
    drawing.add(drawing.rect((1, 0), (1.5, 4), fill="#000000"))
    assert decode_png(rasterise(drawing.tostring()))[1, :, 0] == pytest.approx(
        [255, 0, 127.5, 255], abs=2
    )


def test_no_letter_comes_from_an_installed_font():
    drawing = create_canvas(100, 40)
    drawing.add(drawing.text("stars", (5, 30), font_size=30, font_family="DejaVu Sans"))
    assert decode_png(rasterise(drawing.tostring())).min() == 255


def test_the_same_svg_gives_the_same_bytes_in_another_process():
    drawing = create_canvas(64, 64)
    drawing.add(drawing.circle((32, 32), 20.3, fill="#123456"))
    svg = drawing.tostring()
    program = (
        "import sys; from generators.canvas import rasterise; "
        "sys.stdout.buffer.write(rasterise(sys.stdin.read()))"
    )
    run = subprocess.run(
        [sys.executable, "-c", program], input=svg.encode(), capture_output=True, check=True
    )
    assert run.stdout == rasterise(svg)


def test_pixels_of_an_image_with_a_palette_are_colours():
    file = io.BytesIO()
    Image.new("RGB", (2, 2), "#00ff00").quantize(2).save(file, "PNG")
    assert decode_png(file.getvalue()).tolist() == [[[0, 255, 0]] * 2] * 2


def test_the_rasteriser_is_named_with_its_version():
    name, version = RASTERISER.split()
    assert name == "resvg"
    assert version[0].isdigit()


def test_a_broken_svg_is_an_error():
    with pytest.raises(ValueError, match=r"\w+"):
        rasterise("<svg")
