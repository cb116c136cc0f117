"""A painter by rule: the schematic of a prompt, labelled, with no claim to likeness.

It understands the sentences of `generators.prompts.grammar` and the prompts of
`generators.photographs`. Of any other prompt it draws the one labelled figure, and nothing that it
did not read.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from random import Random

import svgwrite

from generators.canvas import canvas
from generators.glyphs import ink_box, outline
from generators.prompts.words import COLOURS, NUMBERS
from generators.schematics import schematic

VERSION = 2
SIZE = 512
_INK, _FIGURE, _PLAIN = "#333333", "#c9d6df", "#d9cfc0"
_LONGEST_LABEL, _LARGEST_LETTERS = 40, 24.0


@dataclass(frozen=True, slots=True)
class Scenery:
    """What a prompt says: the main entity, and the extra element's name and traits.

    None is what it does not say. `side` is where the main entity is, seen from the extra element.
    """

    main: str
    extra: str | None = None
    count: int = 1
    colour: str | None = None
    side: str | None = None
    depth: str | None = None
    size: str | None = None


_SENTENCE = re.compile(
    r"(?P<main>.+?) is (?:.+ )?(?:with |to the (?P<side>left|right) of )"
    rf"(?:exactly (?P<count>{'|'.join(NUMBERS)})|an?)(?: (?P<size>small|large))?"
    rf"(?: (?P<colour>{'|'.join(COLOURS)}))? (?P<extra>.+?)"
    r"(?: in the (?P<depth>foreground|background))?\.?"
)


def understand(prompt: str) -> Scenery:
    """What the words of `prompt` say."""
    found = _SENTENCE.fullmatch(" ".join(prompt.split()))
    if found is None:
        return Scenery(main=" ".join(prompt.split()))
    said = found.groupdict()
    count = NUMBERS.index(said.pop("count") or "one") + 1
    return Scenery(count=count, **said)


def draw(prompt: str, seed: str, pictures: Sequence[bytes] = ()) -> str:
    """The SVG of a prompt; the seed moves things a little, as it does for all.

    It is `SIZE` px square but for the prompts of `generators.photographs`. `pictures` are the PNGs
    that an edit is given (see `generators.schematics`). Raises `generators.glyphs.MissingGlyph` for
    a prompt that cannot be written.
    """
    photograph = schematic(prompt, seed, pictures)
    if photograph is not None:
        return photograph
    scenery, chance = understand(prompt), Random(f"sketch/{seed}")
    shift, main_is_left = chance.uniform(-12, 12), chance.random() < 0.5
    if scenery.side is not None:
        main_is_left = scenery.side == "left"
    left, right = 0.29 * SIZE + shift, 0.71 * SIZE + shift
    main_x, extra_x = (left, right) if main_is_left else (right, left)
    if scenery.extra is None:
        main_x = SIZE / 2 + shift
    drawing = canvas(SIZE, SIZE, "#f4f1ea")
    drawing.add(drawing.rect((0, SIZE * 0.5), (SIZE, SIZE * 0.5), fill="#e4eadc"))
    if scenery.extra is not None and scenery.depth != "foreground":
        _extra(drawing, scenery, scenery.extra, extra_x)
    _figure(drawing, scenery.main, main_x, wide=scenery.extra is None)
    if scenery.extra is not None and scenery.depth == "foreground":
        _extra(drawing, scenery, scenery.extra, extra_x)
    return str(drawing.tostring())


def _figure(drawing: svgwrite.Drawing, name: str, x: float, *, wide: bool) -> None:
    """The main entity: a body and a head, alike for all."""
    drawing.add(drawing.ellipse((x, 290), (62, 84), fill=_FIGURE, stroke=_INK, stroke_width=3))
    drawing.add(drawing.circle((x, 180), 40, fill=_FIGURE, stroke=_INK, stroke_width=3))
    _label(drawing, name, x, 398, 460 if wide else 196)


def _extra(drawing: svgwrite.Drawing, scenery: Scenery, name: str, x: float) -> None:
    """The extra element, as often as it is said, in rows of three."""
    nearness = {"foreground": 1.3, "background": 0.6}.get(scenery.depth or "", 1.0)
    scale = nearness * {"small": 0.6, "large": 1.7}.get(scenery.size or "", 1.0)
    ground = {"foreground": 440.0, "background": 252.0}.get(scenery.depth or "", 380.0)
    fill, radius = COLOURS[scenery.colour] if scenery.colour else _PLAIN, 27 * scale
    for place in range(scenery.count):
        row, column = divmod(place, 3)
        in_row = min(3, scenery.count - 3 * row)
        centre = (x + (column - (in_row - 1) / 2) * 64, ground - radius - row * 64)
        drawing.add(drawing.circle(centre, radius, fill=fill, stroke=_INK, stroke_width=3))
    _label(drawing, name, x, ground + 18, 196)


def _label(drawing: svgwrite.Drawing, text: str, x: float, y: float, width: float) -> None:
    shown = text if len(text) <= _LONGEST_LABEL else f"{text[: _LONGEST_LABEL - 1]}…"
    left, low, right, high = ink_box(shown)
    em = min(_LARGEST_LETTERS, width / (right - left))
    drawing.add(drawing.path(outline(shown, x=x, y=y, height=em * (high - low)), fill=_INK))
