"""Instruction overlay: what was asked for, written on the picture (FRAME, Section 3)."""

from dataclasses import dataclass
from typing import ClassVar

from generators.perturbations.lettering import Position, write_text
from generators.perturbations.perturbation import Perturbation
from generators.perturbations.subject import Inapplicable, Subject
from generators.reading import Pixels

_SIZE = 20


@dataclass(frozen=True, kw_only=True)
class Instruction(Perturbation):
    """The whole instruction at a position, 20 px an em at 1024 px."""

    title: ClassVar[str] = "Instruction overlay"
    is_overlay: ClassVar[bool] = True
    position: Position

    def change(self, pixels: Pixels, subject: Subject, seed: int) -> Pixels:
        """The picture with its instruction on it."""
        if not subject.instruction.split():
            raise Inapplicable("Instruction: the subject has none. Give Subject(instruction=…).")
        return write_text(pixels, subject.instruction, self.position, _SIZE)
