"""The true difference of two parts that stand alone, read as that of an illusion's control."""

from collections.abc import Sequence

import numpy as np
from scipy import ndimage

from generators.domains.optical_illusions._ink import measure_ink
from generators.domains.optical_illusions.control_readings import VERSION, measure_control
from generators.domains.optical_illusions.measure import TOLERANCE
from generators.reading import Legibility, Pixels, Unreadable

__all__ = ["TOLERANCE", "VERSION", "measure", "measure_legibility"]


def measure(pixels: Pixels, targets: Sequence[str]) -> list[float]:
    """The difference that the picture shows, for each target.

    Raises `Unreadable` if there are no two parts of the target's kind.
    """
    return [measure_control(pixels, target) for target in targets]


def measure_legibility(pixels: Pixels) -> Legibility:
    """The thinner part, as its ink over its length, and the white between both in whole px."""
    ink = measure_ink(pixels)
    parts, count = ndimage.label(ink > 0.5, np.ones((3, 3)))
    if count != 2:
        raise Unreadable(f"There are {count} pieces of ink instead of 2 compared parts.")
    lengths = [
        np.hypot(*(side.stop - side.start for side in box)) for box in ndimage.find_objects(parts)
    ]
    areas = ndimage.sum_labels(ink, ndimage.grey_dilation(parts, (3, 3)), (1, 2))
    apart = ndimage.distance_transform_edt(parts != 1)
    return Legibility(mark=float((areas / lengths).min()), gap=float(apart[parts == 2].min() - 1))
