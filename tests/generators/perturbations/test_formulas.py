"""Each perturbation against another library, or its formula written out in full precision."""

import io

import numpy as np
import pytest
from PIL import Image, ImageEnhance
from scipy import ndimage

from generators.perturbations.grids import (
    COMMON_PERTURBATIONS,
    FACTORS,
    GRID,
    ORDER,
    list_biases,
    order_perturbations,
)
from generators.perturbations.lettering import POSITIONS
from generators.perturbations.pipeline import perturb
from generators.perturbations.registry import build_perturbation, load_kinds
from generators.perturbations.subject import EMPTY_SUBJECT, Inapplicable, ObjectBox, Subject

GREY = np.full((400, 600, 3), 128, np.uint8)
LONG = "Create an image of one balloon in outer space, " * 12


def picture(height=90, width=140):
    pixels = np.random.default_rng(2).integers(0, 256, (height, width, 3), np.uint8)
    pixels[0, :256] = np.arange(min(256, width))[:, None]
    return pixels


def off(one, other):
    return int(np.abs(one.astype(int) - other.astype(int)).max())


@pytest.mark.parametrize("factor", FACTORS)
def test_brightness_is_pillows_within_a_level_and_the_product_rounded(factor):
    before = picture()
    after = perturb(before, [build_perturbation("brightness", factor=factor)])
    enhanced = ImageEnhance.Brightness(Image.fromarray(before)).enhance(factor)
    assert off(after, np.asarray(enhanced)) <= 1
    assert (after == np.clip(np.floor(before * factor + 0.5), 0, 255)).all()


@pytest.mark.parametrize("gamma", FACTORS)
def test_gamma_is_the_power_in_full_precision(gamma):
    """No level lies so near a half that another machine could round it otherwise."""
    levels = np.tile(np.arange(256, dtype=np.uint8)[None, :, None], (1, 1, 3))
    exact = 255 * (np.arange(256) / np.longdouble(255)) ** (1 / np.longdouble(gamma))
    assert abs(exact % 1 - 0.5).min() > 1e-9
    after = perturb(levels, [build_perturbation("gamma", gamma=gamma)])
    assert (after[0, :, 0] == np.floor(exact + np.longdouble(0.5))).all()


@pytest.mark.parametrize("amount", [-0.4, 0.2, 0.5, 1])
def test_brightness_of_hsv_is_the_textbooks_within_a_level(amount):
    """Through hue, saturation and value, as scikit-image does it."""
    import colorsys  # noqa: PLC0415 - here alone

    before = picture(9, 20)
    before[2, 3] = 0
    after = perturb(before, [build_perturbation("hsv_brightness", amount=amount)])
    for pixel, changed in zip(before.reshape(-1, 3), after.reshape(-1, 3), strict=True):
        hue, saturation, value = colorsys.rgb_to_hsv(*(pixel / 255))
        value = min(1, max(0, value + amount))
        assert off(255 * np.array(colorsys.hsv_to_rgb(hue, saturation, value)), changed) <= 1


@pytest.mark.parametrize("radius", [1, 4, 5, 12])
def test_defocus_is_a_convolution_with_a_disk(radius):
    at = np.arange(-radius, radius + 1)
    disk = (at[:, None] ** 2 + at**2 <= radius**2).astype(float)
    before = picture()
    planes = [ndimage.convolve(before[..., c].astype(float), disk, mode="mirror") for c in range(3)]
    after = perturb(before, [build_perturbation("defocus", radius=radius)])
    assert np.abs(np.stack(planes, -1) / disk.sum() - after).max() <= 0.5 + 1e-9


def test_jpeg_is_pillows_byte_for_byte():
    file = io.BytesIO()
    Image.fromarray(picture()).save(file, "JPEG", quality=30)
    with Image.open(file) as image:
        assert (
            perturb(picture(), [build_perturbation("jpeg", quality=30)]) == np.asarray(image)
        ).all()


def test_noise_has_the_statistics_of_a_normal_one():
    grey = np.full((500, 500, 3), 127, np.uint8)
    noise = perturb(grey, [build_perturbation("noise", sigma=0.08)], seed=1).astype(float) - 127
    assert abs(noise.mean()) < 0.1
    assert noise.std() == pytest.approx(255 * 0.08, rel=0.01)
    assert np.mean(noise**4) / noise.var() ** 2 == pytest.approx(3, abs=0.05)
    assert abs(np.corrcoef(noise[:, 1:].ravel(), noise[:, :-1].ravel())[0, 1]) < 0.01
    within = [np.mean(abs(noise) <= reach * 255 * 0.08) for reach in (1, 2, 3)]
    assert within == pytest.approx([0.683, 0.954, 0.997], abs=0.012)


def test_padding_is_black_all_round():
    after = perturb(picture(), [build_perturbation("padding", thickness=20)])
    assert after.shape == (130, 180, 3)
    assert int(after.sum()) == int(picture().sum())


