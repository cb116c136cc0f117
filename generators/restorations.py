"""Blind restorations of a perturbed picture.

Each undoes one perturbation as far as pixels show it, without knowing the scene. An unperturbed
picture keeps its counts or becomes unreadable.
"""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray
from scipy import ndimage

from generators.perturbations.tones import retoned
from generators.reading import Pixels

_ALIKE = 0.5
"""The least share of a drawn picture's pixels that are as light as the one beside them."""
_SHARP = 0.3
"""The least step between two pixels of a sharp picture, in parts of its whole contrast."""
_CLIPPED = 0.05
"""The least share of colours with a full channel, from which highlights are stretched."""
_HIGHLIGHT = 240
_STRENGTHS, _GAMMAS = (0.8, 0.65), (1.4, 2.0)
_BLACK, _LIGHT, _INK = 60, 140, 100
"""The most that any channel of a letter's edge has, the least of its inside, and the most green of
ink, whatever was done to the tones."""
_LETTER = 0.04
"""The most height of a letter, in parts of the longer side."""
_INSIDE = 0.05
"""The least light inside of a letter, in parts of its edge."""
_GROUND = 0.02
"""The least share of the picture that a light area takes for ground."""
_EIGHT = np.ones((3, 3), np.bool_)


def cleaned(pixels: Pixels) -> Pixels:
    """Remove noise, if there is any."""
    green = pixels[..., 1]
    if np.mean(green[:, 1:] == green[:, :-1]) < _ALIKE:
        return np.asarray(ndimage.median_filter(pixels, (3, 3, 1)), np.uint8)
    return pixels


def retoned_each(pixels: Pixels) -> Iterator[Pixels]:
    """The picture unchanged, without letters, and with restored tones and edges."""
    yield pixels
    yield _unlettered(pixels)
    low, high = (float(level) for level in np.quantile(pixels[::4, ::4], [0.002, 0.998]))
    if (low > 8 or high < 247) and high - low > 32:
        yield retoned(pixels, lambda level: 255 * (level - low) / (high - low))
    full = (pixels == 255).any(axis=2) & (pixels < 255).any(axis=2)
    if full.mean() > _CLIPPED:
        span = 255 - _HIGHLIGHT
        yield retoned(pixels, lambda level: 255 * (level - _HIGHLIGHT) / span)
    if _edge_colour(pixels).max() < 250:
        for strength in _STRENGTHS:
            yield _dimmed(pixels, strength)
    for gamma in _GAMMAS:
        yield _lowered(pixels, gamma)
    green = pixels[..., 1].astype(np.int16)
    if np.quantile(np.abs(np.diff(green)), 0.999) < _SHARP * (high - low):
        smooth = ndimage.gaussian_filter(pixels.astype(np.float32), (3, 3, 0))
        yield np.clip(3 * pixels.astype(np.float32) - 2 * smooth, 0, 255).astype(np.uint8)


def remade_each(pixels: Pixels) -> Iterator[Pixels]:
    """The picture with its ground coloured, and without a white strip on top."""
    yield _grounded(pixels)
    white = (pixels[:, [0, -1]] == 255).all(axis=(1, 2))
    strip = int(np.argmin(white))
    if 0 < strip < len(pixels) // 2:
        yield pixels[strip:]


def _dimmed(pixels: Pixels, strength: float) -> Pixels:
    return retoned(pixels, lambda level: level * strength)


def _lowered(pixels: Pixels, gamma: float) -> Pixels:
    return retoned(pixels, lambda level: 255 * (level / 255) ** gamma)


def _edge_colour(pixels: Pixels) -> NDArray[np.float64]:
    """The approximate commonest colour along the picture's edges."""
    ring = np.concatenate([pixels[0], pixels[-1], pixels[:, 0], pixels[:, -1]])
    return np.asarray(np.median(ring, axis=0), np.float64)


def _grounded(pixels: Pixels) -> Pixels:
    """Fill all that no ink encloses with one colour."""
    ink = pixels[..., 1] < _INK
    areas, number = ndimage.label(~ink)
    large = np.bincount(areas.ravel(), minlength=number + 1) > _GROUND * ink.size
    large[0] = False
    remade = np.where(ink[..., None], np.uint8(0), np.uint8(255)) * np.ones(3, np.uint8)
    remade[large[areas]] = (120, 200, 120)
    return remade


def _unlettered(pixels: Pixels) -> Pixels:
    """Small black outlines with a light inside are letters, and become what the edges show."""
    pieces, number = ndimage.label(pixels.max(axis=2) < _BLACK, _EIGHT)
    highest, light = _LETTER * max(pieces.shape), pixels.min(axis=2) > _LIGHT
    letters = np.zeros(number + 1, np.bool_)
    for at, box in enumerate(ndimage.find_objects(pieces), start=1):
        if box[0].stop - box[0].start < highest:
            outline = pieces[box] == at
            inside = ndimage.binary_fill_holes(outline) & ~outline & light[box]
            letters[at] = inside.sum() > _INSIDE * outline.sum()
    near = ndimage.binary_fill_holes(ndimage.binary_dilation(letters[pieces], _EIGHT, 3))
    remade = np.array(pixels)
    remade[near] = _edge_colour(pixels)
    return remade
