"""Tiny models of each architecture that can be attacked, and pictures to attack."""

import io

import numpy as np
from PIL import Image

from resources.attacks.attack_parameters import AttackJob, AttackParameters
from resources.models.catalog import Model
from tests import tiny

SAVING = {
    "llava": tiny.save_llava,
    "llava_next": tiny.save_llava_next,
    "instructblip": tiny.save_instructblip,
}
SHORT = AttackParameters(iterations=40, raising_iterations=20)
QUESTION = "is there a dog ?"


def entry(folder, *roles, **parameters):
    return Model(
        name="tiny",
        backend="transformers",
        family="tiny",
        roles=roles or ("encoder",),
        model=str(folder),
        parameters=parameters,
    )


def picture(height, width, seed=0):
    """Soft colours, as PNG."""
    chance = np.random.default_rng(seed)
    coarse = (max(2, height // 6), max(2, width // 6), 3)
    image = Image.fromarray(chance.integers(0, 256, coarse, dtype=np.uint8))
    file = io.BytesIO()
    image.resize((width, height), Image.Resampling.BICUBIC).save(file, "PNG")
    return file.getvalue()


def work(png, method="i_fgsm", objective="lower", parameters=SHORT, seed="0", question=QUESTION):
    return AttackJob(png, question, method, objective, parameters, seed)
