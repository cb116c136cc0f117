"""Scenes, images and readings of any domain, kept between tests, and what they are held to."""

import io
from functools import cache, wraps

from PIL import Image

from generators.canvas import decode_png, rasterise
from generators.domains import load_domain

SIZE = 384
"""The smallest published size, at which most is drawn here."""


@cache
def scenes_of(domain, seed=0):
    return domain.draw_module.list_scenes(seed)


def kept(function):
    """The function of a scene and a size, worked out once: tests of one scene share it."""
    results = {}

    @wraps(function)
    def once(scene, size=SIZE):
        key = f"{scene}{size}"
        if key not in results:
            results[key] = function(scene, size)
        return results[key]

    return once


@kept
def png_of(scene, size):
    return rasterise(load_domain(scene.domain).draw_module.draw(scene, size))


def picture(scene, size=SIZE):
    """The scene's pixels, which are the caller's own."""
    return decode_png(png_of(scene, size)).copy()


@kept
def readings(scene, size):
    """Everything that is read from the scene's picture, by target."""
    pixels = picture(scene, size)
    pixels.setflags(write=False)
    found = load_domain(scene.domain).measure_module.measure(pixels, list(scene.truths))
    return dict(zip(scene.truths, found, strict=True))


@kept
def legibility(scene, size):
    return load_domain(scene.domain).measure_module.measure_legibility(picture(scene, size))


def sample(domain, step):
    """Every so manieth scene, and the first original."""
    scenes = scenes_of(domain)
    originals = [i for i, scene in enumerate(scenes) if scene.variant == "original"]
    return [scenes[i] for i in sorted({*range(0, len(scenes), step), *originals[:1]})]


def measurable(domain, scene):
    """Q1, Q2 and Q3 of a scene, without the sanity check: what a picture can be read for."""
    return [q for q in domain.ask_module.write_questions(scene) if q.question_id.startswith("Q")]


def answer(domain, question, read):
    inquiry = domain.ask_module.parse_question(question.text)
    return inquiry.answer([read[target] for target in inquiry.targets])


def assert_reads_as_drawn(domain, scene, read):
    """Counts are equal, and Q1, Q2 and Q3 are answered with their ground truths."""
    questions = measurable(domain, scene)
    if any(question.ground_truth.isdigit() for question in questions):
        assert read == scene.truths, scene.base_id
    for question in questions:
        assert answer(domain, question, read) == question.ground_truth, scene.base_id


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
