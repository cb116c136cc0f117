"""What every perturbation must keep, whichever file it lies in.

Runs on the whole registry: a new file in `generators/perturbations/kinds` is covered once `MADE`
says with which parameters it is made.
"""

import io
import json
import subprocess
import sys
from dataclasses import FrozenInstanceError, fields
from hashlib import sha256
from pathlib import Path

import numpy as np
import pytest
from PIL import Image, ImageOps

from generators.opaque_rgb import to_opaque_rgb
from generators.perturbations.perturbation import BadParameter, Perturbation
from generators.perturbations.pipeline import PerturbJob, perturb, perturb_png
from generators.perturbations.registry import (
    build_perturbation,
    fingerprint_perturbations,
    from_json,
    from_mapping,
    load_kinds,
    to_json,
    to_mapping,
)
from generators.perturbations.subject import Inapplicable, ObjectBox, Subject
from tests.photographs import photograph

PROJECT = Path(__file__).parents[3]
SUBJECT = Subject(
    keyword="Flamingo",
    instruction="Generate an image of three flamingos drinking from a watering hole in a meadow.",
    title="Three flamingos",
    boxes=(ObjectBox(0.1, 0.2, 0.3, 0.4, "flamingo"), ObjectBox(0.5, 0.5, 0.5, 0.5, "hole")),
)
MADE = {
    "authenticity": {"position": "bottom-right"},
    "beauty": {"strength": 0.8},
    "boxes": {},
    "brightness": {"factor": 1.3},
    "defocus": {"radius": 3},
    "gamma": {"gamma": 1.6},
    "grey_level": {},
    "hsv_brightness": {"amount": 0.3},
    "instruction": {"position": "center"},
    "jpeg": {"quality": 40},
    "keyword": {"position": "top-left"},
    "noise": {"sigma": 0.05},
    "padding": {"thickness": 7},
    "title": {},
}
NEUTRAL = {
    "beauty": {"strength": 0},
    "brightness": {"factor": 1},
    "defocus": {"radius": 0},
    "gamma": {"gamma": 1},
    "hsv_brightness": {"amount": 0},
    "noise": {"sigma": 0},
    "padding": {"thickness": 0},
}
UNCHANGED_IN_BLACK_AND_WHITE = {"beauty", "brightness", "gamma"}
FACE = 110
"""Side of the portrait in pictures that have room for it, px."""
GROWING = {"padding", "title"}
ALL = [build_perturbation(name, **parameters) for name, parameters in MADE.items()]
MODES = ["1", "L", "LA", "P", "PA", "RGB", "RGBA", "CMYK", "YCbCr", "HSV", "I", "I;16", "I;16B"]


