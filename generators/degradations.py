"""Noise, defocus and text removed from a perturbed picture, all found in its pixels alone.

A picture that shows none of them stays unchanged.
"""

from collections.abc import Iterator
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy import fft, ndimage

from generators.reading import Pixels, Unreadable

_MIN_EQUAL_SHARE = 0.5
"""The least share of a drawn picture's pixels that are as light as the one beside them."""
_WINDOW_REACH, _MAX_DEVIATION = 2, 18.0
"""The distance at which pixels like one are looked for, and the most that their three channels may
differ from its own: the sum of their squares in variances of the noise, of which it is 6 by chance.
"""
_MIN_STEP = 0.42
"""The least of the largest steps between two pixels of a sharp picture, in parts of its contrast.

In every second scene at 384 and 768 px it is 0.53 or more, after a defocus by 5 px 0.34 at most.
"""
_RADII = range(3, 9)
_POWER_FLOORS = (5e-4, 2e-3)
"""The power in which nothing but rounding is left, in parts of that before the defocus."""
_MAX_MISFIT, _ROUNDS = 8.0, 3
"""The most levels by which the right disk misses the picture, and how often it is undone."""
_RINGING_LEVELS = 6.0
"""The levels by which two pixels side by side differ through what an undone disk leaves around
edges."""
_MAX_OUTLINE_LEVEL, _MIN_INSIDE_LEVEL = 128, 160
"""The most that any channel of a letter's edge has, and the least of its inside."""
_MAX_LETTER_HEIGHT = 0.04
"""The most height of a letter, in parts of the longer side."""
_MIN_INSIDE_SHARE = 0.05
"""The least light inside of a letter, in parts of its edge."""
_MIN_STROKES = 3
"""The fewest light strokes of a row of letters."""
_EIGHT_NEIGHBOURS, _ROW_NEIGHBOURS = np.ones((3, 3), np.bool_), np.ones((1, 3), np.bool_)

Plane: TypeAlias = NDArray[np.float32]


def remove_degradations(pixels: Pixels) -> list[Pixels]:
    """The picture without noise or defocus, where it has any, and without white letters.

    Of a defocus there are several, undone more and less boldly. Raises `Unreadable` where no disk
    explains it.
    """
    green = pixels[..., 1]
    low, high = np.quantile(green[::4, ::4], [0.002, 0.998])
    steps = np.abs(np.diff(green.astype(np.int16)))
    if steps.max() < _MIN_STEP * (high - low):
        return [_remove_letters(sharp) for sharp in _undo_defocus(pixels)]
    noisy = np.mean(steps == 0) < _MIN_EQUAL_SHARE
    return [_remove_letters(_remove_noise(pixels, float(np.median(steps))) if noisy else pixels)]


def _remove_noise(pixels: Pixels, step: float) -> Pixels:
    """Replace each pixel by the mean of those around that differ by noise alone (Lee 1983).

    `step` is the usual difference of two pixels side by side. Lines one pixel wide stay.
    """
    variance = (1.4826 * step) ** 2 / 2
    middle = ndimage.median_filter(pixels, (3, 3, 1)).astype(np.float32)
    values = pixels.astype(np.float32)
    far = ((values - middle) ** 2).sum(axis=2) > _MAX_DEVIATION * variance
    height, width, _ = pixels.shape
    around = np.pad(
        values,
        ((_WINDOW_REACH, _WINDOW_REACH), (_WINDOW_REACH, _WINDOW_REACH), (0, 0)),
        mode="reflect",
    )
    total, number = np.zeros_like(values), np.zeros((height, width), np.float32)
    for down in range(2 * _WINDOW_REACH + 1):
        for right in range(2 * _WINDOW_REACH + 1):
            other = around[down : down + height, right : right + width]
            like = ((other - values) ** 2).sum(axis=2) < _MAX_DEVIATION * variance
            total += np.where(like[..., None], other, 0)
            number += like
    mean = total / number[..., None]
    lonely = far & (number < 3)
    return np.where(lonely[..., None], middle, mean).round().astype(np.uint8)


