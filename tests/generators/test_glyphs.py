"""Letters, digits and characters as outlines."""

from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import pytest
from fontTools.pens.boundsPen import BoundsPen
from fontTools.svgLib.path import parse_path
from hypothesis import given
from hypothesis import strategies as st

from generators import glyphs
from generators.canvas import create_canvas, decode_png, rasterise
from generators.glyphs import MissingGlyph, outline_text


def bounds(path):
    """Left, top, right and bottom of the ink, as SVG counts."""
    pen = BoundsPen(None)
    parse_path(path, pen)
    return pen.bounds


@pytest.mark.parametrize("text", ["A", "9", "12", "j", "車", "馬象士將砲卒俥相仕帥炮兵楚河漢界"])
@pytest.mark.parametrize(("anchor", "at"), [("start", 0), ("middle", 0.5), ("end", 1)])
def test_the_ink_stands_where_it_is_asked_to(text, anchor, at):
    left, top, right, bottom = bounds(outline_text(text, x=50, y=20, height=10, anchor=anchor))
    assert bottom - top == pytest.approx(10, abs=0.02)
    assert (top + bottom) / 2 == pytest.approx(20, abs=0.02)
    assert left + (right - left) * at == pytest.approx(50, abs=0.02)


@given(st.text("0123456789ABCDEFGHIJKL", min_size=1, max_size=4), st.floats(1, 200))
def test_any_label_is_as_high_as_asked(text, height):
    _, top, _, bottom = bounds(outline_text(text, x=0, y=0, height=height))
    assert bottom - top == pytest.approx(height, abs=0.01)
    assert top == pytest.approx(-bottom, abs=0.01)


def test_letters_stand_upright_and_read_from_the_left():
    drawing = create_canvas(40, 40)
    drawing.add(drawing.path(outline_text("L", x=20, y=20, height=30)))
    ink = decode_png(rasterise(drawing.tostring()))[..., 0] < 128
    assert ink[33].sum() > 2 * ink[8].sum() > 0
    left = ink[:, :20].sum()
    assert left > ink.sum() - left


def test_characters_follow_each_other_without_overlap():
    first = bounds(outline_text("1", x=0, y=0, height=10, anchor="start"))
    both = bounds(outline_text("12", x=0, y=0, height=10, anchor="start"))
    second = bounds(outline_text("2", x=0, y=0, height=10, anchor="start"))
    widths = (first[2] - first[0]) + (second[2] - second[0])
    assert widths < both[2] - both[0] < 2 * widths


def test_a_space_inside_a_text_is_kept():
    close = bounds(outline_text("AB", x=0, y=0, height=10))
    apart = bounds(outline_text("A B", x=0, y=0, height=10))
    assert apart[2] - apart[0] > close[2] - close[0]


@pytest.mark.parametrize("character", ["\U0001f984", "\ue000", "\u1e9e"])
def test_a_character_that_the_font_lacks_is_named_and_never_a_box(character):
    with pytest.raises(MissingGlyph, match=rf"U\+{ord(character):04X}"):
        outline_text(f"A{character}", x=0, y=0, height=10)


@pytest.mark.parametrize("text", ["", " ", "  "])
def test_a_text_without_ink_is_an_error(text):
    with pytest.raises(MissingGlyph, match="no ink"):
        outline_text(text, x=0, y=0, height=10)


def test_a_missing_font_package_is_named(monkeypatch):
    monkeypatch.setattr(glyphs, "find_spec", lambda name: None)
    with pytest.raises(MissingGlyph, match="matplotlib-fontja"):
        glyphs._load_font.__wrapped__()


def test_threads_that_begin_together_write_what_one_alone_does():
    texts = [f"penguin {number}" for number in range(8)]

    def write(text):
        begin.wait()
        return glyphs.outline_text(text, x=0, y=0, height=10), glyphs.measure_ink_box(text)

    begin = Barrier(1)
    alone = [write(text) for text in texts]
    begin = Barrier(len(texts))
    for _ in range(3):
        for unpacked in (glyphs._load_font, glyphs._find_glyph_name, glyphs._measure_ink):
            unpacked.cache_clear()
        with ThreadPoolExecutor(len(texts)) as threads:
            assert list(threads.map(write, texts)) == alone
