"""Text on a picture: white letters with a dark edge, which any background leaves legible.

Lines break between words, and inside a word that is wider than the picture. Letters get smaller
until all lines fit.
"""

from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import chain
from math import ceil
from typing import Literal, get_args

import numpy as np
from PIL import Image

from generators.glyphs import MissingGlyph, measure_ink_box, outline_text
from generators.perturbations.subject import Inapplicable
from generators.reading import Pixels
from generators.tiles import Tile, create_sheet, rasterise_tile

Position = Literal["bottom-right", "bottom-left", "top-right", "top-left", "center"]
POSITIONS: tuple[Position, ...] = get_args(Position)

_DESIGN_SIDE = 1024
"""The longer side in px of a picture on which letters have the size that is asked for."""
_LINE_HEIGHT, _ABOVE_BASELINE, _SPACE, _MARGIN, _EDGE = 1.35, 1.0, 0.4, 0.5, 0.08
"""Distances in ems: from line to line, from a line's top to its baseline, between words, to the
picture's edge, and how far the dark edge reaches out of a letter."""
_SMALLEST, _SHRINKING = 4.0, 0.92
"""The smallest em in px, and the factor it is multiplied by while the text does not fit."""
_AREA = 12
"""The least area in px of a letter: a text of more letters is not tried at all."""
_LONGEST, _WORDS_KEPT = 200, 2048
"""Letters of a word that are looked at together, and words whose pictures are kept."""


def write_text(pixels: Pixels, text: str, position: Position, size: float) -> Pixels:
    """The picture with `text` at a position, `size` px an em where its longer side is 1024 px.

    Raises `Inapplicable` for a text that the font cannot write, or that does not fit even with
    letters of 4 px.
    """
    height, width, _ = pixels.shape
    try:
        lines, em = _fit_text(text, width, height, size * max(width, height) / _DESIGN_SIDE)
        picture = Image.fromarray(pixels)
        _paste_lines(picture, lines, em, position)
    except MissingGlyph as missing:
        raise Inapplicable(f"Text: {missing}") from None
    return np.asarray(picture)


def _fit_text(text: str, width: int, height: int, em: float) -> tuple[list[list[str]], float]:
    em = max(em, _SMALLEST)
    while em >= _SMALLEST and len(text) * _AREA < width * height:
        max_width = width / em - 2 * _MARGIN
        lines = list(_break_lines(text.split(), max_width)) if max_width > 1 else []
        if lines and (len(lines) * _LINE_HEIGHT + 2 * _MARGIN) * em <= height:
            return lines, em
        em *= _SHRINKING
    raise Inapplicable(
        f"Text: {len(text)} characters do not fit into a picture of {width}x{height} px. "
        "Choose a larger picture or a shorter text."
    )


def _break_lines(words: Sequence[str], max_width: float) -> Iterator[list[str]]:
    """The words of each line, at most `max_width` ems wide."""
    line: list[str] = []
    remaining = max_width
    for word in chain.from_iterable(_break_word(word, max_width) for word in words):
        word_width = _measure_width(word)
        if line and word_width > remaining:
            yield line
            line, remaining = [], max_width
        line.append(word)
        remaining -= word_width + _SPACE
    yield line


def _break_word(word: str, max_width: float) -> Iterator[str]:
    """The word, or the longest pieces of it that fit."""
    while word:
        length = (
            1 if _measure_width(word[:_LONGEST]) > max_width or len(word) > _LONGEST else len(word)
        )
        while length < min(len(word), _LONGEST) and _measure_width(word[: length + 1]) <= max_width:
            length += 1
        yield word[:length]
        word = word[length:]


def _measure_width(word: str) -> float:
    min_x, _, max_x, _ = measure_ink_box(word)
    return max_x - min_x + 2 * _EDGE


def _paste_lines(
    picture: Image.Image, lines: Sequence[Sequence[str]], em: float, position: Position
) -> None:
    margin, step = _MARGIN * em, _LINE_HEIGHT * em
    text_height = len(lines) * step
    top = {"t": margin, "b": picture.height - margin - text_height}.get(
        position[0], (picture.height - text_height) / 2
    )
    for number, line in enumerate(lines):
        line_width = (sum(map(_measure_width, line)) + _SPACE * (len(line) - 1)) * em
        spare = picture.width - line_width
        left_x = margin if position.endswith("left") else spare - margin
        x = spare / 2 if position == "center" else left_x
        for word in line:
            letters = _draw_word(word, em)
            picture.paste(letters, (round(x), round(top + number * step)), letters)
            x += (_measure_width(word) + _SPACE) * em


@lru_cache(_WORDS_KEPT)
def _draw_word(word: str, em: float) -> Tile:
    min_x, min_y, max_x, max_y = measure_ink_box(word)
    drawing = create_sheet(ceil((max_x - min_x + 2 * _EDGE) * em), ceil(_LINE_HEIGHT * em))
    middle = (_ABOVE_BASELINE - (min_y + max_y) / 2) * em
    letters = outline_text(
        word, x=_EDGE * em, y=middle, height=(max_y - min_y) * em, anchor="start"
    )
    edge = {"stroke": "#000000", "stroke_width": 2 * _EDGE * em, "stroke_linejoin": "round"}
    drawing.add(drawing.path(letters, fill="#000000", **edge))
    drawing.add(drawing.path(letters, fill="#ffffff"))
    return rasterise_tile(drawing)
