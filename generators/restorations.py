"""Blind restorations of the tones, the ground and the frame of a perturbed picture.

Each undoes one perturbation as far as pixels show it, without knowing the scene. An unperturbed
picture keeps its counts or becomes unreadable.
"""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray
from scipy import ndimage

from generators.perturbations.tones import map_levels
from generators.reading import Pixels

_CLIPPED = 0.05
"""The least share of colours with a full channel, from which highlights are stretched."""
_HIGHLIGHT = 240
_STRENGTHS, _STRONGEST, _GAMMAS = (0.8, 0.65), 0.45, (1.4, 2.0)
_INK = 100
"""The most green of ink, whatever was done to the tones."""
_GROUND = 0.02
"""The least share of the picture that a light area takes for ground."""
_WIDE = 0.5
"""Ink that reaches so far across the picture and down is a frame, or lines."""
_SMALLEST, _LARGEST, _ROUND = 0.03, 0.2, 0.93
"""The side of a light disc in parts of the longer side, and what it has in common with a circle."""
_WHITE, _GREY, _COLOUR = 250, 84, (120, 200, 120)
"""The least level of a white ground, and what grounds are given instead."""
_UNEVEN = 2
"""The px by which equal margins on two sides may differ."""
_TEXT = (0.01, 0.07)
"""The height of a line of text above a picture, in parts of the longer side."""
_CLOSE = 2
"""Half-width in px of a light line that parts the ink of a piece."""
_EIGHT_NEIGHBOURS = np.ones((3, 3), np.bool_)

Mask = NDArray[np.bool_]


def restore_tones(pixels: Pixels) -> Iterator[Pixels]:
    """Yield the picture unchanged, and with restored tones."""
    yield pixels
    darkest, lightest = (float(level) for level in np.quantile(pixels[::4, ::4], [0.002, 0.998]))
    if (darkest > 8 or lightest < 247) and lightest - darkest > 32:
        yield map_levels(pixels, lambda level: 255 * (level - darkest) / (lightest - darkest))
    is_full = (pixels == 255).any(axis=2) & (pixels < 255).any(axis=2)
    if is_full.mean() > _CLIPPED:
        span = 255 - _HIGHLIGHT
        yield map_levels(pixels, lambda level: 255 * (level - _HIGHLIGHT) / span)
    if _find_edge_colour(pixels).max() < _WHITE:
        for strength in _STRENGTHS:
            yield _dim(pixels, strength)
    for gamma in _GAMMAS:
        yield _lower_tones(pixels, gamma)


def restore_layout(pixels: Pixels) -> Iterator[Pixels]:
    """Yield the picture much darker, with another ground, and without lines of text on top."""
    yield _dim(pixels, _STRONGEST)
    yield _recolour(pixels)
    if _find_edge_colour(pixels).min() >= _WHITE:
        yield from _grey_ground(pixels)
    yield from _crop_titles(pixels)


def _dim(pixels: Pixels, strength: float) -> Pixels:
    """Darker, but for what is full: brightness clips there."""
    return map_levels(pixels, lambda level: level if level == 255 else level * strength)


def _lower_tones(pixels: Pixels, gamma: float) -> Pixels:
    return map_levels(pixels, lambda level: 255 * (level / 255) ** gamma)


def _find_edge_colour(pixels: Pixels) -> NDArray[np.float64]:
    """The commonest colour along the picture's edges, about."""
    ring = np.concatenate([pixels[0], pixels[-1], pixels[:, 0], pixels[:, -1]])
    return np.asarray(np.median(ring, axis=0), np.float64)


