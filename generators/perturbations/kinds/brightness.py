"""Brightness: every level multiplied (FRAME, Section 3)."""

from dataclasses import dataclass
from typing import Annotated, ClassVar

from generators.perturbations.perturbation import ParameterRange, Perturbation
from generators.perturbations.subject import Subject
from generators.perturbations.tones import map_levels
from generators.reading import Pixels


@dataclass(frozen=True, kw_only=True)
class Brightness(Perturbation):
    """Levels × `factor`, clipped; 1 changes nothing."""

    title: ClassVar[str] = "Brightness"
    factor: Annotated[float, ParameterRange(least=0.05, most=10)]

    def change(self, pixels: Pixels, subject: Subject, seed: int) -> Pixels:
        """The picture with brighter or darker levels."""
        return map_levels(pixels, lambda level: level * self.factor)
