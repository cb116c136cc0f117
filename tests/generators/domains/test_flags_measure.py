import io
from collections.abc import Callable

import numpy as np
import pytest
from PIL import Image

from generators.domains.flags.draw import list_scenes
from generators.domains.flags.measure import measure
from generators.reading import Pixels, Unreadable
from generators.scene import Scene
from tests.generators.domains.samples import picture, readings

SCENES = {scene.base_id.removeprefix("flags/"): scene for scene in list_scenes(seed=0)}
SAMPLE = [
    "united-states-stars-add",
    "united-states-stripes-remove",
    "australia-stars-remove",
    "new-zealand-stars-add",
    "cape-verde-stars-add",
    "singapore-stars-remove",
    "burundi-stars-add",
    "malaysia-stripes-add",
    "uruguay-stripes-remove",
    "cuba-stripes-add",
    "thailand-stripes-add",
]


def padded(pixels: Pixels, value: int) -> Pixels:
    return np.pad(pixels, ((7, 7), (7, 7), (0, 0)), constant_values=value)


def scaled(pixels: Pixels, resampling: Image.Resampling) -> Pixels:
    image = Image.fromarray(pixels)
    return np.asarray(image.resize((image.width * 9 // 10, image.height * 9 // 10), resampling))


def as_jpeg(pixels: Pixels) -> Pixels:
    file = io.BytesIO()
    Image.fromarray(pixels).save(file, "JPEG", quality=90)
    return np.asarray(Image.open(file))


CHANGES: dict[str, Callable[[Pixels], Pixels]] = {
    "white padding": lambda pixels: padded(pixels, 255),
    "black padding": lambda pixels: padded(pixels, 0),
    "grey padding": lambda pixels: padded(pixels, 128),
    "lanczos": lambda pixels: scaled(pixels, Image.Resampling.LANCZOS),
    "bicubic": lambda pixels: scaled(pixels, Image.Resampling.BICUBIC),
    "jpeg": as_jpeg,
    "padded jpeg": lambda pixels: as_jpeg(padded(pixels, 255)),
}


def pixels(scene_name: str, size: int) -> Pixels:
    return picture(SCENES[scene_name], size)


def agrees(scene: Scene, pixels: Pixels) -> bool:
    return list(measure(pixels, tuple(scene.truths))) == list(scene.truths.values())


@pytest.mark.parametrize("size", [768, 1152])
@pytest.mark.parametrize("name", SAMPLE)
def test_larger_scenes_read_the_same(name: str, size: int):
    assert readings(SCENES[name], size) == SCENES[name].truths


@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("name", SAMPLE)
def test_padding_scaling_and_jpeg_change_no_reading(name: str, change: str):
    assert agrees(SCENES[name], CHANGES[change](pixels(name, 768)))


COUNTERFACTUALS = [name for name, scene in SCENES.items() if scene.variant == "counterfactual"]


@pytest.mark.parametrize("name", COUNTERFACTUALS)
def test_a_wrong_label_is_caught(name: str):
    assert readings(SCENES[name]) != SCENES[name].standards


@pytest.mark.parametrize("name", COUNTERFACTUALS)
def test_a_star_or_stripe_too_many_or_too_few_in_the_picture_is_caught(name: str):
    add, remove = name, name.replace("-add", "-remove")
    if name.endswith("-remove"):
        add, remove = name.replace("-remove", "-add"), name
    original = SCENES[name].original_id.removeprefix("flags/")
    for other in {add, remove, original} - {name}:
        target = SCENES[name].target
        assert readings(SCENES[other])[target] != SCENES[name].truths[target]


def painted_over(pixels: Pixels, rows: slice, columns: slice) -> Pixels:
    """One mark gone, in the colour that is just above and left of it."""
    changed = pixels.copy()
    changed[rows, columns] = pixels[rows.start, columns.start]
    return changed


def test_a_star_painted_over_is_missed():
    whole = pixels("european-union", 768)
    yellow = (np.abs(whole - np.array([255, 204, 0])) < 40).all(axis=2)
    bottom = np.flatnonzero(yellow.any(axis=1))[-1]
    columns = np.flatnonzero(yellow[bottom - 10 : bottom + 1].any(axis=0))
    middle = int(columns.mean())
    spot = slice(bottom - 50, bottom + 5), slice(middle - 35, middle + 35)
    assert measure(whole, ["stars"]) == [12]
    assert measure(painted_over(whole, *spot), ["stars"]) == [11]


def test_only_stars_and_stripes_are_read():
    with pytest.raises(Unreadable, match="'moons'"):
        measure(pixels("malaysia", 384), ["moons"])
