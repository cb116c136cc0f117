"""The subject's name above a picture: legible, whole, and the picture itself untouched."""

import io
import subprocess
import sys
from hashlib import sha256
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from generators.canvas import decode_png
from generators.domains import load_domains
from generators.glyphs import MissingGlyph
from generators.perturbations.title_strip import TitleJob, add_title, title_png
from generators.worker_jobs import DrawJob, draw_png

PROJECT = Path(__file__).parents[3]
LONG = "Greater one-horned rhinoceros of the Brahmaputra"
UNBROKEN = "Donaudampfschifffahrtsgesellschaftskapitän"


def noise(height, width):
    return np.random.default_rng(7).integers(0, 256, (height, width, 3), np.uint8)


def strip(title, height=384, width=384):
    """The strip alone, as darkness from 0 to 1."""
    picture = noise(height, width)
    return 1 - add_title(picture, title)[:-height].mean(axis=2) / 255


def ink(darkness):
    """Rows and columns that hold ink."""
    dark = darkness > 0.5
    return np.flatnonzero(dark.any(axis=1)), np.flatnonzero(dark.any(axis=0))


@pytest.mark.parametrize(("height", "width"), [(384, 384), (217, 384), (384, 300), (1152, 768)])
@pytest.mark.parametrize("title", ["Adidas", LONG, UNBROKEN])
def test_every_pixel_of_the_picture_is_below_the_title(height, width, title):
    picture = noise(height, width)
    before = picture.copy()
    with_title = add_title(picture, title)
    assert with_title.dtype == np.uint8
    assert with_title.shape[1:] == picture.shape[1:]
    assert with_title.shape[0] > height
    assert (with_title[-height:] == before).all()
    assert (picture == before).all()


@pytest.mark.parametrize("title", ["Adidas", "Müller-Lyer illusion", LONG, UNBROKEN])
def test_no_letter_is_cut_off(title):
    darkness = strip(title)
    rows, columns = ink(darkness)
    assert rows.min() >= 2
    assert rows.max() <= len(darkness) - 3
    assert columns.min() >= 8
    assert columns.max() <= 384 - 9


def test_letters_are_legible_at_384_px():
    """An x is 10 px high or higher, the stroke of an l 2 px wide, in black on white."""
    darkness = strip("xxx")
    rows, _ = ink(darkness)
    assert len(rows) >= 10
    assert darkness.max() == 1
    assert darkness.min() == 0
    stroke = strip("l").sum(axis=1)
    assert np.median(stroke[stroke > 0.5]) >= 2


@pytest.mark.parametrize("name", sorted(load_domains()))
def test_the_subjects_of_every_domain_stay_on_one_line(name):
    domain = load_domains()[name]
    for subject in {scene.subject for scene in domain.draw_module.list_scenes(0)}:
        assert len(strip(domain.format_caption(subject))) == len(strip("x")), subject


def test_a_long_name_goes_on_in_a_next_line():
    assert len(strip(LONG)) > 1.5 * len(strip("x"))


def test_a_word_that_is_too_long_makes_letters_smaller():
    assert len(strip(UNBROKEN)) < len(strip("x"))


def test_other_titles_give_other_strips():
    assert not np.array_equal(strip("Adidas"), strip("Nike"))


def test_a_missing_letter_is_an_error():
    with pytest.raises(MissingGlyph, match="U\\+1F600"):
        add_title(noise(384, 384), "\U0001f600")


def test_a_png_stays_opaque_and_without_metadata():
    png = title_png(TitleJob(draw_png(_flag()), "United States flag"))
    with Image.open(io.BytesIO(png)) as image:
        assert (image.format, image.mode, image.info) == ("PNG", "RGB", {})
    original = decode_png(draw_png(_flag()))
    assert (decode_png(png)[-len(original) :] == original).all()


def test_another_process_gives_the_same_bytes():
    script = (
        "from hashlib import sha256; from generators.worker_jobs import draw_png;"
        "from generators.perturbations.title_strip import TitleJob, title_png;"
        "from tests.generators.perturbations.test_title import _flag;"
        "print(sha256(title_png(TitleJob(draw_png(_flag()), 'Zöllner'))).hexdigest())"
    )
    other = subprocess.run(
        [sys.executable, "-c", script],
        cwd=PROJECT,
        env={"PYTHONPATH": str(PROJECT), "PYTHONHASHSEED": "5", "LC_ALL": "C.UTF-8"},
        capture_output=True,
        text=True,
        check=True,
    )
    here = sha256(title_png(TitleJob(draw_png(_flag()), "Zöllner"))).hexdigest()
    assert other.stdout.strip() == here


def test_captions_are_names_that_stand_alone():
    captions = {
        "flags": ("United States", "United States flag"),
        "optical_illusions": ("Ebbinghaus", "Ebbinghaus illusion"),
        "chess_pieces": ("chess starting position", "Chess starting position"),
        "game_boards": ("Go board", "Go board"),
        "patterned_grids": ("dice 6×6", "Dice 6×6 grid"),
    }
    for name, (subject, caption) in captions.items():
        subjects = {scene.subject for scene in load_domains()[name].draw_module.list_scenes(0)}
        assert subject in subjects
        assert load_domains()[name].format_caption(subject) == caption


def _flag():
    scene = load_domains()["flags"].draw_module.list_scenes(0)[0]
    return DrawJob("flags", scene, 384)
