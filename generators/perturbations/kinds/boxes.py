"""Bounding boxes around the objects (FRAME, Section 3)."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from generators.perturbations.perturbation import Perturbation
from generators.perturbations.subject import Inapplicable, Subject
from generators.reading import Pixels

_COLOUR = (255, 0, 0)
_LINE = 4 / 1024
"""The line's width in parts of the picture's longer side; it is 2 px at least."""


@dataclass(frozen=True, kw_only=True)
class BoundingBoxes(Perturbation):
    """A red frame on each box of the subject, its line inside the box; labels are not written."""

    title: ClassVar[str] = "Bounding boxes"
    is_overlay: ClassVar[bool] = True

    def change(self, pixels: Pixels, subject: Subject, seed: int) -> Pixels:
        """The picture with its objects framed."""
        if not subject.boxes:
            raise Inapplicable("Boxes: the subject has none. Give Subject(boxes=…).")
        framed = np.array(pixels)
        height, width, _ = pixels.shape
        line = max(2, round(_LINE * max(height, width)))
        for box in subject.boxes:
            left_px, right_px = (
                min(width, max(0, round(side * width))) for side in (box.left, box.left + box.width)
            )
            top_px, bottom_px = (
                min(height, max(0, round(side * height)))
                for side in (box.top, box.top + box.height)
            )
            inside = framed[
                top_px : max(bottom_px, top_px + 1), left_px : max(right_px, left_px + 1)
            ]
            interior = inside[line:-line, line:-line].copy()
            inside[:] = _COLOUR
            inside[line:-line, line:-line] = interior
        return framed
