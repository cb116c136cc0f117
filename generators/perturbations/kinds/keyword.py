"""Keyword overlay: a word of the instruction on the picture (FRAME, Section 3)."""

from dataclasses import dataclass
from typing import ClassVar

from generators.perturbations.lettering import Position, write_text
from generators.perturbations.perturbation import Perturbation
from generators.perturbations.subject import Inapplicable, Subject
from generators.reading import Pixels

_SIZE = 30


@dataclass(frozen=True, kw_only=True)
class Keyword(Perturbation):
    """The subject's keyword at a position, 30 px an em at 1024 px."""

    title: ClassVar[str] = "Keyword overlay"
    is_overlay: ClassVar[bool] = True
    position: Position

    def change(self, pixels: Pixels, subject: Subject, seed: int) -> Pixels:
        """The picture with the keyword on it."""
        if not subject.keyword.split():
            raise Inapplicable("Keyword: the subject has none. Give Subject(keyword=…).")
        return write_text(pixels, subject.keyword, self.position, _SIZE)
