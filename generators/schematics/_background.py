"""Background of schematics: ground, sky and the label."""

from random import Random

import svgwrite

from generators.glyphs import measure_ink_box, outline_text

WIDTH, HEIGHT = 768, 576
"""The units that everything is placed in."""
PIXELS = (640, 480)
GROUND = 430.0
INK = "#333333"
_LARGEST, _LONGEST = 26.0, 44


def create_sheet(background: str) -> svgwrite.Drawing:
    """An empty drawing, `WIDTH` x `HEIGHT` units on `PIXELS` px."""
    drawing = svgwrite.Drawing(size=PIXELS, profile="tiny", debug=False)
    drawing.viewbox(0, 0, WIDTH, HEIGHT)
    drawing.add(drawing.rect((0, 0), (WIDTH, HEIGHT), fill=background))
    return drawing


def create_outdoors(chance: Random, ground: str = "#cfdcbb") -> svgwrite.Drawing:
    """A sky with a sun and a hill, and the ground."""
    drawing = create_sheet("#e3eef3")
    sun = (chance.uniform(60, 160), chance.uniform(60, 100))
    drawing.add(drawing.circle(sun, 34, fill="#f6dc8c"))
    hill = (chance.uniform(150, WIDTH - 150), GROUND + 20)
    drawing.add(drawing.ellipse(hill, (330, 110), fill="#c3d6c0"))
    drawing.add(drawing.rect((0, GROUND), (WIDTH, HEIGHT - GROUND), fill=ground))
    return drawing


def add_label(drawing: svgwrite.Drawing, text: str) -> None:
    """Write what is shown on a strip along the lower edge.

    Raises `generators.glyphs.MissingGlyph` for a text that cannot be written.
    """
    shown_text = text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"
    letters = _outline_letters(shown_text)
    drawing.add(drawing.rect((0, HEIGHT - 52), (WIDTH, 52), fill="#f4f1ea"))
    drawing.add(drawing.path(letters, fill=INK))


def _outline_letters(shown_text: str) -> str:
    min_x, min_y, max_x, max_y = measure_ink_box(shown_text)
    em = min(_LARGEST, (WIDTH - 40) / (max_x - min_x))
    return outline_text(shown_text, x=WIDTH / 2, y=HEIGHT - 26, height=em * (max_y - min_y))
