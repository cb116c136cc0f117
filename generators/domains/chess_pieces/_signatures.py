"""Compare shapes whatever their size and place: the signature of a patch of ink."""

import numpy as np
from numpy.typing import NDArray
from scipy import ndimage

Ink = NDArray[np.float32]
"""The ink of each pixel of a patch, from 0 to 1."""

_SIDE = 28
_HALF_SIDE = 2.6
"""Half-width of the signature, in standard deviations of the ink about its centre."""
_MIN_INK = 1e-6


def compute_signature(ink: Ink) -> Ink:
    """The ink resampled about its centre of mass in units of its own spread.

    A vector of unit length and mean zero: the product of two signatures is the correlation of
    the two shapes, 1 for the same shape. Zero throughout where there is no ink.
    """
    total = float(ink.sum())
    if total < _MIN_INK:
        return np.zeros(_SIDE * _SIDE, np.float32)
    columns, rows = ink.sum(axis=0), ink.sum(axis=1)
    centre, spread = np.empty(2), 0.0
    for axis, profile in enumerate((rows, columns)):
        places = np.arange(len(profile))
        centre[axis] = profile @ places / total
        spread += float(profile @ (places - centre[axis]) ** 2) / total
    step = 2 * _HALF_SIDE * np.sqrt(spread / 2) / (_SIDE - 1)
    smooth = ndimage.gaussian_filter(ink, 0.65 * step, mode="constant")
    start = centre - step * (_SIDE - 1) / 2
    patch = ndimage.affine_transform(
        smooth, np.array([step, step]), start, output_shape=(_SIDE, _SIDE), order=1
    ).ravel()
    patch -= patch.mean()
    return np.asarray(patch / max(float(np.linalg.norm(patch)), _MIN_INK), np.float32)
