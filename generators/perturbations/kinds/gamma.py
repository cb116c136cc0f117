"""Gamma correction: out = in^(1/γ), with levels from 0 to 1 (FRAME, Section 3)."""

from dataclasses import dataclass
from typing import Annotated, ClassVar

from generators.perturbations.perturbation import ParameterRange, Perturbation
from generators.perturbations.subject import Subject
from generators.perturbations.tones import map_levels
from generators.reading import Pixels


@dataclass(frozen=True, kw_only=True)
class Gamma(Perturbation):
    """Middle tones lifted by a γ above 1 and lowered by one below; 1 changes nothing."""

    title: ClassVar[str] = "Gamma"
    gamma: Annotated[float, ParameterRange(least=0.05, most=10)]

    def change(self, pixels: Pixels, subject: Subject, seed: int) -> Pixels:
        """The picture with other middle tones; black and white stay."""
        return map_levels(pixels, lambda level: 255 * (level / 255) ** (1 / self.gamma))
