"""The subject's name above the picture (VLMBias, section 4.7)."""

from dataclasses import dataclass
from typing import ClassVar

from generators.glyphs import MissingGlyph
from generators.perturbations.perturbation import Perturbation
from generators.perturbations.subject import Inapplicable, Subject
from generators.perturbations.title_strip import add_title
from generators.reading import Pixels

_NARROWEST, _TALLEST = 64, 8


@dataclass(frozen=True, kw_only=True)
class Title(Perturbation):
    """A white strip with the subject's title on top: the canvas grows."""

    title: ClassVar[str] = "In-image title"

    def change(self, pixels: Pixels, subject: Subject, seed: int) -> Pixels:
        """The picture below its title; no pixel of it changes."""
        if not subject.title.split():
            raise Inapplicable("Title: the subject has none. Give Subject(title=…).")
        height, width, _ = pixels.shape
        if width < _NARROWEST or height > _TALLEST * width:
            raise Inapplicable(
                f"Title: it would not be legible on {width}x{height} px. Choose a picture at least "
                f"{_NARROWEST} px wide and at most {_TALLEST} times as high."
            )
        try:
            return add_title(pixels, subject.title)
        except MissingGlyph as missing:
            raise Inapplicable(f"Title: {missing}") from None

    def find_corner(self, before: Pixels, after: Pixels) -> tuple[int, int]:
        """The strip's lower left end."""
        return 0, len(after) - len(before)
