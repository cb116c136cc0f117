"""Black padding: a border around the picture (FRAME, Section 3)."""

from dataclasses import dataclass
from typing import Annotated, ClassVar

import numpy as np

from generators.perturbations.perturbation import ParameterRange, Perturbation
from generators.perturbations.subject import Inapplicable, Subject
from generators.reading import Pixels


@dataclass(frozen=True, kw_only=True)
class Padding(Perturbation):
    """`thickness` px of black on each side: the canvas grows; 0 changes nothing."""

    title: ClassVar[str] = "Black padding"
    thickness: Annotated[int, ParameterRange(least=0, most=1_000)]

    def change(self, pixels: Pixels, subject: Subject, seed: int) -> Pixels:
        """The picture in a black frame; it has to be larger than the frame is thick."""
        height, width, _ = pixels.shape
        if min(height, width) < self.thickness:
            raise Inapplicable(
                f"Padding: {self.thickness} px are more than a picture of {width}x{height} px has "
                "along a side. Choose a thinner padding or a larger picture."
            )
        edge = self.thickness
        framed = np.empty((height + 2 * edge, width + 2 * edge, 3), np.uint8)
        framed[:edge] = framed[-edge:] = 0
        framed[:, :edge] = framed[:, -edge:] = 0
        framed[edge : edge + height, edge : edge + width] = pixels
        return framed

    def find_corner(self, before: Pixels, after: Pixels) -> tuple[int, int]:
        """The frame's inner corner."""
        return self.thickness, self.thickness
