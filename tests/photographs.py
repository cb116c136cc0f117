"""Photographs that packages bring along, and the ten tones of the Monk scale laid on a face."""

from functools import cache
from importlib.util import find_spec
from pathlib import Path

import numpy as np
from PIL import Image

MONK = (
    *("f6ede4", "f3e7db", "f7ead0", "eadaba", "d7bd96"),
    *("a07e56", "825c43", "604134", "3a312a", "292420"),
)
"""The Monk Skin Tone Scale, lightest first (skintone.google, CC BY 4.0)."""

_FOLDERS = {"matplotlib": "mpl-data/sample_data", "skimage": "data"}
_FILES = {
    "grace_hopper": "matplotlib/grace_hopper.jpg",
    **{name: f"skimage/{name}.png" for name in ("astronaut", "chelsea", "coffee", "camera")},
    **{name: f"skimage/{name}.png" for name in ("motorcycle_left", "brick", "grass", "coins")},
    **{name: f"skimage/{name}.jpg" for name in ("rocket", "hubble_deep_field", "retina")},
}
FACELESS = sorted(_FILES.keys() - {"astronaut", "grace_hopper", "camera"})
"""A cat, a cup on a wooden table, a garage with a motorcycle, walls, lawn, coins, sky, an eye."""
FACES = {"astronaut": (176, 66, 97), "grace_hopper": (150, 104, 225)}
"""Left, top and side in px of the square from the brows' upper edge to the chin, by eye."""


@cache
def photograph(name: str) -> np.ndarray:
    """Its pixels: H x W x 3 values of uint8, read-only."""
    package, file = _FILES[name].split("/")
    spec = find_spec(package)
    assert spec is not None
    assert spec.origin is not None
    with Image.open(Path(spec.origin).parent / _FOLDERS[package] / file) as image:
        pixels = np.array(image.convert("RGB"))
    pixels.flags.writeable = False
    return pixels


def head(name: str, scale: float = 1.0) -> np.ndarray:
    """Where the head's oval is in a portrait: H x W booleans."""
    (left, top, side), (height, width) = FACES[name], photograph(name).shape[:2]
    rows, columns = np.mgrid[:height, :width]
    across, down = (columns - left - side / 2) / 0.4, (rows - top - side * 0.52) / 0.54
    return across**2 + down**2 <= (scale * side) ** 2


def recoloured(name: str, tone: str) -> np.ndarray:
    """A portrait whose face has a tone of the scale where it is well lit.

    Linear light is multiplied, so that only the colour of the skin changes; features and light stay
    those of the person.
    """
    left, top, side = FACES[name]
    light = _linear(photograph(name) / 255)
    rows, columns = (slice(start + side * 2 // 5, start + side * 7 // 10) for start in (top, left))
    skin = np.percentile(light[rows, columns].reshape(-1, 3), 90, axis=0)
    wanted = _linear(np.array(list(bytes.fromhex(tone))) / 255)
    changed = np.where(head(name)[..., None], light * (wanted / skin), light).clip(0, 1)
    encoded = np.where(changed <= 0.0031308, changed * 12.92, 1.055 * changed ** (1 / 2.4) - 0.055)
    return np.asarray(encoded * 255 + 0.5, np.uint8)


def _linear(levels: np.ndarray) -> np.ndarray:
    return np.where(levels <= 0.04045, levels / 12.92, ((levels + 0.055) / 1.055) ** 2.4)
