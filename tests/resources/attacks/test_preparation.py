"""Pre-processing with a gradient, against the processors of transformers and against Pillow."""

import io

import numpy as np
import pytest
from PIL import Image

from resources.attacks.preparation import scale_picture
from tests.resources.attacks.encoders import picture
from tests.tiny import torch, transformers

pytestmark = pytest.mark.slow

MOST_LEVELS = 1.2
"""Pillow rounds after each direction: half a level, and half of one that a filter makes larger."""
SIZES = ((40, 64), (64, 40), (23, 117), (16, 16), (9, 130), (300, 231), (8, 8), (33, 17))


def opened(png):
    image = Image.open(io.BytesIO(png))
    return image, torch.from_numpy(np.array(image)).permute(2, 0, 1).float() / 255


def apart(ours, theirs, processor):
    """By how many levels of 255 two preparations differ at most."""
    assert ours.shape == theirs.shape
    deviation = torch.tensor(processor.image_std)[:, None, None]
    return float(((ours - theirs) * deviation).abs().max() * 255)


@pytest.mark.parametrize("size", SIZES, ids=str)
def test_it_is_the_processors_but_for_rounding(attacker, size):
    encoder = attacker._encoder
    image, pixels = opened(picture(*size))
    found = apart(encoder.prepare(pixels), encoder.process(image), encoder.image_processor)
    assert found <= MOST_LEVELS


@pytest.mark.parametrize("size", [(40, 64), (64, 40), (33, 17)], ids=str)
def test_a_processor_that_pads_is_followed(attackers, monkeypatch, size):
    encoder = attackers["llava"]._encoder
    own = encoder.image_processor
    padding = transformers.LlavaImageProcessorPil(
        size=dict(own.size), crop_size=dict(own.crop_size), do_pad=True
    )
    monkeypatch.setattr(encoder.processor, "image_processor", padding)
    image, pixels = opened(picture(*size))
    found = apart(encoder.prepare(pixels), encoder.process(image), padding)
    assert found <= MOST_LEVELS


@pytest.mark.parametrize("resample", list(Image.Resampling), ids=lambda each: each.name)
def test_scaling_is_pillows_with_every_filter(resample):
    chance = np.random.default_rng(3)
    # So far from black and white that nothing is cut.
    grey = chance.uniform(0.4, 0.6, (37, 50)).astype(np.float32)
    theirs = np.array(Image.fromarray(grey).resize((23, 61), resample))
    ours = scale_picture(torch.from_numpy(grey)[None], (61, 23), int(resample))[0].numpy()
    assert np.abs(ours - theirs).max() < 1e-5


def test_gradients_pass_through(attacker):
    encoder = attacker._encoder
    _, pixels = opened(picture(40, 64))
    pixels.requires_grad_()
    (gradient,) = torch.autograd.grad(encoder.prepare(pixels).square().sum(), pixels)
    assert gradient.isfinite().all()
    assert (gradient != 0).float().mean() > 0.3
