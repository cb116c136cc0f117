"""Inspection of pictures, in worker processes: size, pixels, and whether one shows anything."""

import io
from collections.abc import Sequence
from hashlib import sha256
from typing import NamedTuple, TypeAlias, cast

import numpy as np
from PIL import Image

_NOISE = 4
"""Levels of 255 by which one colour may vary: what JPEG makes of it."""
_DARK = 16
"""The lightest level of a picture that is black."""
_WHITE = 245
"""The darkest level of a white pixel."""
_PIXEL_NOISE = 24
"""Levels by which a pixel of an unchanged picture may differ: what JPEG makes of it."""
_BLOCK = 8
"""Side in px of the blocks of JPEG."""
_BLOCK_NOISE = 2
"""Levels by which the mean of a block may differ: JPEG keeps it but for rounding."""

PicturePair: TypeAlias = tuple[bytes, bytes]


class Inspection(NamedTuple):
    """Width and height in px, and "black" or "of one colour" for a picture that shows nothing.

    `pixels` is a digest of what is seen: the same for one picture in two encodings.
    """

    width: int
    height: int
    blank: str | None
    pixels: str


def inspect_picture(picture: bytes) -> Inspection:
    """Open a picture and look at the range of its colours."""
    with Image.open(io.BytesIO(picture)) as image:
        colours = image.convert("RGB")
    ranges = cast(Sequence[tuple[int, int]], colours.getextrema())
    one_colour = all(high - low <= _NOISE for low, high in ranges)
    black = all(high <= _DARK for _, high in ranges)
    blank = "black" if black else "of one colour" if one_colour else None
    digest = sha256(repr(colours.size).encode() + colours.tobytes())
    return Inspection(*colours.size, blank, digest.hexdigest())


def measure_white_border(picture: bytes) -> float:
    """The share of the pixels at a picture's border that are white, but for what JPEG leaves."""
    with Image.open(io.BytesIO(picture)) as image:
        pixels = np.asarray(image.convert("RGB"))
    is_white = pixels.min(axis=2) >= _WHITE
    border = np.concatenate([is_white[0], is_white[-1], is_white[1:-1, 0], is_white[1:-1, -1]])
    return float(border.mean())


def is_unchanged(pair: PicturePair) -> bool:
    """Return whether two pictures differ by no more than saving one as a fine JPEG makes of it.

    No pixel differs by more than 24 levels, and no block of 8 × 8 px by more than 2 in its mean:
    a line of 1 px through a block moves that by an eighth of its contrast. Pictures of two sizes
    differ.
    """
    first, second = (
        np.asarray(Image.open(io.BytesIO(picture)).convert("RGB"), dtype=np.int16)
        for picture in pair
    )
    if first.shape != second.shape:
        return False
    difference = first - second
    if np.abs(difference).max() > _PIXEL_NOISE:
        return False
    rows, columns = (np.arange(0, side, _BLOCK) for side in difference.shape[:2])
    sums = np.add.reduceat(np.add.reduceat(difference, rows, axis=0, dtype=int), columns, axis=1)
    heights, widths = (
        np.diff(np.append(starts, side))
        for starts, side in zip((rows, columns), difference.shape, strict=False)
    )
    means = sums / (heights[:, None, None] * widths[None, :, None])
    return bool(np.abs(means).max() <= _BLOCK_NOISE)
