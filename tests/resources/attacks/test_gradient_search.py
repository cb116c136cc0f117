"""What the documents say of the search: no gradient without noise, and the scale of PGD."""

import io

import numpy as np
import pytest
from PIL import Image

from resources.attacks.gradient_search import compute_similarities
from resources.attacks.noise import draw_first_change
from tests.resources.attacks.encoders import QUESTION, picture, work
from tests.tiny import torch

pytestmark = pytest.mark.slow

SIZE = (40, 64)


@pytest.fixture
def gradient_at(attacker):
    """The gradient of the similarity to the unchanged picture, at a change."""
    encoder = attacker._encoder
    png = picture(*SIZE)
    levels = np.array(Image.open(io.BytesIO(png)))
    pixels = torch.from_numpy(levels).permute(2, 0, 1).float() / 255

    def gradient(change):
        def embedded(shown):
            return encoder.embed([encoder.prepare(shown)], [SIZE], [QUESTION])[0]

        change = change.requires_grad_()
        target = embedded(pixels).detach().flatten()
        found = compute_similarities([embedded(pixels + change)], [target])
        return torch.autograd.grad(found.sum(), change)[0]

    return gradient


def test_there_is_no_gradient_without_noise(gradient_at):
    """VHExpansion begins at no change at all, where a step of I-FGSM follows rounding alone."""
    none = gradient_at(torch.zeros(3, *SIZE)).abs().max()
    noisy = gradient_at(draw_first_change(work(picture(*SIZE)), SIZE)).abs().max()
    assert noisy > 0
    assert none < noisy / 1000


def test_the_raw_gradient_of_pgd_does_not_move_a_level(gradient_at):
    """Not in all of the paper's 500 steps, of half a level times the gradient each."""
    raw = gradient_at(draw_first_change(work(picture(*SIZE)), SIZE)).abs().max()
    assert 500 * 0.5 * raw < 0.5
