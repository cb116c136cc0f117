"""A picture of four digits in one colour on another: what only those can say who see it."""

import random
from typing import NamedTuple

from generators.canvas import create_canvas, rasterise
from generators.glyphs import outline_text

SIDE = 320
"""Width and height in px."""

NUMBER_QUESTION = (
    "Which number is written in the picture? Answer with a number in curly brackets, e.g., {7305}."
)
COLOUR_QUESTION = (
    "Which colour has the number in the picture, and which colour is behind it? Answer in curly "
    "brackets, e.g., {grey on brown}."
)

_INKS = {"white": "#ffffff", "yellow": "#ffe800"}
_GROUNDS = {"red": "#b00020", "green": "#00692b", "blue": "#0b3bb3", "purple": "#6a1b9a"}
COLOUR_NAMES = frozenset({*_INKS, *_GROUNDS, "black", "orange", "pink", "cyan"})
"""Colours that an answer may name, without those of the question's example."""


class NumberPicture(NamedTuple):
    """The PNG, its number, and the names of its two colours."""

    png: bytes
    number: int
    ink: str
    ground: str

    @property
    def colours(self) -> str:
        """Both colours, as in "white on blue"."""
        return f"{self.ink} on {self.ground}"


def draw_number(seed: str) -> NumberPicture:
    """Draw a number from 1000 to 9999, with four different digits, and colours by the seed.

    Black on white, the first guess of one who sees nothing, is never drawn.
    """
    rng = random.Random(f"number picture {seed}")
    first = rng.choice("123456789")
    digits = first + "".join(rng.sample([digit for digit in "0123456789" if digit != first], 3))
    ink, ground = rng.choice([*_INKS]), rng.choice([*_GROUNDS])
    drawing = create_canvas(SIDE, SIDE, _GROUNDS[ground])
    outline = outline_text(digits, x=SIDE / 2, y=SIDE / 2, height=SIDE / 4)
    drawing.add(drawing.path(d=outline, fill=_INKS[ink]))
    return NumberPicture(rasterise(drawing.tostring()), int(digits), ink, ground)
