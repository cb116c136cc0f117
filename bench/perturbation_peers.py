"""The same perturbations by albumentations, imagecorruptions and scikit-image, side by side.

They are the extra `peers`: `pip install -e '.[peers]'`. Each gives what ours gives but for the
levels that a line names; noise is another each time. Nobody else multiplies V of HSV as a table.
JPEG's chrominance is coarser than its luminance, so that OpenCV, on which albumentations rests, is
given blue first, as it expects: else it compresses another picture.
"""

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from importlib import import_module
from statistics import median
from time import process_time
from typing import Any

import numpy as np

from bench.figure import Figure
from bench.perturbations import picture
from generators.perturbations.perturbation import Perturbation
from generators.perturbations.pipeline import perturb
from generators.perturbations.registry import build_perturbation
from generators.reading import Pixels

_TIMES, _FACTOR, _EDGE = 9, 1.3, 50

_Change = Callable[[Pixels], Any]


def figures() -> Iterator[Figure]:
    """Each operation by us and by those that have it, with who is fastest."""
    pixels = picture()
    for name, parameters, peers in _operations():
        ours: _Change = partial(_ours, build_perturbation(name, **parameters))
        changes = {"Counterfactory": ours, **peers}
        seconds = _seconds(changes, pixels)
        for package, change in changes.items():
            off = _off(ours(pixels), change(pixels))
            first = "fastest" if seconds[package] == min(seconds.values()) else ""
            note = ", ".join(filter(None, (f"{off} levels from ours" if off else "", first)))
            rate = 1 / seconds[package]
            yield Figure(f"{name} by {package}", rate, "images per second of a core", None, note)


def _operations() -> Iterator[tuple[str, dict[str, float], dict[str, _Change]]]:
    try:
        pixel, blur, geometric = (
            import_module(f"albumentations.augmentations.{part}.functional")
            for part in ("pixel", "blur", "geometric")
        )
        corrupt = import_module("imagecorruptions").corrupt
        cv2 = import_module("cv2")
        swapped, blue_first = cv2.cvtColor, cv2.COLOR_RGB2BGR
        exposure, util = (import_module(f"skimage.{part}") for part in ("exposure", "util"))
    except ImportError as missing:
        raise SystemExit(f"Peers: {missing}. pip install -e '.[peers]'") from None
    yield (
        "brightness",
        {"factor": _FACTOR},
        {"albumentations": lambda p: pixel.adjust_brightness_torchvision(p, _FACTOR)},
    )
    yield (
        "gamma",
        {"gamma": _FACTOR},
        {
            "albumentations": lambda p: pixel.gamma_transform(p, 1 / _FACTOR),
            "scikit-image": lambda p: exposure.adjust_gamma(p, 1 / _FACTOR),
        },
    )
    yield (
        "hsv_brightness",
        {"amount": 0.5},
        {"imagecorruptions": lambda p: corrupt(p, 5, "brightness")},
    )
    yield (
        "noise",
        {"sigma": 0.08},
        {
            "imagecorruptions": lambda p: corrupt(p, 1, "gaussian_noise"),
            "scikit-image": lambda p: (255 * util.random_noise(p, var=0.08**2)).astype(np.uint8),
        },
    )
    yield "defocus", {"radius": 5}, {"albumentations": lambda p: blur.defocus(p, 5, 0.1)}
    yield (
        "jpeg",
        {"quality": 30},
        {
            "albumentations": lambda p: swapped(
                pixel.image_compression(swapped(p, blue_first), 30, ".jpg"), blue_first
            )
        },
    )
    yield (
        "padding",
        {"thickness": _EDGE},
        {"albumentations": lambda p: geometric.pad_with_params(p, *[_EDGE] * 4, 0, 0)},
    )


def _ours(made: Perturbation, pixels: Pixels) -> Pixels:
    return perturb(pixels, [made])


def _seconds(changes: Mapping[str, _Change], pixels: Pixels) -> dict[str, float]:
    """The median CPU time of a core by package, in turns, so that memory is as warm for each.

    Peers that start threads are charged for all of them.
    """
    spent: dict[str, list[float]] = {package: [] for package in changes}
    for _ in range(_TIMES):
        for package, change in changes.items():
            change(pixels)
            started = process_time()
            change(pixels)
            spent[package].append(process_time() - started)
    return {package: median(times) for package, times in spent.items()}


def _off(one: Pixels, other: Any) -> int:
    return int(np.abs(one.astype(int) - np.asarray(other).astype(int)).max())
