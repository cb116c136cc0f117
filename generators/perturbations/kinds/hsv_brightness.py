"""Brightness as V of HSV (VHExpansion, Appendix C)."""

from dataclasses import dataclass
from typing import Annotated, ClassVar

import numpy as np

from generators.perturbations.perturbation import ParameterRange, Perturbation
from generators.perturbations.subject import Subject
from generators.perturbations.tones import STRIP_ROWS
from generators.reading import Pixels


@dataclass(frozen=True, kw_only=True)
class HsvBrightness(Perturbation):
    """V of HSV, 0 to 1, plus `amount`, clipped; hue and saturation stay. 0 changes nothing."""

    title: ClassVar[str] = "Brightness of HSV"
    amount: Annotated[float, ParameterRange(least=-1, most=1)] = 0.5

    def change(self, pixels: Pixels, subject: Subject, seed: int) -> Pixels:
        """The picture with another V: each channel × V after / V before, and grey for black."""
        value = np.arange(256, dtype=np.float32)
        after = np.clip(value + np.float32(255 * self.amount), 0, 255)
        factors = np.divide(after, value, out=np.zeros_like(after), where=value > 0)
        changed = np.empty_like(pixels)
        for top in range(0, len(pixels), STRIP_ROWS):
            strip = pixels[top : top + STRIP_ROWS]
            largest = np.maximum(np.maximum(strip[..., 0], strip[..., 1]), strip[..., 2])
            scaled = strip * factors[largest][..., None]
            scaled += 0.5
            scaled[largest == 0] = after[0] + 0.5
            changed[top : top + STRIP_ROWS] = np.minimum(scaled, 255, out=scaled)
        return changed
