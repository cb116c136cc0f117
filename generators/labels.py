"""Labels: centred lines of about the same width, as large as fits."""

from math import ceil

import svgwrite

from generators.glyphs import ink_box, outline
from generators.tiles import sheet

_LARGEST, _LARGE, _SMALLEST = 21.0, 17.0, 14.0
"""Letters, in px an em: at most, without a further line for larger ones, and at least, but for a
single word that is wider than the label."""
_LINE_HEIGHT, _ABOVE_BASELINE, _SPACE = 1.2, 0.95, 0.4
"""In ems: from line to line, from a line's top to its baseline, and from word to word."""


def label(text: str, *, width: int, lines: int, ink: str) -> svgwrite.Drawing:
    """The text on a sheet `width` px wide and as high as its lines, at most so many.

    What does not fit in small letters is cut with an ellipsis. Raises
    `generators.glyphs.MissingGlyph` for a text that cannot be written.
    """
    written = _lines(text.split(), width, lines)
    em = min(_LARGEST, (width - 2) / max(map(_width, written)))
    drawing = sheet(width, ceil(len(written) * _LINE_HEIGHT * em))
    for number, line in enumerate(written):
        _, low, _, high = ink_box(line)
        baseline = (number * _LINE_HEIGHT + _ABOVE_BASELINE) * em
        middle = baseline - (low + high) / 2 * em
        letters = outline(line, x=width / 2, y=middle, height=(high - low) * em)
        drawing.add(drawing.path(letters, fill=ink))
    return drawing


def _lines(words: list[str], width: float, most: int) -> list[str]:
    """The fewest lines with large letters, else those with the largest."""
    broken = _broken(words, width / _SMALLEST)
    if len(broken) > most:
        return [*broken[: most - 1], f"{broken[most - 1]}…"]
    for number in range(1, most + 1):
        broken = _balanced(words, number)
        if max(map(_width, broken)) <= width / _LARGE:
            break
    return broken


def _balanced(words: list[str], lines: int) -> list[str]:
    """At most so many lines, the widest of them as narrow as it can be."""
    narrow, wide = 0.0, _width(" ".join(words)) + _SPACE * len(words)
    while wide - narrow > 0.1:
        room = (narrow + wide) / 2
        if len(_broken(words, room)) <= lines:
            wide = room
        else:
            narrow = room
    return _broken(words, wide)


def _broken(words: list[str], room: float) -> list[str]:
    """Lines of as many words as fit into `room` ems, or of a single word."""
    lines, left = [words[0]], room - _width(words[0])
    for word in words[1:]:
        left -= _SPACE + _width(word)
        if left >= 0:
            lines[-1] += f" {word}"
        else:
            lines.append(word)
            left = room - _width(word)
    return lines


def _width(text: str) -> float:
    left, _, right, _ = ink_box(text)
    return right - left
