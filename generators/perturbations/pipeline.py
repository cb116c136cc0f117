"""Perturbing pictures: one perturbation after the other, the same bytes every time."""

import io
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from PIL import Image

from generators.opaque_rgb import to_opaque_rgb
from generators.perturbations.perturbation import Perturbation
from generators.perturbations.subject import EMPTY_SUBJECT, Inapplicable, Subject
from generators.perturbations.tones import STRIP_ROWS
from generators.reading import Pixels
from generators.tiles import encode_png


def perturb(
    pixels: Pixels,
    perturbations: Sequence[Perturbation],
    subject: Subject = EMPTY_SUBJECT,
    *,
    seed: int = 0,
) -> Pixels:
    """The picture after `perturbations`, each made of what the one before gave.

    `seed` is 0 or more; only noise depends on it. What lies in the picture moves with it: boxes
    stay around their objects where the canvas grows. Raises `Inapplicable` where a perturbation
    cannot be made, or changes no pixel: what is unchanged is no perturbed picture.

    >>> from generators.perturbations.kinds.brightness import Brightness
    >>> perturb(np.full((1, 1, 3), 100, np.uint8), [Brightness(factor=1.3)]).tolist()
    [[[130, 130, 130]]]
    """
    original_pixels = pixels
    for step, perturbation in enumerate(perturbations):
        changed = perturbation.change(pixels, subject, _compute_step_seed(seed, step))
        if _are_equal(pixels, changed):
            raise Inapplicable(
                f"{perturbation.title}: no pixel changes. "
                "Choose another picture or other parameters."
            )
        if changed.shape != pixels.shape:
            subject = subject.move_boxes(
                _get_size(pixels), _get_size(changed), perturbation.find_corner(pixels, changed)
            )
        pixels = changed
    is_own = pixels.flags.writeable and not np.may_share_memory(pixels, original_pixels)
    return pixels if is_own else np.array(pixels)


def _are_equal(before: Pixels, after: Pixels) -> bool:
    """True if no pixel differs; strips are compared, of which the first one mostly differs."""
    return before.shape == after.shape and all(
        np.array_equal(before[top : top + STRIP_ROWS], after[top : top + STRIP_ROWS])
        for top in range(0, len(before), STRIP_ROWS)
    )


def _compute_step_seed(seed: int, step: int) -> int:
    """A seed for each step, so that repeated noise differs."""
    return seed * 1_000 + step


def _get_size(pixels: Pixels) -> tuple[int, int]:
    height, width, _ = pixels.shape
    return width, height


@dataclass(frozen=True, slots=True)
class PerturbJob:
    """An image file of any format and mode, and its perturbations."""

    image: bytes
    perturbations: tuple[Perturbation, ...]
    subject: Subject = EMPTY_SUBJECT
    seed: int = 0


def perturb_png(perturbing: PerturbJob) -> bytes:
    """The PNG of the perturbed picture: RGB, 8 bits, without metadata."""
    with Image.open(io.BytesIO(perturbing.image)) as image:
        pixels = np.asarray(to_opaque_rgb(image))
    changed = perturb(pixels, perturbing.perturbations, perturbing.subject, seed=perturbing.seed)
    return encode_png(Image.fromarray(changed))
