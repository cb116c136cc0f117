"""One grey level: a sham, which changes every value by the least that a file can hold."""

from dataclasses import dataclass
from typing import ClassVar

from generators.perturbations.perturbation import Perturbation
from generators.perturbations.subject import Subject
from generators.perturbations.tones import map_levels
from generators.reading import Pixels

_TOP = 255


@dataclass(frozen=True, kw_only=True)
class GreyLevel(Perturbation):
    """Every value one level higher; 255 becomes 254, so that no value stays as it was."""

    title: ClassVar[str] = "One grey level"

    def change(self, pixels: Pixels, subject: Subject, seed: int) -> Pixels:
        """The picture one level off everywhere."""
        return map_levels(pixels, lambda level: level + 1 if level < _TOP else _TOP - 1)
