"""Pictures count as readable where code reads the same in them as before, and only there."""

import io

import numpy as np
import pytest
from PIL import Image

from assets.frame.readability import add_readability
from generators import pixel_answers as sight
from generators.canvas import rasterise
from generators.domains import load_domain
from generators.perturbations.pipeline import PerturbJob, perturb_png
from generators.perturbations.registry import build_perturbation
from generators.sketch import paint_sketch
from resources.storage.image_store import ImageStore
from resources.storage.work_cache import WorkCache

BOARD = load_domain("game_boards")
SCENE = BOARD.draw_module.list_scenes(0)[0]
QUESTION = BOARD.ask_module.write_questions(SCENE)[0]
PADDED = (build_perturbation("padding", thickness=40),)
BLACK = (
    build_perturbation("brightness", factor=0.05),
    build_perturbation("brightness", factor=0.05),
)


def noise():
    pixels = np.random.default_rng(1).integers(0, 256, (512, 512, 3), np.uint8)
    file = io.BytesIO()
    Image.fromarray(pixels).save(file, "PNG")
    return file.getvalue()


@pytest.fixture(scope="module")
def stores(tmp_path_factory):
    root = str(tmp_path_factory.mktemp("readable"))
    return ImageStore(root=root), WorkCache(root=root)


def rows(store, png, **asked):
    """A picture as it was, padded, and so dark that nothing is left of it."""
    original = store.put(png)
    made = {"none": original, "padding": store.put(perturb_png(PerturbJob(png, PADDED)))}
    made["black"] = store.put(perturb_png(PerturbJob(png, BLACK)))
    return [
        {"image_id": original, "parameters": name, "original": original, "sha256": digest, **asked}
        for name, digest in made.items()
    ]


@pytest.mark.parametrize(
    ("png", "asked", "expected"),
    [
        (paint_sketch("Generate a dog.", "1"), {}, [True, True, False]),
        (noise(), {}, [None, None, None]),
        (
            rasterise(BOARD.draw_module.draw(SCENE, 512)),
            {"question": QUESTION.text, "answer": QUESTION.ground_truth},
            [True, True, False],
        ),
        (
            rasterise(BOARD.draw_module.draw(SCENE, 512)),
            {"question": QUESTION.text, "answer": "99"},
            [None, None, None],
        ),
    ],
    ids=["schematic", "photograph", "drawn, of a collection", "with another answer"],
)
def test_what_a_bias_destroys_is_unreadable(stores, png, asked, expected):
    made = rows(stores[0], png, **asked)
    assert [row["readable"] for row in add_readability(made, *stores)] == expected


def test_what_was_read_before_is_not_read_again_and_what_is_lacking_says_nothing(
    stores, monkeypatch
):
    made = rows(stores[0], paint_sketch("Generate a cat.", "1"))
    lacking = {**made[0], "parameters": "boxes", "sha256": None}
    first = add_readability([*made, lacking], *stores)
    assert first[-1]["readable"] is None
    monkeypatch.setattr(sight, "describe_picture", None)
    assert add_readability([*made, lacking], *stores) == first
