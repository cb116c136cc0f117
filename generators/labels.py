"""Labels: centred lines of about the same width, as large as fits."""

from math import ceil

import svgwrite

from generators.glyphs import measure_ink_box, outline_text
from generators.tiles import create_sheet

_LARGEST, _LARGE_ENOUGH, _SMALLEST = 21.0, 17.0, 14.0
"""Letters, in px an em: at most, without a further line for larger ones, and at least, but for a
single word that is wider than the label."""
_LINE_HEIGHT, _ABOVE_BASELINE, _SPACE = 1.2, 0.95, 0.4
"""Distances in ems: from line to line, from a line's top to its baseline, and from word to word."""


def draw_label(text: str, *, width: int, max_lines: int, ink: str) -> svgwrite.Drawing:
    """The text on a sheet `width` px wide and as high as its lines, `max_lines` at most.

    What does not fit in small letters is cut with an ellipsis. Raises
    `generators.glyphs.MissingGlyph` for a text that cannot be written.
    """
    text_lines = _fit_lines(text.split(), width, max_lines)
    em = min(_LARGEST, (width - 2) / max(map(_measure_width, text_lines)))
    drawing = create_sheet(width, ceil(len(text_lines) * _LINE_HEIGHT * em))
    for number, line in enumerate(text_lines):
        _, min_y, _, max_y = measure_ink_box(line)
        baseline = (number * _LINE_HEIGHT + _ABOVE_BASELINE) * em
        middle = baseline - (min_y + max_y) / 2 * em
        letters = outline_text(line, x=width / 2, y=middle, height=(max_y - min_y) * em)
        drawing.add(drawing.path(letters, fill=ink))
    return drawing


def _fit_lines(words: list[str], width: float, max_lines: int) -> list[str]:
    """The fewest lines with large letters, else those with the largest."""
    broken = _break_lines(words, width / _SMALLEST)
    if len(broken) > max_lines:
        return [*broken[: max_lines - 1], f"{broken[max_lines - 1]}…"]
    for number in range(1, max_lines + 1):
        broken = _balance_lines(words, number)
        if max(map(_measure_width, broken)) <= width / _LARGE_ENOUGH:
            break
    return broken


def _balance_lines(words: list[str], max_lines: int) -> list[str]:
    """Break words into at most `max_lines` lines, the widest as narrow as it can be."""
    narrow, wide = 0.0, _measure_width(" ".join(words)) + _SPACE * len(words)
    while wide - narrow > 0.1:
        max_width = (narrow + wide) / 2
        if len(_break_lines(words, max_width)) <= max_lines:
            wide = max_width
        else:
            narrow = max_width
    return _break_lines(words, wide)


def _break_lines(words: list[str], max_width: float) -> list[str]:
    """Lines of as many words as fit into `max_width` ems, or of a single word."""
    lines, remaining = [words[0]], max_width - _measure_width(words[0])
    for word in words[1:]:
        remaining -= _SPACE + _measure_width(word)
        if remaining >= 0:
            lines[-1] += f" {word}"
        else:
            lines.append(word)
            remaining = max_width - _measure_width(word)
    return lines


def _measure_width(text: str) -> float:
    min_x, _, max_x, _ = measure_ink_box(text)
    return max_x - min_x
