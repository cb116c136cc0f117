"""Reading the schematics that `generators.sketch` draws back from their pixels.

The reader knows neither how they are drawn nor a picture's row: it gets a picture and a text. On a
pale ground stands one figure, the main entity; what stands beside it is the extra element. Letters
are too thin to be either.
"""

import io
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from generators.prompts.scenery import parse_scenery
from generators.prompts.vocabulary import COLOURS
from generators.reading import Pixels, Unreadable

SIDE = 512
"""The side of a schematic, in px."""
BACKDROPS = ((0xF4, 0xF1, 0xEA), (0xE4, 0xEA, 0xDC))
"""The colours of the air and of the ground, which together are most of a picture."""
MAIN, _PLAIN = (0xC9, 0xD6, 0xDF), (0xD9, 0xCF, 0xC0)
_SAME, _ALIKE = 6, 48
"""The largest differences of red, green or blue, of 255, from a backdrop that still belong to it,
and from a named colour that still have its name."""
_STEPS = (1, 2, 2)
_LETTER = 1 + sum(_STEPS)
"""The px that no stroke of a letter is wide."""
_LEVEL = 0.22
"""The least distance below or above the main entity, in its heights, of what is before or
behind."""
_ORDINARY = {"background": 0.195, "beside": 0.275, "foreground": 0.3}
"""The height of an ordinary thing in heights of the main entity."""

Side = Literal["left", "right"]
Depth = Literal["background", "beside", "foreground"]
Size = Literal["small", "ordinary", "large"]
Than = Literal["smaller", "larger"]


@dataclass(frozen=True, slots=True)
class Traits:
    """The visible traits of the extra element beside the main entity.

    `side` is the main entity's side, seen from the extra element. Without an extra element the
    count is 0 and all else None.
    """

    count: int
    colour: str | None
    """A name of `generators.prompts.vocabulary.COLOURS`, "plain" for none of these, or "mixed"."""
    side: Side | None
    depth: Depth | None
    size: Size | None
    than: Than | None
    """Its size against the main entity's."""


class _SketchShape(NamedTuple):
    """A thing of a picture: its middle, its foot and its height in px, and its colour's name."""

    x: float
    foot: float
    height: float
    colour: str


def read_traits(png: bytes) -> Traits:
    """Read the traits of a picture.

    Raises `Unreadable`, with the reason, for what is no schematic: a photograph, a blank picture,
    one of another size, or one in which no main entity stands, or two.
    """
    return read_pixel_traits(_decode_pixels(png))


def read_pixel_traits(pixels: Pixels) -> Traits:
    """Read the traits of `SIDE` px square; raises `Unreadable` as `read_traits` does."""
    shapes = _find_shapes(pixels)
    mains = [shape for shape in shapes if shape.colour == "main"]
    if len(mains) != 1:
        raise Unreadable(f"a schematic shows one main entity, and this picture {len(mains)}")
    [main], things = mains, [shape for shape in shapes if shape.colour != "main"]
    if not things:
        return Traits(count=0, colour=None, side=None, depth=None, size=None, than=None)
    colours = {thing.colour for thing in things}
    depth = _name_depth((max(thing.foot for thing in things) - main.foot) / main.height)
    middle = (min(thing.x for thing in things) + max(thing.x for thing in things)) / 2
    height = float(np.median([thing.height for thing in things])) / main.height
    return Traits(
        count=len(things),
        colour=colours.pop() if len(colours) == 1 else "mixed",
        side="left" if main.x < middle else "right",
        depth=depth,
        size=_name_size(height / _ORDINARY[depth]),
        than="smaller" if height < 1 else "larger",
    )


def score_fit(png: bytes, text: str) -> float:
    """The share of the traits told by the text that the picture shows: 1.0 if it shows all.

    The text tells a count ("a rock" is one), and a colour, a side, a depth or a size where it names
    one. Raises `Unreadable` as `read_traits` does, and for a text in which no extra element is
    understood.
    """
    described = parse_scenery(text)
    if described.extra is None:
        raise Unreadable(f"the text tells of nothing beside the main entity: {text!r}")
    traits = read_traits(png)
    agreements = [described.count == traits.count]
    for name in ("colour", "side", "depth", "size"):
        value = getattr(described, name)
        if value is not None:
            agreements.append(value in (getattr(traits, name), traits.than))
    return sum(agreements) / len(agreements)


def _decode_pixels(png: bytes) -> Pixels:
    try:
        with Image.open(io.BytesIO(png)) as image:
            if image.size != (SIDE, SIDE):
                width, height = image.size
                raise Unreadable(f"schematics are {SIDE} px square, this is {width} x {height}")
            return np.asarray(image.convert("RGB"))
    except (OSError, SyntaxError) as error:
        raise Unreadable(f"this is no picture that opens: {error}") from error


def _find_shapes(pixels: Pixels) -> list[_SketchShape]:
    """The things before the backdrop that are wider than a letter's stroke."""
    backdrop = match_colour(pixels, BACKDROPS[0], _SAME) | match_colour(pixels, BACKDROPS[1], _SAME)
    if backdrop.mean() < 0.5:
        share = f"{backdrop.mean():.0%}"
        raise Unreadable(f"the pale ground of a schematic is most of it, of this picture {share}")
    from scipy import ndimage  # noqa: PLC0415 - slow, and seldom needed

    areas, _ = ndimage.label(_shrink(_shrink(~backdrop).T).T)
    shapes = []
    for down, across in ndimage.find_objects(areas):
        foot, right = down.stop + _LETTER - 1, across.stop + _LETTER - 1
        height, width = foot - down.start, right - across.start
        inside = pixels[
            down.start + height // 4 : foot - height // 4,
            across.start + width // 4 : right - width // 4,
        ]
        shapes.append(
            _SketchShape(
                x=(across.start + right) / 2, foot=foot, height=height, colour=_name_colour(inside)
            )
        )
    return shapes


def match_colour(pixels: Pixels, colour: Iterable[int], tolerance: int) -> NDArray[np.bool_]:
    """Mark the pixels of which no channel is farther from a colour than `tolerance` levels."""
    bounds = [(max(value - tolerance, 0), min(value + tolerance, 255)) for value in colour]
    red, green, blue = (
        pixels[..., channel] - np.uint8(low) <= high - low
        for channel, (low, high) in enumerate(bounds)
    )
    return np.asarray(red & green & blue)


def _shrink(mask: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Mark the beginnings of columns of `_LETTER` px of the mask."""
    runs = mask
    for step in _STEPS:
        runs = runs[:-step] & runs[step:]
    return runs


_NAMED = {
    "main": MAIN,
    "plain": _PLAIN,
    **{name: tuple(bytes.fromhex(code[1:])) for name, code in COLOURS.items()},
}


def _name_colour(pixels: NDArray[np.uint8]) -> str:
    """The name that comes nearest to the median colour."""
    middle = np.median(pixels.reshape(-1, 3), axis=0)
    apart = {name: float(np.abs(middle - colour).max()) for name, colour in _NAMED.items()}
    nearest = min(apart, key=lambda name: apart[name])
    return nearest if apart[nearest] <= _ALIKE else "plain"


def _name_depth(below: float) -> Depth:
    if abs(below) < _LEVEL:
        return "beside"
    return "foreground" if below > 0 else "background"


def _name_size(height: float) -> Size:
    if height < 0.78:
        return "small"
    return "large" if height > 1.2 else "ordinary"
