"""Pictures count as readable where code reads the same in them as before, and only there."""

import io

import numpy as np
import pytest
from PIL import Image

from assets.frame.readability import with_readable
from generators import sight
from generators.canvas import rasterise
from generators.domains import domain
from generators.perturbations.perturb import Perturbing, perturb_png
from generators.perturbations.registry import perturbation
from generators.sketch import paint
from resources.images import ImageStore
from resources.ledger import WorkLedger

BOARD = domain("game_boards")
SCENE = BOARD.drawing.scenes(0)[0]
QUESTION = BOARD.asking.ask(SCENE)[0]
PADDED = (perturbation("padding", thickness=40),)
BLACK = (perturbation("brightness", factor=0.05), perturbation("brightness", factor=0.05))


def noise():
    pixels = np.random.default_rng(1).integers(0, 256, (512, 512, 3), np.uint8)
    file = io.BytesIO()
    Image.fromarray(pixels).save(file, "PNG")
    return file.getvalue()


@pytest.fixture(scope="module")
def stores(tmp_path_factory):
    root = str(tmp_path_factory.mktemp("readable"))
    return ImageStore(root=root), WorkLedger(root=root)


def rows(store, png, **asked):
    """A picture as it was, padded, and so dark that nothing is left of it."""
    original = store.put(png)
    made = {"none": original, "padding": store.put(perturb_png(Perturbing(png, PADDED)))}
    made["black"] = store.put(perturb_png(Perturbing(png, BLACK)))
    return [
        {"image_id": original, "parameters": name, "original": original, "sha256": digest, **asked}
        for name, digest in made.items()
    ]


@pytest.mark.parametrize(
    ("png", "asked", "expected"),
    [
        (paint("Generate a dog.", "1"), {}, [True, True, False]),
        (noise(), {}, [None, None, None]),
        (
            rasterise(BOARD.drawing.draw(SCENE, 512)),
            {"question": QUESTION.text, "answer": QUESTION.ground_truth},
            [True, True, False],
        ),
        (
            rasterise(BOARD.drawing.draw(SCENE, 512)),
            {"question": QUESTION.text, "answer": "99"},
            [None, None, None],
        ),
    ],
    ids=["schematic", "photograph", "drawn, of a collection", "with another answer"],
)
def test_what_a_bias_destroys_is_unreadable(stores, png, asked, expected):
    made = rows(stores[0], png, **asked)
    assert [row["readable"] for row in with_readable(made, *stores)] == expected


def test_what_was_read_before_is_not_read_again_and_what_is_lacking_says_nothing(
    stores, monkeypatch
):
    made = rows(stores[0], paint("Generate a cat.", "1"))
    lacking = {**made[0], "parameters": "boxes", "sha256": None}
    first = with_readable([*made, lacking], *stores)
    assert first[-1]["readable"] is None
    monkeypatch.setattr(sight, "seen", None)
    assert with_readable([*made, lacking], *stores) == first
