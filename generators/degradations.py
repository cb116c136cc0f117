"""Noise, defocus and text removed from a perturbed picture, all found in its pixels alone.

A picture that shows none of them stays unchanged.
"""

from collections.abc import Iterator
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy import fft, ndimage

from generators.reading import Pixels, Unreadable

_ALIKE = 0.5
"""The least share of a drawn picture's pixels that are as light as the one beside them."""
_REACH, _SPREAD = 2, 18.0
"""How far around a pixel its like are looked for, and the most that the three channels of one may
differ from its own: the sum of their squares in variances of the noise, of which it is 6 by chance.
"""
_SHARP = 0.42
"""The least of the largest steps between two pixels of a sharp picture, in parts of its contrast.

In every second scene at 384 and 768 px it is 0.53 or more, after a defocus by 5 px 0.34 at most.
"""
_RADII = range(3, 9)
_FLOORS = (5e-4, 2e-3)
"""The power in which nothing but rounding is left, in parts of that before the defocus."""
_MISFIT, _ROUNDS = 8.0, 3
"""The most levels by which the right disk misses the picture, and how often it is undone."""
_RINGING = 6.0
"""How far in levels two pixels side by side differ by what a disk undone leaves around edges."""
_DARK, _LIGHT = 128, 160
"""The most that any channel of a letter's edge has, and the least of its inside."""
_LETTER = 0.04
"""The most height of a letter, in parts of the longer side."""
_INSIDE = 0.05
"""The least light inside of a letter, in parts of its edge."""
_FEWEST = 3
"""The fewest light strokes of a row of letters."""
_EIGHT, _ALONG = np.ones((3, 3), np.bool_), np.ones((1, 3), np.bool_)

Plane: TypeAlias = NDArray[np.float32]


def remove_degradations(pixels: Pixels) -> list[Pixels]:
    """The picture without noise or defocus, where it has any, and without white letters.

    Of a defocus there are several, undone more and less boldly. Raises `Unreadable` where no disk
    explains it.
    """
    green = pixels[..., 1]
    low, high = np.quantile(green[::4, ::4], [0.002, 0.998])
    steps = np.abs(np.diff(green.astype(np.int16)))
    if steps.max() < _SHARP * (high - low):
        return [_unlettered(sharp) for sharp in _refocused(pixels)]
    noisy = np.mean(steps == 0) < _ALIKE
    return [_unlettered(_denoised(pixels, float(np.median(steps))) if noisy else pixels)]


def _denoised(pixels: Pixels, step: float) -> Pixels:
    """Each pixel as the mean of those around that differ from it by noise alone (Lee 1983).

    `step` is the usual difference of two pixels side by side. Lines one pixel wide stay.
    """
    variance = (1.4826 * step) ** 2 / 2
    middle = ndimage.median_filter(pixels, (3, 3, 1)).astype(np.float32)
    values = pixels.astype(np.float32)
    far = ((values - middle) ** 2).sum(axis=2) > _SPREAD * variance
    height, width, _ = pixels.shape
    around = np.pad(values, ((_REACH, _REACH), (_REACH, _REACH), (0, 0)), mode="reflect")
    total, number = np.zeros_like(values), np.zeros((height, width), np.float32)
    for down in range(2 * _REACH + 1):
        for right in range(2 * _REACH + 1):
            other = around[down : down + height, right : right + width]
            like = ((other - values) ** 2).sum(axis=2) < _SPREAD * variance
            total += np.where(like[..., None], other, 0)
            number += like
    mean = total / number[..., None]
    lonely = far & (number < 3)
    return np.where(lonely[..., None], middle, mean).round().astype(np.uint8)


def _refocused(pixels: Pixels) -> Iterator[Pixels]:
    """Defocus by a disk undone, where the picture's spectrum shows which disk it was.

    A picture mirrored at its edges is a sum of cosines; a disk scales each of them.
    """
    spectra = [_spectrum(plane) for plane in np.moveaxis(pixels, 2, 0)]
    gains = [_gain(radius, pixels.shape[:2]) for radius in _RADII]
    misfits = [
        _misfit(_undone(spectra[1], gain, _FLOORS[0], 1), spectra[1], gain) for gain in gains
    ]
    if min(misfits) > _MISFIT:
        raise Unreadable("The picture is blurred, and not by a disk.")
    gain = gains[int(np.argmin(misfits))]
    for floor in _FLOORS:
        planes = [_undone(spectrum, gain, floor, _ROUNDS) for spectrum in spectra]
        yield _denoised(np.stack(planes, axis=2).round().astype(np.uint8), _RINGING)


def _spectrum(plane: NDArray[Any]) -> Plane:
    return np.asarray(fft.dctn(plane.astype(np.float32), type=1), np.float32)


def _undone(spectrum: Plane, gain: Plane, floor: float, rounds: int) -> Plane:
    """The plane before the defocus, 0 to 255: what does not fit is put right in each round."""
    inverse = gain / (gain**2 + floor)
    plane, missing = np.zeros_like(gain), spectrum
    for _ in range(rounds):
        plane = np.clip(plane + fft.idctn(missing * inverse, type=1), 0, 255)
        missing = spectrum - _spectrum(plane) * gain
    return np.asarray(plane, np.float32)


def _misfit(plane: Plane, spectrum: Plane, gain: Plane) -> float:
    """By how many levels a plane, defocused again, differs from what is seen."""
    off = fft.idctn(_spectrum(plane) * gain - spectrum, type=1)
    return float(np.sqrt(np.mean(off**2)))


def _gain(radius: int, shape: tuple[int, ...]) -> Plane:
    """By what the mean over a disk scales each cosine."""
    offsets = np.arange(-radius, radius + 1)
    disk = (offsets[:, None] ** 2 + offsets**2 <= radius**2).astype(np.float32)
    down, across = (
        np.cos(np.pi / (side - 1) * np.outer(np.arange(side), offsets)).astype(np.float32)
        for side in shape
    )
    return np.asarray(down @ disk @ across.T / disk.sum(), np.float32)


def _unlettered(pixels: Pixels) -> Pixels:
    """Rows of small dark outlines with a light inside are text, and become what lies around."""
    pieces, number = ndimage.label(pixels.max(axis=2) < _DARK, _EIGHT)
    highest, light = _LETTER * max(pieces.shape), pixels.min(axis=2) > _LIGHT
    letters = np.zeros(number + 1, np.bool_)
    insides = np.zeros_like(light)
    for number, box in enumerate(ndimage.find_objects(pieces), start=1):
        if box[0].stop - box[0].start < highest:
            outline = pieces[box] == number
            inside = ndimage.binary_fill_holes(outline) & ~outline & light[box]
            letters[number] = inside.sum() > _INSIDE * outline.sum()
            insides[box] |= inside
    if not letters.any():
        return pixels
    near = ndimage.binary_fill_holes(ndimage.binary_dilation(letters[pieces], _EIGHT, 3))
    rows, number = ndimage.label(ndimage.binary_dilation(near, _ALONG, round(highest / 4)))
    strokes, _ = ndimage.label(insides)
    text = [len(np.unique(strokes[rows == row])) > _FEWEST for row in range(1, number + 1)]
    near &= np.array([False, *text])[rows]
    if not near.any():
        return pixels
    nearest_index = ndimage.distance_transform_edt(
        near, return_distances=False, return_indices=True
    )
    return np.asarray(pixels[tuple(nearest_index)])
