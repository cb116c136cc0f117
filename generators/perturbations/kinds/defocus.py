"""Defocus blur (VHExpansion, Appendix C)."""

from dataclasses import dataclass
from math import isqrt
from typing import Annotated, ClassVar

import numpy as np

from generators.perturbations.perturbation import ParameterRange, Perturbation
from generators.perturbations.subject import Subject
from generators.perturbations.tones import STRIP_ROWS
from generators.reading import Pixels


@dataclass(frozen=True, kw_only=True)
class Defocus(Perturbation):
    """The mean over a disk of `radius` px, the picture mirrored at its edges; 0 changes nothing."""

    title: ClassVar[str] = "Defocus blur"
    radius: Annotated[int, ParameterRange(least=0, most=50)] = 5

    def change(self, pixels: Pixels, subject: Subject, seed: int) -> Pixels:
        """The picture out of focus."""
        edge = self.radius
        padded = np.pad(pixels, ((edge, edge), (edge, edge), (0, 0)), mode="reflect")
        strips = (
            self._blur(padded[top : top + STRIP_ROWS + 2 * edge])
            for top in range(0, len(pixels), STRIP_ROWS)
        )
        return np.concatenate(list(strips))

    def _blur(self, padded: Pixels) -> Pixels:
        """The mean in whole numbers, row of the disk by row: sums across, added up down."""
        halves = [isqrt(self.radius**2 - down**2) for down in range(-self.radius, self.radius + 1)]
        weight = sum(2 * half + 1 for half in halves)
        sum_type = np.uint16 if 255 * weight + weight < 1 << 16 else np.uint32
        height = len(padded) - 2 * self.radius
        width = padded.shape[1] - 2 * self.radius
        total = np.full((height, width, 3), weight // 2, sum_type)
        sums, summed_reach = padded[:, self.radius : self.radius + width].astype(sum_type), 0
        for half in sorted(set(halves)):
            for step in range(summed_reach + 1, half + 1):
                for start_column in (self.radius - step, self.radius + step):
                    np.add(sums, padded[:, start_column : start_column + width], out=sums)
            summed_reach = half
            for start_row, other in enumerate(halves):
                if other == half:
                    total += sums[start_row : start_row + height]
        total //= sum_type(weight)
        return total.astype(np.uint8)