class TestOverlays:
    @pytest.mark.parametrize("position", POSITIONS)
    def test_text_lies_where_it_is_asked_for_and_inside(self, position):
        rows, columns = changed(build_perturbation("authenticity", position=position))
        down, across = (rows[0] + rows[-1]) / 800, (columns[0] + columns[-1]) / 1200
        places = {"t": down < 0.2, "b": down > 0.8, "c": 0.45 < down < 0.55}
        assert places[position[0]]
        side = position.rpartition("-")[2]
        assert {"left": across < 0.3, "right": across > 0.7, "center": 0.49 < across < 0.51}[side]
        assert rows[0] > 4
        assert rows[-1] < 396
        assert columns[0] > 4
        assert columns[-1] < 596

    def test_letters_grow_with_the_picture_and_are_30_px_an_em_at_1024(self):
        tall = []
        for scale in (1, 2):
            grey = np.full((512 * scale, 512 * scale, 3), 128, np.uint8)
            made = build_perturbation("authenticity", position="center")
            rows = np.flatnonzero((perturb(grey, [made]) != grey).any(axis=(1, 2)))
            tall.append(np.ptp(rows) + 1)
        assert tall[1] == pytest.approx(2 * tall[0], abs=3)
        assert 24 <= tall[1] <= 34

    @pytest.mark.parametrize("text", [LONG, "W" * 400, "漢字" * 150, "Ärger  über\nÉtudes, façade"])
    def test_a_long_text_wraps_and_fits(self, text):
        for position in POSITIONS:
            made = build_perturbation("instruction", position=position)
            rows, columns = changed(made, Subject(instruction=text))
            assert 2 < rows[0] < rows[-1] < 397
            assert 2 < columns[0] < columns[-1] < 597

    def test_letters_are_light_and_dark_on_any_ground(self):
        for level in (0, 128, 255):
            ground = np.full((400, 600, 3), level, np.uint8)
            after = perturb(ground, [build_perturbation("authenticity", position="center")])
            assert after.min() <= 20
            assert after.max() >= 235

    def test_what_cannot_be_written_is_named(self):
        with pytest.raises(Inapplicable, match=r"U\+1F600"):
            changed(build_perturbation("keyword", position="center"), Subject(keyword="\U0001f600"))
        long = Subject(instruction="x" * 90_000)
        with pytest.raises(Inapplicable, match="90000 characters do not fit"):
            changed(build_perturbation("instruction", position="center"), long)


def changed(made, subject=EMPTY_SUBJECT):
    differs = (perturb(GREY, [made], subject) != GREY).any(axis=2)
    return np.flatnonzero(differs.any(axis=1)), np.flatnonzero(differs.any(axis=0))


class TestBoxes:
    def test_a_frame_lies_on_the_edge_of_its_box(self):
        rows, columns = changed(
            build_perturbation("boxes"), Subject(boxes=(ObjectBox(0.1, 0.2, 0.5, 0.5, "x"),))
        )
        assert (rows[0], rows[-1], columns[0], columns[-1]) == (80, 279, 60, 359)
        after = perturb(
            GREY,
            [build_perturbation("boxes")],
            Subject(boxes=(ObjectBox(0.1, 0.2, 0.5, 0.5, "x"),)),
        )
        assert tuple(after[80, 60]) == (255, 0, 0)
        assert (after[90:270, 70:350] == 128).all()

    def test_it_stays_around_its_object_where_the_canvas_grows(self):
        subject = Subject(boxes=(ObjectBox(0.1, 0.2, 0.5, 0.5, "x"),), title="A title")
        frames = ("padding", {"thickness": 40}), ("title", {})
        made, boxes = (
            [build_perturbation(name, **each) for name, each in frames],
            build_perturbation("boxes"),
        )
        before, after = (
            perturb(GREY, order, subject) for order in ([boxes, *made], [*made, boxes])
        )
        red = [(each == (255, 0, 0)).all(axis=2) for each in (before, after)]
        assert np.mean(red[0] != red[1]) < 0.005
        assert red[0].sum() > 1000


class TestGrid:
    def test_it_is_the_papers(self):
        """Appendix B.3, and 34 combinations of domain and bias."""
        counts = {name: len(each) for name, each in GRID.items()}
        texts = dict.fromkeys(("authenticity", "keyword", "instruction"), 5)
        assert counts == {
            "brightness": 16,
            "gamma": 16,
            **texts,
            "padding": 7,
            "beauty": 1,
            "boxes": 1,
        }
        domains = ("people", "animals", "illustration", "indoor", "outdoor")
        assert sum(len(list_biases(domain)) for domain in domains) == 34
        assert len(list_biases("people")) == 8
        assert len(list_biases("outdoor")) == 5

    def test_all_are_registered_and_have_one_order(self):
        others = {"title", "grey_level"}
        assert {each.name for each in COMMON_PERTURBATIONS} | GRID.keys() | others == (
            load_kinds().keys()
        )
        assert sorted(ORDER) == sorted(GRID)
        pair = [GRID["padding"][0], GRID["gamma"][0]]
        assert order_perturbations(pair) == order_perturbations(pair[::-1]) == (pair[1], pair[0])


def test_one_grey_level_is_one_everywhere():
    levels = np.tile(np.arange(256, dtype=np.uint8)[None, :, None], (3, 1, 3))
    after = perturb(levels, [build_perturbation("grey_level")])
    assert (after == np.array([*range(1, 256), 254])[None, :, None]).all()