def _undo_defocus(pixels: Pixels) -> Iterator[Pixels]:
    """Defocus by a disk undone, where the picture's spectrum shows which disk it was.

    A picture mirrored at its edges is a sum of cosines; a disk scales each of them.
    """
    spectra = [_compute_spectrum(plane) for plane in np.moveaxis(pixels, 2, 0)]
    gains = [_compute_gain(radius, pixels.shape[:2]) for radius in _RADII]
    misfits = [
        _measure_misfit(_deconvolve(spectra[1], gain, _POWER_FLOORS[0], 1), spectra[1], gain)
        for gain in gains
    ]
    if min(misfits) > _MAX_MISFIT:
        raise Unreadable("The picture is blurred, and not by a disk.")
    gain = gains[int(np.argmin(misfits))]
    for floor in _POWER_FLOORS:
        planes = [_deconvolve(spectrum, gain, floor, _ROUNDS) for spectrum in spectra]
        yield _remove_noise(np.stack(planes, axis=2).round().astype(np.uint8), _RINGING_LEVELS)


def _compute_spectrum(plane: NDArray[Any]) -> Plane:
    return np.asarray(fft.dctn(plane.astype(np.float32), type=1), np.float32)


def _deconvolve(spectrum: Plane, gain: Plane, floor: float, rounds: int) -> Plane:
    """The plane before the defocus, 0 to 255: what does not fit is put right in each round."""
    inverse = gain / (gain**2 + floor)
    plane, missing = np.zeros_like(gain), spectrum
    for _ in range(rounds):
        plane = np.clip(plane + fft.idctn(missing * inverse, type=1), 0, 255)
        missing = spectrum - _compute_spectrum(plane) * gain
    return np.asarray(plane, np.float32)


def _measure_misfit(plane: Plane, spectrum: Plane, gain: Plane) -> float:
    """The difference in levels between a plane, defocused again, and the picture's own."""
    off = fft.idctn(_compute_spectrum(plane) * gain - spectrum, type=1)
    return float(np.sqrt(np.mean(off**2)))


def _compute_gain(radius: int, shape: tuple[int, ...]) -> Plane:
    """The factor by which the mean over a disk scales each cosine."""
    offsets = np.arange(-radius, radius + 1)
    disk = (offsets[:, None] ** 2 + offsets**2 <= radius**2).astype(np.float32)
    down, across = (
        np.cos(np.pi / (side - 1) * np.outer(np.arange(side), offsets)).astype(np.float32)
        for side in shape
    )
    return np.asarray(down @ disk @ across.T / disk.sum(), np.float32)


def _remove_letters(pixels: Pixels) -> Pixels:
    """Rows of small dark outlines with a light inside are text, and become what lies around."""
    pieces, number = ndimage.label(pixels.max(axis=2) < _MAX_OUTLINE_LEVEL, _EIGHT_NEIGHBOURS)
    highest, light = _MAX_LETTER_HEIGHT * max(pieces.shape), pixels.min(axis=2) > _MIN_INSIDE_LEVEL
    letters = np.zeros(number + 1, np.bool_)
    insides = np.zeros_like(light)
    for number, box in enumerate(ndimage.find_objects(pieces), start=1):
        if box[0].stop - box[0].start < highest:
            outline = pieces[box] == number
            inside = ndimage.binary_fill_holes(outline) & ~outline & light[box]
            letters[number] = inside.sum() > _MIN_INSIDE_SHARE * outline.sum()
            insides[box] |= inside
    if not letters.any():
        return pixels
    near = ndimage.binary_fill_holes(ndimage.binary_dilation(letters[pieces], _EIGHT_NEIGHBOURS, 3))
    rows, number = ndimage.label(ndimage.binary_dilation(near, _ROW_NEIGHBOURS, round(highest / 4)))
    strokes, _ = ndimage.label(insides)
    text = [len(np.unique(strokes[rows == row])) > _MIN_STROKES for row in range(1, number + 1)]
    near &= np.array([False, *text])[rows]
    if not near.any():
        return pixels
    nearest_index = ndimage.distance_transform_edt(
        near, return_distances=False, return_indices=True
    )
    return np.asarray(pixels[tuple(nearest_index)])
