"""Faces in a picture, found by OpenCV's frontal cascade, and the skin of each by its own tones.

Everything but the cascade is whole-number arithmetic. The cascade runs on one thread and without
code chosen by the processor, from the build that pyproject.toml pins; another build may place a
face a few pixels away.
"""

from functools import cache
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from generators.reading import Pixels

if TYPE_CHECKING:
    from cv2 import CascadeClassifier

Plane: TypeAlias = NDArray[np.int64]

FULL_SHARE = 256
"""The share of a pixel that is skin throughout."""
_CASCADE = "haarcascade_frontalface_alt2.xml"
_LONGER_SIDE, _SMALLEST, _STEP, _NEIGHBOURS = 640, 20, 1.1, 5
"""Size in px at which faces are looked for, the smallest face there, the factor between the sizes
that are tried, and the overlapping matches that make a face."""
_REACH_DIVISOR = 32
"""The part of a face's side over which skin is smoothed and its outline softened: 1 / 32."""
_CHROMA, _SPREAD = (5, 18), 4
"""Range of distances from a face's chroma, in levels, and a multiple of the typical distance."""
_DARKEST, _LIGHTEST = (45, 100), (190, 100)
"""Luma of skin as parts of a face's median."""


class DetectedFace(NamedTuple):
    """The square of a face: the x and y of its upper left corner and its side in px."""

    x: int
    y: int
    side: int

    @property
    def smoothing_radius(self) -> int:
        """The reach of smoothing, in px."""
        return max(1, self.side // _REACH_DIVISOR)

    def slice_window(self, shape: tuple[int, ...]) -> tuple[slice, slice]:
        """Rows and columns of the picture around the whole head."""
        margin = self.side // 4
        bottom, right = self.y + self.side + margin, self.x + self.side + margin
        rows = slice(max(0, self.y - margin), min(shape[0], bottom))
        return rows, slice(max(0, self.x - margin), min(shape[1], right))


def find_faces(pixels: Pixels) -> list[DetectedFace]:
    """Upright faces seen from the front, from the top left to the bottom right."""
    grey = Image.fromarray(pixels).convert("L")
    longer = max(grey.size)
    if longer > _LONGER_SIDE:
        width, height = (max(1, side * _LONGER_SIDE // longer) for side in grey.size)
        grey = grey.resize((width, height), Image.Resampling.BOX)
    if min(grey.size) < _SMALLEST:
        return []
    matches = _load_cascade().detectMultiScale(
        np.asarray(grey), _STEP, _NEIGHBOURS, minSize=(_SMALLEST, _SMALLEST)
    )
    scale = max(longer, _LONGER_SIDE)
    squares = ([int(value) * scale // _LONGER_SIDE for value in match[:3]] for match in matches)
    return sorted(DetectedFace(x=x, y=y, side=side) for x, y, side in squares)


@cache
def _load_cascade() -> "CascadeClassifier":
    import cv2  # noqa: PLC0415 - slow, and seldom needed
    from cv2.data import haarcascades  # noqa: PLC0415

    cv2.setNumThreads(1)
    cv2.setUseOptimized(False)
    return cv2.CascadeClassifier(haarcascades + _CASCADE)


def compute_skin_shares(pixels: Pixels, face: DetectedFace) -> Plane:
    """The share of skin in each pixel of a face's window: 0 to `FULL_SHARE`.

    Skin lies in the oval of the head and has the tones of the cheeks, the nose and the mouth's
    surroundings, whichever these are.
    """
    window = face.slice_window(pixels.shape)
    planes = np.asarray(Image.fromarray(pixels[window]).convert("YCbCr"), np.int64)
    rows, columns = np.mgrid[window]
    across = 2 * columns - (2 * face.x + face.side)
    down = 2 * rows - (2 * face.y + face.side) - face.side // 10
    # Half axes in twentieths of the side, doubled as `across` and `down` are.
    oval = (across * 13) ** 2 + (down * 10) ** 2 <= (face.side * 13) ** 2 * 64 // 100
    core = (across**2 * 4 + down**2 * 4) <= face.side**2
    skin = oval & (_is_near_tones(planes, planes[core]))
    near = compute_box_sums(skin.astype(np.int64), face.smoothing_radius)
    area = (2 * face.smoothing_radius + 1) ** 2
    return np.asarray(np.clip(2 * near - area, 0, area) * FULL_SHARE // area)


def _is_near_tones(planes: Plane, sample: Plane) -> NDArray[np.bool_]:
    """Pixels with the tones of a sample, both as Y, Cb and Cr."""
    middle = np.sort(sample, axis=0)[len(sample) // 2]
    distances = np.sort(np.abs(sample - middle), axis=0)[len(sample) // 2]
    least, most = _CHROMA
    limits = np.clip(_SPREAD * distances, least, most)
    luma = planes[..., 0]
    lit = (luma * _DARKEST[1] >= middle[0] * _DARKEST[0]) & (
        luma * _LIGHTEST[1] <= middle[0] * _LIGHTEST[0]
    )
    coloured = (np.abs(planes - middle) <= limits)[..., 1:].all(axis=2)
    return np.asarray(lit & coloured)


def compute_box_sums(plane: Plane, reach: int) -> Plane:
    """The sum over the square that reaches so far from each pixel, the plane mirrored outside."""
    padded = np.pad(plane, reach, mode="symmetric")
    sums = np.pad(padded.cumsum(axis=0).cumsum(axis=1), ((1, 0), (1, 0)))
    size = 2 * reach + 1
    return np.asarray(
        sums[size:, size:] - sums[:-size, size:] - sums[size:, :-size] + sums[:-size, :-size]
    )
