"""Perturbations a second at 1024 px, by one core."""

from collections.abc import Iterator
from pathlib import Path
from statistics import median
from time import process_time

import numpy as np
from matplotlib import get_data_path
from PIL import Image

from bench.figure import Figure
from generators.perturbations.grids import COMMON_PERTURBATIONS, GRID
from generators.perturbations.kinds.title import Title
from generators.perturbations.perturbation import Perturbation
from generators.perturbations.pipeline import perturb
from generators.perturbations.subject import ObjectBox, Subject
from generators.reading import Pixels

_SIZE, _TIMES, _LEAST = 1024, 9, 60
_WHY = {"beauty": "a search for faces of all sizes on one thread"}
"""Why a kind makes fewer than `_LEAST` images per second."""
_SUBJECT = Subject(
    keyword="Flamingo",
    instruction="Generate an image of three flamingos drinking from a watering hole in a meadow.",
    title="Three flamingos",
    boxes=(ObjectBox(0.1, 0.2, 0.3, 0.4, "flamingo"),),
)


def figures() -> Iterator[Figure]:
    """Each kind once with a parameter of its paper, on a picture of noise and a portrait."""
    for made in (
        *(configurations[-1] for configurations in GRID.values()),
        *COMMON_PERTURBATIONS,
        Title(),
    ):
        spent = median(_seconds(picture(), made) for _ in range(_TIMES))
        slow = f"below {_LEAST}: {_WHY.get(made.name, 'why?')}" if spent > 1 / _LEAST else ""
        yield Figure(
            f"{made.title} at {_SIZE} px", 1 / spent, "images per second of a core", None, slow
        )


def picture() -> Pixels:
    """Noise, and matplotlib's portrait of Grace Hopper in its middle."""
    pixels = np.random.default_rng(0).integers(0, 256, (_SIZE, _SIZE, 3), np.uint8)
    with Image.open(Path(get_data_path()) / "sample_data" / "grace_hopper.jpg") as portrait:
        width, height = portrait.size
        top, left = (_SIZE - height) // 2, (_SIZE - width) // 2
        pixels[top : top + height, left : left + width] = np.asarray(portrait)
    return pixels


def _seconds(pixels: Pixels, made: Perturbation) -> float:
    started = process_time()
    perturb(pixels, [made], _SUBJECT)
    return process_time() - started
