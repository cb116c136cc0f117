"""Beauty filter: smoother and lighter skin (FRAME, Section 3), without a face model.

Skin is found by its colour in YCbCr (Chai and Ngan 1999). It is smoothed by a guided filter (He,
Sun and Tang 2010), which leaves edges as they are, and its tones are lifted a little.
"""

from dataclasses import dataclass
from typing import Annotated, ClassVar, TypeAlias

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from generators.perturbations.perturbation import Perturbation, Span
from generators.perturbations.subject import Subject
from generators.reading import Pixels

_CB, _CR, _DARKEST = (77, 127), (133, 173), 60
"""Levels of Cb, Cr and Y that skin has."""
_REACH, _EDGE, _LIFT = 8 / 1024, 20.0, 0.12
"""The filter's reach in parts of the longer side, the contrast in levels that counts as an edge,
and by what part of the way to white a tone in the middle is lifted, twice over."""

Plane: TypeAlias = NDArray[np.float64]


@dataclass(frozen=True, kw_only=True)
class Beauty(Perturbation):
    """Skin smoothed and lightened by `strength`, 0 (nothing changes) to 1."""

    title: ClassVar[str] = "Beauty filter"
    strength: Annotated[float, Span(0, 1)] = 1.0

    def change(self, pixels: Pixels, subject: Subject, seed: int) -> Pixels:
        """The picture with beautiful skin; one without skin stays as it is."""
        reach = max(1, round(_REACH * max(pixels.shape)))
        share = _skin(pixels, reach)
        rows, columns = np.flatnonzero(share.any(axis=1)), np.flatnonzero(share.any(axis=0))
        if not len(rows) or self.strength == 0:
            return pixels
        around = 2 * reach
        part = np.s_[
            max(0, rows[0] - around) : rows[-1] + around + 1,
            max(0, columns[0] - around) : columns[-1] + around + 1,
        ]
        changed = np.array(pixels)
        weight = share[part] * self.strength
        for channel in range(3):
            before = changed[part][..., channel].astype(np.float64)
            smooth = _smoothed(before, reach)
            lifted = smooth + _LIFT * smooth * (255 - smooth) / 255
            after = before + weight * (lifted - before)
            changed[part][..., channel] = np.clip(np.floor(after + 0.5), 0, 255)
        return changed


def _skin(pixels: Pixels, reach: int) -> Plane:
    """How much each pixel is of skin, 0 to 1: 0 where less than half of what is near is."""
    luma, blue, red = np.moveaxis(np.asarray(Image.fromarray(pixels).convert("YCbCr")), 2, 0)
    skin = (_CB[0] <= blue) & (blue <= _CB[1]) & (_CR[0] <= red) & (red <= _CR[1])
    near = _mean((skin & (luma >= _DARKEST)).astype(np.float64), reach)
    return np.clip(2 * near - 1, 0, 1)


def _smoothed(plane: Plane, reach: int) -> Plane:
    """A guided filter of the plane by itself."""
    mean = _mean(plane, reach)
    variance = np.maximum(_mean(plane * plane, reach) - mean * mean, 0)
    slope = variance / (variance + _EDGE**2)
    return slope * (plane - mean) + mean


def _mean(plane: Plane, reach: int) -> Plane:
    """The mean over a square that reaches so far, the plane mirrored at its edges."""
    from scipy.ndimage import uniform_filter  # noqa: PLC0415 - slow, and seldom needed

    return np.asarray(uniform_filter(plane, 2 * reach + 1), np.float64)
