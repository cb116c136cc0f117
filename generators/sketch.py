"""A painter by rule: the labelled schematic of a prompt.

It understands the sentences of `generators.prompts.triplet_grammar` and the prompts of
`generators.photographs`. Of any other prompt it draws the one labelled figure, and nothing that it
did not read. What it draws of a sentence, `generators.sketch_reader` reads back.
"""

import io
import re
from collections.abc import Iterator, Sequence
from functools import cache, lru_cache
from math import ceil, sqrt
from random import Random

from PIL import Image

from generators.canvas import decode_png, rasterise
from generators.entity_figures import INK, classify_entity, draw_entity
from generators.labels import draw_label
from generators.prompts.scenery import Scenery, parse_scenery
from generators.prompts.vocabulary import COLOURS
from generators.schematics import draw_schematic
from generators.tiles import Tile, create_sheet, encode_png, paste_tile, rasterise_tile

VERSION = 3
SIZE = 512
_AIR, _GROUND, _PLAIN = "#f4f1ea", "#e4eadc", "#d9cfc0"
_MAIN, _EXTRA = (126, 216), (366, 252)
"""Two columns, the main entity's at the left: the middle of each and the width of its label."""
_HORIZON, _FOOT = 200, 366
_SMALLER = {"small": 0.55, None: 1.0, "large": 1.4, "smaller": 1.4, "larger": 4.6}
_FARTHER = {"background": 0.7, None: 1.0, "foreground": 1.1}
_FEET = {"background": 226, None: _FOOT, "foreground": 442}
_RADIUS, _STROKE, _GAP = 26.0, 3, 6
_LABELS_KEPT = 512


def paint_sketch(prompt: str, seed: str, pictures: Sequence[bytes] = ()) -> bytes:
    """The PNG of a prompt; the seed moves things a little, as it does for all.

    It is `SIZE` px square but for the prompts of `generators.photographs`. `pictures` are the PNGs
    that an edit is given (see `generators.schematics`). Raises `generators.glyphs.MissingGlyph` for
    a prompt that cannot be written.
    """
    photograph = draw_schematic(prompt, seed, pictures)
    return (
        _encode_opaque(photograph)
        if photograph is not None
        else _paint_scene(parse_scenery(prompt), seed)
    )


def _encode_opaque(svg: str) -> bytes:
    """The PNG of an SVG without resvg's fourth channel: stores keep it as it is."""
    file = io.BytesIO()
    Image.fromarray(decode_png(rasterise(svg))).save(file, "PNG")
    return file.getvalue()


def _paint_scene(scenery: Scenery, seed: str) -> bytes:
    chance = Random(f"sketch/{seed}")
    horizon, main_is_left = _HORIZON + chance.randint(-15, 15), chance.random() < 0.5
    if scenery.side is not None:
        main_is_left = scenery.side == "left"
    (main_x, main_width), (extra_x, extra_width) = _MAIN, _EXTRA
    if not main_is_left:
        main_x, extra_x = SIZE - main_x, SIZE - extra_x
    if scenery.extra is None:
        main_x, main_width = SIZE // 2, SIZE - 40
    picture = Image.new("RGB", (SIZE, SIZE), _AIR)
    picture.paste(_GROUND, (0, horizon, SIZE, SIZE))
    x, y = main_x + chance.randint(-8, 8), _FOOT + chance.randint(-5, 5)
    paste_tile(picture, _load_entity(classify_entity(scenery.main)), x, y)
    name = re.sub(r"^(?:an?|the) (?=.)", "", scenery.main, flags=re.IGNORECASE)
    _paste_label(picture, _load_label(name, main_width, 4), x, y)
    if scenery.extra is not None:
        x, y = extra_x + chance.randint(-8, 8), _FEET[scenery.depth] + chance.randint(-5, 5)
        _paste_things(picture, scenery, x, y)
        _paste_label(picture, _load_label(scenery.extra, extra_width, 2), x, y)
    return encode_png(picture)


def _paste_things(picture: Image.Image, scenery: Scenery, x: int, y: int) -> None:
    """The extra elements, in the stated number."""
    fill = COLOURS[scenery.colour] if scenery.colour else _PLAIN
    thing = _load_thing(fill, _RADIUS * _SMALLER[scenery.size] * _FARTHER[scenery.depth])
    for across, up in _list_places(scenery.count):
        pitch = thing.width + _GAP
        paste_tile(picture, thing, x + round(across * pitch), y - up * pitch)


def _list_places(count: int) -> Iterator[tuple[float, int]]:
    """The places in a block of rows, from its middle to the right and from below."""
    columns = ceil(sqrt(count))
    for number in range(count):
        row, column = divmod(number, columns)
        in_row = min(columns, count - columns * row)
        yield column - (in_row - 1) / 2, row


def _paste_label(picture: Image.Image, text: Tile, x: int, y: int) -> None:
    """Put a label below what stands at x and y."""
    paste_tile(picture, text, x, y + 8 + text.height)


@lru_cache(_LABELS_KEPT)
def _load_label(text: str, width: int, lines: int) -> Tile:
    return rasterise_tile(draw_label(text, width=width, max_lines=lines, ink=INK))


@cache
def _load_entity(kind: str) -> Tile:
    return rasterise_tile(draw_entity(kind))


@cache
def _load_thing(fill: str, radius: float) -> Tile:
    across = ceil(2 * radius + _STROKE)
    drawing, middle = create_sheet(across, across), across / 2
    style = {"fill": fill, "stroke": INK, "stroke_width": _STROKE}
    drawing.add(drawing.circle((middle, middle), radius, **style))
    return rasterise_tile(drawing)