def picture(width=150, height=120, seed=0):
    """A face, skin, a gradient and noise: what every kind finds something in to change."""
    pixels = np.random.default_rng(seed).integers(0, 256, (height, width, 3), np.uint8)
    pixels[: height // 2] = (224, 172, 140)
    pixels[height // 4 : height // 2] -= np.arange(width, dtype=np.uint8)[None, :, None] % 23
    if min(width, height) >= FACE:
        portrait = Image.fromarray(photograph("grace_hopper")[20:420, 60:460])
        pixels[:FACE, :FACE] = np.asarray(portrait.resize((FACE, FACE)))
    return pixels


@pytest.fixture(params=ALL, ids=lambda each: each.name)
def made(request):
    return request.param


def test_each_kind_is_found_and_made_here():
    assert list(load_kinds()) == sorted(MADE)
    assert all(each.title for each in load_kinds().values())
    assert len({kind.title for kind in load_kinds().values()}) == len(load_kinds())


class TestPixels:
    def test_it_changes_the_picture_and_leaves_the_one_it_was_given(self, made):
        before = picture()
        after = perturb(before, [made], SUBJECT)
        assert (before == picture()).all()
        assert after.dtype == np.uint8
        assert after.flags.writeable
        assert not np.shares_memory(before, after)
        assert not np.array_equal(before, after)

    def test_only_what_frames_a_picture_changes_its_size(self, made):
        before = picture()
        after = perturb(before, [made], SUBJECT)
        assert after.shape[2] == 3
        assert (after.shape != before.shape) == (made.name in GROWING)
        x, y = made.find_corner(before, after)
        if made.name in GROWING:
            assert (after[y : y + 120, x : x + 150] == before).all()

    @pytest.mark.parametrize("name", NEUTRAL)
    def test_a_neutral_parameter_changes_nothing(self, name):
        neutral = build_perturbation(name, **NEUTRAL[name])
        assert (neutral.change(picture(), SUBJECT, 0) == picture()).all()

    @pytest.mark.parametrize("name", NEUTRAL)
    def test_an_unchanged_picture_is_inapplicable(self, name):
        neutral = build_perturbation(name, **NEUTRAL[name])
        for order in ([neutral], [build_perturbation("padding", thickness=7), neutral]):
            with pytest.raises(Inapplicable, match=rf"^{neutral.title}: no pixel changes. Choose "):
                perturb(picture(), order, SUBJECT)

    @pytest.mark.parametrize("size", [(1, 1), (130, 64), (130, 65), (130, 129)])
    def test_a_single_changed_pixel_is_a_change(self, size):
        width, height = size
        for row in {0, height // 2, height - 1}:
            before = np.zeros((height, width, 3), np.uint8)
            before[row, -1, 2] = 100
            after = perturb(before, [build_perturbation("brightness", factor=1.3)])
            assert after[row, -1, 2] == 130

    @pytest.mark.parametrize("size", [(1, 1), (1, 300), (2000, 3), (4, 900), (40, 2000)])
    def test_small_and_narrow_pictures_are_changed_or_it_says_why_not(self, made, size):
        width, height = size
        too_small = (
            {"authenticity", "instruction", "keyword", "padding"} if min(size) < 5 else set()
        )
        too_small |= {"title"} if width < 64 else set()
        if made.name in too_small:
            with pytest.raises(Inapplicable, match=rf"{width}x{height} px.* Choose .*\.$"):
                perturb(picture(*size), [made], SUBJECT)
        elif made.name == "beauty" or (made.name, size) == ("defocus", (1, 1)):
            with pytest.raises(Inapplicable, match=r"no face|no pixel changes"):
                perturb(picture(*size), [made], SUBJECT)
        else:
            after = perturb(picture(*size), [made], SUBJECT)
            assert (after.shape == (height, width, 3)) == (made.name not in GROWING)

    def test_any_two_can_be_combined_in_both_orders(self, made):
        for other in set(ALL) - {made}:
            both = perturb(picture(), [made, other], SUBJECT, seed=3)
            assert both.ndim == 3
            alone = perturb(picture(), [made], SUBJECT, seed=3)
            assert both.shape[0] >= alone.shape[0]

    def test_the_seed_decides_about_noise_alone(self, made):
        one, other = (perturb(picture(), [made], SUBJECT, seed=seed) for seed in (1, 2))
        assert np.array_equal(one, other) == (made.name != "noise")
        assert np.array_equal(one, perturb(picture(), [made], SUBJECT, seed=1))


class TestFiles:
    @pytest.mark.parametrize("mode", MODES)
    def test_every_mode_becomes_rgb(self, mode):
        grey = Image.fromarray(picture()).convert("L")
        levels = np.asarray(grey).astype(np.int32) * 257
        deep = {"I": np.int32, "I;16": "<u2", "I;16B": ">u2"}
        if mode in deep:
            source = Image.fromarray(levels.astype(deep[mode]))
        else:
            source = Image.fromarray(picture()).convert("P" if mode == "PA" else mode).convert(mode)
        assert source.mode == mode
        plain = to_opaque_rgb(source)
        assert (plain.mode, plain.size, plain.info) == ("RGB", (150, 120), {})
        if mode in {*deep, "L", "LA"}:
            assert (np.asarray(plain) == np.asarray(grey)[..., None]).all()

    @pytest.mark.parametrize(
        ("mode", "kind"),
        [
            *(("1", "PNG"), ("L", "PNG"), ("P", "PNG"), ("RGBA", "PNG"), ("I;16", "PNG")),
            *(("CMYK", "JPEG"), ("I;16B", "TIFF"), ("RGBA", "WEBP")),
        ],
    )
    def test_a_file_of_any_mode_becomes_an_rgb_png(self, made, mode, kind):
        if mode.startswith("I"):
            levels = np.asarray(Image.fromarray(picture()).convert("L"), np.uint16) * 257
            source = Image.fromarray(levels.astype(">u2" if mode.endswith("B") else "<u2"))
        else:
            source = Image.fromarray(picture()).convert(mode)
        file = io.BytesIO()
        source.save(file, kind)
        perturbing = PerturbJob(file.getvalue(), (made,), SUBJECT)
        if mode == "1" and made.name in UNCHANGED_IN_BLACK_AND_WHITE:
            with pytest.raises(Inapplicable):
                perturb_png(perturbing)
            return
        png = perturb_png(perturbing)
        with Image.open(io.BytesIO(png)) as out:
            assert (out.format, out.mode, out.info) == ("PNG", "RGB", {})
            assert (out.size == (150, 120)) == (made.name not in GROWING)

    def test_transparency_is_laid_on_white(self):
        clear = Image.new("RGBA", (20, 10), (255, 0, 0, 0))
        clear.putpixel((3, 4), (10, 20, 30, 255))
        [pixels] = opened(perturb_png(PerturbJob(png_of(clear), ())))
        assert tuple(pixels[4, 3]) == (10, 20, 30)
        assert (np.delete(pixels.reshape(-1, 3), 4 * 20 + 3, axis=0) == 255).all()

    def test_a_turned_photograph_is_put_upright(self):
        exif = Image.Exif()
        exif[0x0112] = 6
        file = io.BytesIO()
        Image.fromarray(picture()).save(file, "PNG", exif=exif)
        [pixels] = opened(perturb_png(PerturbJob(file.getvalue(), ())))
        assert (pixels == np.rot90(picture(), -1)).all()
        with Image.open(file) as image:
            assert (pixels == np.asarray(ImageOps.exif_transpose(image))).all()


def png_of(image):
    file = io.BytesIO()
    image.save(file, "PNG")
    return file.getvalue()


def opened(*pngs):
    return [np.asarray(Image.open(io.BytesIO(png))) for png in pngs]


def digest():
    after = (perturb(picture(), [each], SUBJECT, seed=5) for each in (*ALL, *reversed(ALL)))
    whole = perturb(picture(300, 200), ALL, SUBJECT, seed=5)
    return sha256(b"".join(each.tobytes() for each in (*after, whole))).hexdigest()


def test_another_process_gives_the_same_bytes(tmp_path):
    program = (
        "from tests.generators.perturbations import test_contract as it\n"
        "print(it.digest(), it.fingerprint_perturbations(it.ALL))"
    )
    environment = {"PYTHONPATH": str(PROJECT), "PYTHONHASHSEED": "4711", "LC_ALL": "POSIX"}
    other = subprocess.run(
        [sys.executable, "-c", program],
        cwd=tmp_path,
        env={**environment, "HOME": str(tmp_path), "OMP_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        check=True,
    )
    assert other.stdout.split() == [digest(), fingerprint_perturbations(ALL)]


class TestParameters:
    def test_plain_forms_are_read_back(self, made):
        plain = json.loads(json.dumps(to_mapping(made)))
        assert plain == {"kind": made.name, **made.parameters}
        assert from_mapping(plain) == made
        assert from_json(to_json([made, made])) == (made, made)
        assert hash(from_mapping(plain)) == hash(made)

    def test_equal_ones_are_written_the_same(self):
        forms = [{"factor": 2, "kind": "brightness"}, {"kind": "brightness", "factor": 2.0}]
        assert len({to_json([from_mapping(form)]) for form in forms}) == 1
        assert to_json([]) == "[]"

    def test_they_cannot_be_changed(self, made):
        for name in (*made.parameters, "anything"):
            with pytest.raises((FrozenInstanceError, TypeError)):
                setattr(made, name, 1)

    def test_what_is_off_is_named_with_its_range(self, made):
        for field in fields(made):
            for wrong in (float("nan"), float("inf"), -1e9, 10**400, True, None, "much", [1]):
                with pytest.raises(BadParameter, match=rf"^{made.name}\.{field.name}: .*\.$"):
                    build_perturbation(made.name, **{**made.parameters, field.name: wrong})

    def test_a_missing_and_an_unknown_one_are_named(self, made):
        with pytest.raises(BadParameter, match=rf"^{made.name}: unknown parameter 'strenght'"):
            build_perturbation(made.name, **made.parameters, strenght=1)
        with pytest.raises(
            BadParameter, match=r"^Perturbations: unknown kind 'brigtness', did you mean br"
        ):
            build_perturbation("brigtness", factor=1)
        with pytest.raises(BadParameter, match=r"brightness: .*factor"):
            build_perturbation("brightness")

    def test_code_is_told_apart_by_kind(self):
        assert len({fingerprint_perturbations([each]) for each in ALL}) == len(ALL)
        assert fingerprint_perturbations(ALL) == fingerprint_perturbations(ALL[::-1])


@pytest.mark.parametrize("name", ["keyword", "instruction", "title", "boxes"])
def test_what_the_subject_lacks_is_named(name):
    with pytest.raises(Inapplicable, match=rf"(?i)^{name}: the subject has none. Give .*{name}="):
        perturb(picture(), [build_perturbation(name, **MADE[name])])


def test_a_kind_must_say_what_it_changes():
    with pytest.raises(TypeError, match="abstract"):
        Perturbation()
