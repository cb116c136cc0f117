"""Gaussian noise (VHExpansion, Appendix C)."""

from dataclasses import dataclass
from functools import lru_cache
from statistics import NormalDist
from typing import Annotated, ClassVar

import numpy as np
from numpy.typing import NDArray

from generators.perturbations.perturbation import ParameterRange, Perturbation
from generators.perturbations.subject import Subject
from generators.reading import Pixels

_CHANCES = 1 << 16


@dataclass(frozen=True, kw_only=True)
class Noise(Perturbation):
    """Noise: a normal number of deviation `sigma` × 255 added to each channel, clipped.

    0 changes nothing.
    """

    title: ClassVar[str] = "Gaussian noise"
    sigma: Annotated[float, ParameterRange(least=0, most=1)] = 0.08

    def change(self, pixels: Pixels, subject: Subject, seed: int) -> Pixels:
        """The noisy picture: the same noise for the same seed and size."""
        random_values = (
            np.random.PCG64(seed).random_raw(-(-pixels.size // 4)).astype("<u8").view("<u2")
        )
        noise = np.take(
            _build_levels(self.sigma), random_values[: pixels.size].reshape(pixels.shape)
        )
        noise += pixels
        return np.clip(noise, 0, 255, out=noise).astype(np.uint8)


@lru_cache(16)
def _build_levels(sigma: float) -> NDArray[np.int16]:
    """Whole levels of noise, each as often as it is likely: a table that 16 random bits look up.

    Drawn from bits and a table, noise is the same on every machine, and levels are whole anyway.
    """
    if sigma == 0:
        return np.zeros(_CHANCES, np.int16)
    normal = NormalDist(0, 255 * sigma)
    upper = [normal.inv_cdf((2 * k + 1) / (2 * _CHANCES)) for k in range(_CHANCES // 2, _CHANCES)]
    half = np.floor(np.array(upper) + 0.5)
    return np.concatenate([-half[::-1], half]).astype(np.int16)
