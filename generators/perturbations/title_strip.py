"""The subject's name written above a picture (VLMBias, section 4.7).

The picture itself keeps every pixel: a white strip with black letters is added on top of it.
"""

import io
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from PIL import Image

from generators.canvas import create_canvas, decode_png, rasterise
from generators.glyphs import measure_ink_box, outline_text
from generators.reading import Pixels

_LETTERS_A_SIDE = 16
"""The longer side of a picture in ems: letters are 24 px at 384 px."""

_LINE_HEIGHT, _ABOVE_BASELINE, _MARGIN = 1.25, 0.97, 0.5
"""Distances in ems: from line to line, from a line's top to its baseline, and around the text."""


@dataclass(frozen=True, slots=True)
class TitleJob:
    """An image, and the title to write above it."""

    png: bytes
    title: str


def title_png(titling: TitleJob) -> bytes:
    """The PNG of the image below its title."""
    file = io.BytesIO()
    Image.fromarray(add_title(decode_png(titling.png), titling.title)).save(file, "PNG")
    return file.getvalue()


def add_title(pixels: Pixels, title: str) -> Pixels:
    """The picture below a strip that says `title`: (H + strip) x W x 3 values of uint8.

    A title that is wider than the picture goes on in a next line; a single word that is wider
    makes all letters smaller. Raises `MissingGlyph` for a character that the font lacks.
    """
    height, width, _ = pixels.shape
    em = max(height, width) / _LETTERS_A_SIDE
    max_width = width - 2 * _MARGIN * em
    em *= min(1.0, max_width / max(_measure_width(word, em) for word in title.split()))
    strip = _draw_strip(list(_break_lines(title.split(), em, max_width)), width, em)
    return np.concatenate([strip, pixels])


def _break_lines(words: list[str], em: float, max_width: float) -> Iterator[str]:
    line = words[0]
    for word in words[1:]:
        if _measure_width(f"{line} {word}", em) <= max_width:
            line = f"{line} {word}"
        else:
            yield line
            line = word
    yield line


def _measure_width(text: str, em: float) -> float:
    min_x, _, max_x, _ = measure_ink_box(text)
    return (max_x - min_x) * em


def _draw_strip(lines: list[str], width: int, em: float) -> Pixels:
    drawing = create_canvas(width, round((len(lines) * _LINE_HEIGHT + _MARGIN) * em))
    for number, line in enumerate(lines):
        _, min_y, _, max_y = measure_ink_box(line)
        baseline = (_MARGIN / 2 + number * _LINE_HEIGHT + _ABOVE_BASELINE) * em
        middle = baseline - (min_y + max_y) / 2 * em
        letters = outline_text(line, x=width / 2, y=middle, height=(max_y - min_y) * em)
        drawing.add(drawing.path(letters, fill="#000000"))
    return decode_png(rasterise(drawing.tostring()))