def _recolour(pixels: Pixels) -> Pixels:
    """Ink black, what it encloses white, and all else in one colour, so that pieces stand out.

    On a board with light discs these alone are white. Frames and lines are taken off.
    """
    ink = pixels[..., 1] < _INK
    discs = _mark_discs(~ink)
    if discs.any():
        light = discs
    else:
        areas, number = ndimage.label(~ink)
        light = (np.bincount(areas.ravel(), minlength=number + 1) < _GROUND * ink.size)[areas]
        light |= ndimage.binary_closing(ink & ~_mark_wide(ink), _EIGHT_NEIGHBOURS, _CLOSE)
    remade = np.empty_like(pixels)
    remade[:] = _COLOUR
    remade[light & ~ink] = 255
    remade[ink & ~_mark_wide(ink)] = 0
    return remade


def _mark_wide(ink: Mask) -> Mask:
    pieces, number = ndimage.label(ink, _EIGHT_NEIGHBOURS)
    wide = np.zeros(number + 1, np.bool_)
    for index, box in enumerate(ndimage.find_objects(pieces), start=1):
        sides = zip(box, ink.shape, strict=True)
        wide[index] = all(
            side.stop - side.start > _WIDE * picture_side for side, picture_side in sides
        )
    return np.asarray(wide[pieces])


def _mark_discs(light: Mask) -> Mask:
    """The light areas that are round, with all that is in them."""
    areas, _ = ndimage.label(light)
    discs = np.zeros_like(light)
    longer = max(light.shape)
    for index, box in enumerate(ndimage.find_objects(areas), start=1):
        height, width = (side.stop - side.start for side in box)
        if not _SMALLEST * longer < min(height, width) <= max(height, width) < _LARGEST * longer:
            continue
        area = ndimage.binary_fill_holes(areas[box] == index)
        down, across = ((np.arange(side) * 2 + 1) / side - 1 for side in (height, width))
        circle = down[:, None] ** 2 + across**2 <= 1
        if 0.8 < height / width < 1.25 and (area & circle).sum() > _ROUND * (area | circle).sum():
            discs[box] |= area
    return discs


def _grey_ground(pixels: Pixels) -> Iterator[Pixels]:
    """A white ground in grey, where it leaves the same margin on all sides, or on all but one.

    On that one side something white lies on it as far as to the same margin, as a white stripe at a
    flag's rim does. Otherwise nobody could tell what is ground.
    """
    areas, _ = ndimage.label(pixels.min(axis=2) >= _WHITE)
    ring = np.concatenate([areas[0], areas[-1], areas[:, 0], areas[:, -1]])
    ground = np.isin(areas, np.unique(ring[ring > 0]))
    inked = [np.flatnonzero(~ground.all(axis=axis)) for axis in (1, 0)]
    if not all(len(inked_rows) for inked_rows in inked):
        return
    margins = [inked_rows[0] for inked_rows in inked]
    margins += [
        side - 1 - inked_rows[-1] for side, inked_rows in zip(ground.shape, inked, strict=True)
    ]
    *alike, widest = sorted(margins)
    if max(alike) - min(alike) > _UNEVEN:
        return
    if widest - min(alike) > _UNEVEN:
        height, width = ground.shape
        ground[alike[0] : height - alike[0], alike[0] : width - alike[0]] = False
    remade = np.array(pixels)
    remade[ground] = _GREY
    yield remade


def _crop_titles(pixels: Pixels) -> Iterator[Pixels]:
    """Remove a white strip on top, and the lines of text above a drawing on white."""
    is_white = (pixels[:, [0, -1]] == 255).all(axis=(1, 2))
    strip = int(np.argmin(is_white))
    if 0 < strip < len(pixels) // 2:
        yield pixels[strip:]
    is_inked = (pixels[..., 1] < _INK).any(axis=1)
    edges = np.flatnonzero(np.diff(np.concatenate([[False], is_inked, [False]]).astype(np.int8)))
    least, most = (share * max(pixels.shape) for share in _TEXT)
    for (start, end), after in zip(edges.reshape(-1, 2), edges[2::2], strict=False):
        if not least < end - start < most:
            return
        yield pixels[(end + after) // 2 :]
