"""The true difference in an optical illusion, read from its pixels.

A reading is a difference, 0 where the parts are equal; its sign is Pyllusion's:

- inner circle areas (Ebbinghaus): larger over smaller, less 1; positive if the left is larger;
- horizontal line lengths (Müller-Lyer and Ponzo, which of them the picture itself tells):
  longer over shorter, less 1; positive if the upper one is longer;
- vertical and horizontal line lengths: likewise; positive if the vertical is longer;
- horizontal line directions (Zöllner): the angle between the lines in degrees; positive if they
  open to the right;
- diagonal line alignment (Poggendorff): the height of the right line's continuation above the
  left one's, with the rectangle 1.75 high; positive if it passes above.
"""

from collections.abc import Callable, Mapping, Sequence

from generators.domains.optical_illusions._ebbinghaus import measure_ebbinghaus
from generators.domains.optical_illusions._ink import FigureReading, InkPiece, find_pieces
from generators.domains.optical_illusions._lengths import (
    measure_horizontal_lines,
    measure_inverted_t,
)
from generators.domains.optical_illusions._slants import measure_poggendorff, measure_zollner
from generators.reading import Legibility, Pixels, Unreadable

VERSION = "1"

TOLERANCE: Mapping[str, float] = {
    "difference of inner circle areas (ratio - 1)": 0.05,
    "difference of horizontal line lengths (ratio - 1)": 0.015,
    "difference of line lengths (ratio - 1)": 0.03,
    "angle between the horizontal lines (degrees)": 0.4,
    "offset of the diagonal lines (canvas units)": 0.01,
}
"""The largest error of a reading at 384 px and above, by target."""

_READERS: Mapping[str, Callable[[Sequence[InkPiece]], FigureReading]] = {
    "difference of inner circle areas (ratio - 1)": measure_ebbinghaus,
    "difference of horizontal line lengths (ratio - 1)": measure_horizontal_lines,
    "difference of line lengths (ratio - 1)": measure_inverted_t,
    "angle between the horizontal lines (degrees)": measure_zollner,
    "offset of the diagonal lines (canvas units)": measure_poggendorff,
}


def measure(pixels: Pixels, targets: Sequence[str]) -> list[float]:
    """The difference that the picture shows, for each target.

    Raises `Unreadable` if the picture is of another illusion, or of none.
    """
    pieces = find_pieces(pixels)
    return [_find_reader(target)(pieces).difference for target in targets]


def measure_legibility(pixels: Pixels) -> Legibility:
    """The thinnest stroke or smallest disc, and the narrowest white between parts, in px.

    Raises `Unreadable` if the picture shows none of the illusions.
    """
    pieces = find_pieces(pixels)
    for read in _READERS.values():
        try:
            return read(pieces).legibility
        except Unreadable:
            continue
    raise Unreadable("The picture shows none of the six illusions.")


def _find_reader(target: str) -> Callable[[Sequence[InkPiece]], FigureReading]:
    try:
        return _READERS[target]
    except KeyError:
        raise Unreadable(f"{target!r} is nothing that an illusion is measured for.") from None
