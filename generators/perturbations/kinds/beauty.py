"""Beauty filter: smoother and lighter skin in faces (FRAME, Section 3).

Faces are found by a detector, skin within each by the face's own tones. It is smoothed by a guided
filter (He, Sun and Tang 2010), which keeps edges, and its tones are lifted a little.
"""

from dataclasses import dataclass
from typing import Annotated, ClassVar

import numpy as np

from generators.perturbations.faces import (
    FULL_SHARE,
    DetectedFace,
    Plane,
    compute_box_sums,
    compute_skin_shares,
    find_faces,
)
from generators.perturbations.perturbation import ParameterRange, Perturbation
from generators.perturbations.subject import Inapplicable, Subject
from generators.reading import Pixels

_EDGE, _LIFT = 20, 12
"""The contrast in levels that counts as an edge, and by how many hundredths of the way to white a
tone in the middle is lifted, twice over."""
_FINE = 256
"""Steps of a level in which tones are computed."""


@dataclass(frozen=True, kw_only=True)
class Beauty(Perturbation):
    """Skin of faces smoothed and lightened by `strength`, 0 (nothing changes) to 1."""

    title: ClassVar[str] = "Beauty filter"
    strength: Annotated[float, ParameterRange(least=0, most=1)] = 1.0

    def change(self, pixels: Pixels, subject: Subject, seed: int) -> Pixels:
        """The picture with its faces filtered. Raises `Inapplicable` where it shows no face."""
        faces = find_faces(pixels)
        if not faces:
            raise Inapplicable("Beauty filter: no face is seen from the front. Choose a portrait.")
        changed = np.array(pixels)
        strength = round(self.strength * FULL_SHARE)
        for face in faces:
            window = face.slice_window(pixels.shape)
            weights = compute_skin_shares(pixels, face) * strength
            for channel in range(3):
                plane = changed[window][..., channel]
                plane[:] = _filter_plane(plane.astype(np.int64), weights, face)
        return changed


def _filter_plane(plane: Plane, weights: Plane, face: DetectedFace) -> Plane:
    smooth = _smooth_plane(plane, face.smoothing_radius)
    white = 255 * _FINE
    lifted = smooth + _LIFT * smooth * (white - smooth) // (100 * white)
    most = FULL_SHARE * FULL_SHARE
    fine = plane * _FINE * (most - weights) + np.minimum(lifted, white) * weights
    return np.asarray((fine + most * _FINE // 2) // (most * _FINE))


def _smooth_plane(plane: Plane, reach: int) -> Plane:
    """The plane through a guided filter by itself, in steps of a level."""
    area = (2 * reach + 1) ** 2
    sums = compute_box_sums(plane, reach)
    variance = area * compute_box_sums(plane * plane, reach) - sums * sums
    slope = variance * _FINE // (variance + _EDGE**2 * area**2)
    mean = sums * _FINE // area
    return np.asarray(mean + slope * (plane * _FINE - mean) // _FINE)
