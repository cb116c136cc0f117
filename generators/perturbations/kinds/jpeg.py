"""JPEG compression (VHExpansion, Appendix C)."""

import io
from dataclasses import dataclass
from typing import Annotated, ClassVar

import numpy as np
from PIL import Image

from generators.perturbations.perturbation import ParameterRange, Perturbation
from generators.perturbations.subject import Subject
from generators.reading import Pixels


@dataclass(frozen=True, kw_only=True)
class Jpeg(Perturbation):
    """The picture after JPEG at a `quality` of 1 to 95."""

    title: ClassVar[str] = "JPEG compression"
    quality: Annotated[int, ParameterRange(least=1, most=95)] = 30

    def change(self, pixels: Pixels, subject: Subject, seed: int) -> Pixels:
        """The picture compressed by Pillow, and unpacked again."""
        file = io.BytesIO()
        Image.fromarray(pixels).save(file, "JPEG", quality=self.quality)
        with Image.open(file) as image:
            return np.asarray(image)
