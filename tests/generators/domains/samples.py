"""Scenes and images of any domain, kept between tests, and what they are held to."""

import io
from functools import cache

from PIL import Image

from generators.canvas import rasterise

SIZE = 384
"""The smallest published size, at which most is drawn here."""


@cache
def scenes_of(domain, seed=0):
    return domain.drawing.scenes(seed)


@cache
def png_of(domain, number, size=SIZE):
    return rasterise(domain.drawing.draw(scenes_of(domain)[number], size))


def sample(domain, step):
    """Number and scene of every so manieth scene, and of the first original."""
    scenes = scenes_of(domain)
    first_original = next(i for i, scene in enumerate(scenes) if scene.variant == "original")
    return [(i, scenes[i]) for i in sorted({*range(0, len(scenes), step), first_original})]


def measurable(domain, scene):
    """Q1, Q2 and Q3 of a scene, without the sanity check: what a picture can be read for."""
    return [q for q in domain.asking.ask(scene) if q.question_id.startswith("Q")]


def answer(domain, question, readings):
    inquiry = domain.asking.understand(question.text)
    return inquiry.answer([readings[target] for target in inquiry.targets])


def assert_reads_as_drawn(domain, pixels, scene):
    """Counts are equal, and Q1, Q2 and Q3 are answered with their ground truths."""
    targets = list(scene.truths)
    readings = dict(zip(targets, domain.measuring.measure(pixels, targets), strict=True))
    for question in measurable(domain, scene):
        if question.ground_truth.isdigit():
            assert readings[question.target] == scene.truths[question.target], scene.base_id
        assert answer(domain, question, readings) == question.ground_truth, scene.base_id


def _padded(image, grey):
    padded = Image.new("RGB", (image.width + 14, image.height + 14), (grey, grey, grey))
    padded.paste(image, (7, 7))
    return padded


def _scaled(image, filtered):
    return image.resize((round(image.width * 0.9), round(image.height * 0.9)), filtered)


def _as_jpeg(image):
    file = io.BytesIO()
    image.save(file, "JPEG", quality=90)
    return Image.open(file).convert("RGB")


DISTURBANCES = {
    "white padding": lambda image: _padded(image, 255),
    "black padding": lambda image: _padded(image, 0),
    "grey padding": lambda image: _padded(image, 128),
    "scaled by Lanczos": lambda image: _scaled(image, Image.Resampling.LANCZOS),
    "scaled by bicubic": lambda image: _scaled(image, Image.Resampling.BICUBIC),
    "saved as JPEG": _as_jpeg,
}
"""What an image may go through and still be read the same."""
