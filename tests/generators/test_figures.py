"""Vector figures: the right size, one page, and the same picture as the pixels."""

import re
import zlib
from xml.etree import ElementTree

import cairosvg
import numpy as np
import pytest

from generators.canvas import decode_png, rasterise
from generators.domains import SizeOutOfRange, UnknownDomain, load_domains
from generators.vector_figures import UnknownScene, draw_figure, find_scene

STARS = "flags/united-states-stars-add"


@pytest.mark.parametrize("size", [384, 1152])
def test_an_svg_states_its_size(size):
    picture = ElementTree.fromstring(draw_figure(find_scene(STARS, 0), size, "svg"))
    assert picture.tag == "{http://www.w3.org/2000/svg}svg"
    assert max(float(picture.get("width")), float(picture.get("height"))) == size


def test_an_svg_is_what_the_pixels_come_from():
    svg = draw_figure(find_scene(STARS, 0), 384, "svg").decode()
    assert max(decode_png(rasterise(svg)).shape) == 384


def test_a_pdf_is_one_page_of_the_right_size():
    pdf = draw_figure(find_scene(STARS, 0), 1152, "pdf")
    assert pdf.startswith(b"%PDF-")
    whole = pdf + b"".join(_streams(pdf))
    assert len(re.findall(rb"/Type\s*/Page\b", whole)) == 1
    left, low, right, high = map(
        float, re.search(rb"/MediaBox\s*\[([^\]]*)\]", whole).group(1).split()
    )
    assert (left, low) == (0, 0)
    assert max(right, high) == 1152 * 72 / 96


@pytest.mark.parametrize("name", load_domains())
def test_an_independent_renderer_shows_the_same_picture(name):
    drawing = load_domains()[name].draw_module
    for scene in drawing.list_scenes(0)[::6]:
        svg = drawing.draw(scene, 384)
        ours = decode_png(rasterise(svg)).astype(int)
        cairo = decode_png(cairosvg.svg2png(svg.encode(), background_color="white")).astype(int)
        assert ours.shape == cairo.shape
        difference = np.abs(ours - cairo).max(axis=2)
        assert (difference > 64).mean() < 0.001, scene.base_id
        assert (difference > 128).sum() == 0, scene.base_id


def test_an_unknown_scene_names_the_nearest():
    with pytest.raises(UnknownScene, match=rf"Did you mean: {STARS},"):
        find_scene(STARS[:-1], 0)
    with pytest.raises(UnknownDomain, match="Choose from: chess_pieces, flags"):
        find_scene("flag/united-states", 0)


def test_a_size_too_small_is_an_error():
    with pytest.raises(SizeOutOfRange):
        draw_figure(find_scene(STARS, 0), 10, "pdf")


def _streams(pdf):
    """The compressed streams, in which a PDF from 1.5 on keeps its objects."""
    for packed in re.findall(rb"stream\r?\n(.*?)\r?\nendstream", pdf, re.DOTALL):
        try:
            yield zlib.decompress(packed)
        except zlib.error:
            continue
