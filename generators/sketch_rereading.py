"""Reading a schematic again that may have been perturbed.

The reader does not know what was done. A black frame is taken off, tones are put back to where the
air and the ground of a schematic are as they are drawn, and `generators.sketch_reader` reads the
rest.
"""

import numpy as np
from numpy.typing import NDArray
from scipy import ndimage

from generators.perturbations.tones import map_levels
from generators.reading import Pixels, Unreadable
from generators.sketch_reader import BACKDROPS, MAIN, SIDE, Traits, match_colour, read_pixel_traits

_BLACK, _DARK = 8, 160
"""The most of any channel of a black frame, and of the ink that a figure is drawn with."""
_AIR, _GROUND = slice(0, SIDE // 4), slice(3 * SIDE // 4, SIDE)
"""Rows in which there is nothing but air, or ground, but for letters and the lowest things."""
_SAME = 2
"""The distance of a backdrop's pixel from its usual colour, by rounding alone."""
_LOWEST = 20
"""The largest height of letters in px; all else in a schematic is higher."""


def reread_traits(pixels: Pixels) -> Traits:
    """Read the traits of a schematic that was perturbed, or was not.

    Raises `generators.reading.Unreadable` for what is no schematic any more, or never was.
    """
    inner_picture = _crop_frame(pixels)
    height, width, _ = inner_picture.shape
    if (height, width) != (SIDE, SIDE):
        raise Unreadable(f"schematics are {SIDE} px square, this is {width} x {height}")
    air, ground = (np.median(inner_picture[rows, ::4], axis=(0, 1)) for rows in (_AIR, _GROUND))
    if min(*air, *ground) == 255:
        return read_pixel_traits(_restore_outlines(inner_picture))
    restored = np.array(_restore_tones(inner_picture, np.concatenate([air, ground])))
    # Clipped levels cannot be computed back, but their places are known.
    backdrop = (
        match_colour(inner_picture, air.astype(int), _SAME),
        match_colour(inner_picture, ground.astype(int), _SAME),
    )
    for mask, colour in zip(backdrop, BACKDROPS, strict=True):
        restored[mask] = colour
    restored[_mark_letters(~(backdrop[0] | backdrop[1]))] = BACKDROPS[1]
    return read_pixel_traits(restored)


def _crop_frame(pixels: Pixels) -> Pixels:
    """Remove the black rows and columns around a picture."""
    rows = np.flatnonzero(pixels.max(axis=(1, 2)) > _BLACK)
    columns = np.flatnonzero(pixels.max(axis=0).max(axis=1) > _BLACK)
    if not rows.size:
        raise Unreadable("the picture is black")
    return pixels[rows[0] : rows[-1] + 1, columns[0] : columns[-1] + 1]


def _restore_tones(pixels: Pixels, restored_from: NDArray[np.float64]) -> Pixels:
    """Tones as of a schematic, from what the channels of its air and its ground have become.

    Either all levels were multiplied or, which clips none, all raised to a power: that which fits
    them better.
    """
    drawn = np.array(BACKDROPS, float).ravel()
    is_unclipped = (restored_from > 0) & (restored_from < 255)
    if not is_unclipped.any():
        raise Unreadable("neither air nor ground of a schematic is seen")
    restored_from, clipped, drawn = (
        restored_from[is_unclipped],
        not is_unclipped.all(),
        drawn[is_unclipped],
    )
    factor = float(np.mean(restored_from / drawn))
    power = float(np.mean(np.log(drawn / 255) / np.log(restored_from / 255)))
    multiplied, raised = (
        float(np.abs(back - drawn).max())
        for back in (restored_from / factor, 255 * (restored_from / 255) ** power)
    )
    if clipped or multiplied <= raised:
        return map_levels(pixels, lambda level: level / factor)
    return map_levels(pixels, lambda level: 255 * (level / 255) ** power)


def _restore_outlines(pixels: Pixels) -> Pixels:
    """Restore a picture whose air and ground are both white: ink encloses the main entity.

    Two figures, which only their colours would tell apart, then are two main entities.
    """
    red, green, blue = np.moveaxis(pixels, 2, 0)
    areas, _ = ndimage.label(np.maximum(np.maximum(red, green), blue) > _DARK)
    rim = np.concatenate([areas[0], areas[-1], areas[:, 0], areas[:, -1]])
    outside = np.isin(areas, np.unique(rim[rim > 0]))
    restored = np.zeros_like(pixels)
    restored[areas > 0] = MAIN
    restored[outside | _mark_letters(~outside)] = BACKDROPS[1]
    return restored


def _mark_letters(drawn: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Mark what is too low to be a thing: letters of a label, or of a text laid over it."""
    pieces, number = ndimage.label(drawn, np.ones((3, 3), np.bool_))
    is_low = np.zeros(number + 1, np.bool_)
    is_low[1:] = [rows.stop - rows.start <= _LOWEST for rows, _ in ndimage.find_objects(pieces)]
    return np.asarray(is_low[pieces])
