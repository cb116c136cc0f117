"""Letters, digits and Chinese characters as outlines.

The outlines are taken from IPAexGothic, which arrives in the Python package
`matplotlib-fontja` (IPA Font License 1.0), so that no picture depends on a font that happens
to be installed.
"""

from functools import cache, lru_cache
from importlib.util import find_spec
from io import BytesIO
from pathlib import Path
from threading import RLock
from typing import Literal

from fontTools.misc.transform import Transform
from fontTools.pens.boundsPen import BoundsPen
from fontTools.pens.svgPathPen import SVGPathPen
from fontTools.pens.transformPen import TransformPen
from fontTools.ttLib import TTFont

Anchor = Literal["start", "middle", "end"]
_FONT_LOCK = RLock()
"""Held while the font is read, which unpacks glyphs at first use."""


class MissingGlyph(Exception):
    """The font has no outline for a character that a scene needs."""


@cache
def _load_font() -> TTFont:
    package = find_spec("matplotlib_fontja")
    if package is None or package.origin is None:
        raise MissingGlyph(
            "The package matplotlib-fontja, which carries the font, is not installed."
        )
    file = Path(package.origin).parent / "fonts" / "ipaexg.ttf"
    return TTFont(BytesIO(file.read_bytes()), lazy=True)


@cache
def _find_glyph_name(character: str) -> str:
    name = _load_font().getBestCmap().get(ord(character))
    if name is None:
        raise MissingGlyph(
            f"IPAexGothic has no glyph for {character!r} (U+{ord(character):04X}). "
            "Choose a character that it has; a box is never drawn instead."
        )
    return str(name)


@cache
def _measure_ink(text: str) -> tuple[float, float, float, float]:
    """Bounds of the inked part of `text` in font units: x from, y from, x to, y to."""
    bounds, glyphs, advance = [], _load_font().getGlyphSet(), 0.0
    for character in text:
        name = _find_glyph_name(character)
        pen = BoundsPen(glyphs)
        glyphs[name].draw(pen)
        if pen.bounds is not None:
            min_x, min_y, max_x, max_y = pen.bounds
            bounds.append((min_x + advance, min_y, max_x + advance, max_y))
        advance += glyphs[name].width
    if not bounds:
        raise MissingGlyph(f"{text!r} has no ink to draw.")
    lefts, lows, rights, highs = zip(*bounds, strict=True)
    return min(lefts), min(lows), max(rights), max(highs)


def measure_ink_box(text: str) -> tuple[float, float, float, float]:
    """Bounds of the ink of `text` in ems: x from, y from, x to, y to, from its baseline's start.

    Raises `MissingGlyph` for a character that the font lacks.
    """
    with _FONT_LOCK:
        em = _load_font()["head"].unitsPerEm
        min_x, min_y, max_x, max_y = _measure_ink(text)
    return min_x / em, min_y / em, max_x / em, max_y / em


def outline_text(text: str, *, x: float, y: float, height: float, anchor: Anchor = "middle") -> str:
    """The SVG path data of `text`, `height` units from the lowest to the highest ink.

    `x` is the left end, the middle or the right end of the ink as `anchor` says, `y` its
    vertical middle. Raises `MissingGlyph` for a character that the font lacks.
    """
    with _FONT_LOCK:
        return _build_outline(text, x, y, height, anchor)


# Pictures of one layout have the same letters in the same places, and other trials the same label.
@lru_cache(4096)
def _build_outline(text: str, x: float, y: float, height: float, anchor: Anchor) -> str:
    min_x, min_y, max_x, max_y = _measure_ink(text)
    scale = height / (max_y - min_y)
    shift = {"start": min_x, "middle": (min_x + max_x) / 2, "end": max_x}[anchor]
    to_canvas = Transform(scale, 0, 0, -scale, x - shift * scale, y + (min_y + max_y) / 2 * scale)
    glyphs, advance = _load_font().getGlyphSet(), 0.0
    pen = SVGPathPen(glyphs, ntos=lambda number: f"{number:.3f}".rstrip("0").rstrip("."))
    for character in text:
        name = _find_glyph_name(character)
        glyphs[name].draw(TransformPen(pen, to_canvas.translate(advance, 0)))
        advance += glyphs[name].width
    return str(pen.getCommands())
