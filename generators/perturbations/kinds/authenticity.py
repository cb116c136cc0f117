"""Authenticity overlay: "Reference Image" on the picture (FRAME, Section 3)."""

from dataclasses import dataclass
from typing import ClassVar

from generators.perturbations.lettering import Position, write_text
from generators.perturbations.perturbation import Perturbation
from generators.perturbations.subject import Subject
from generators.reading import Pixels

TEXT, _SIZE = "Reference Image", 30


@dataclass(frozen=True, kw_only=True)
class Authenticity(Perturbation):
    """The words "Reference Image" at a position, 30 px an em at 1024 px."""

    title: ClassVar[str] = "Authenticity overlay"
    is_overlay: ClassVar[bool] = True
    position: Position

    def change(self, pixels: Pixels, subject: Subject, seed: int) -> Pixels:
        """The picture that calls itself a reference."""
        return write_text(pixels, TEXT, self.position, _SIZE)
