"""Brightness: every level multiplied (FRAME, Section 3)."""

from dataclasses import dataclass
from typing import Annotated, ClassVar

from generators.perturbations.perturbation import Perturbation, Span
from generators.perturbations.subject import Subject
from generators.perturbations.tones import retoned
from generators.reading import Pixels


@dataclass(frozen=True, kw_only=True)
class Brightness(Perturbation):
    """Levels × `factor`, clipped; 1 changes nothing."""

    title: ClassVar[str] = "Brightness"
    factor: Annotated[float, Span(0.05, 10)]

    def change(self, pixels: Pixels, subject: Subject, seed: int) -> Pixels:
        """The picture with brighter or darker levels."""
        return retoned(pixels, lambda level: level * self.factor)
