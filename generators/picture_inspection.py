"""Inspection of one picture, in worker processes: its size, and whether it shows anything."""

import io
from collections.abc import Sequence
from typing import NamedTuple, cast

from PIL import Image

_NOISE = 4
"""Levels of 255 by which one colour may vary: what JPEG makes of it."""
_DARK = 16
"""The lightest level of a picture that is black."""


class Inspection(NamedTuple):
    """Width and height in px, and "black" or "of one colour" for a picture that shows nothing."""

    width: int
    height: int
    blank: str | None


def inspect_picture(picture: bytes) -> Inspection:
    """Open a picture and look at the range of its colours."""
    with Image.open(io.BytesIO(picture)) as image:
        ranges = cast(Sequence[tuple[int, int]], image.convert("RGB").getextrema())
        one_colour = all(high - low <= _NOISE for low, high in ranges)
        black = all(high <= _DARK for _, high in ranges)
        return Inspection(
            *image.size, "black" if black else "of one colour" if one_colour else None
        )
