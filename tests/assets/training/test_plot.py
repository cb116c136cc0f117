"""The plot of a training, looked at as a picture."""

import base64
import io
import math

import numpy as np
from PIL import Image

from assets.training.plot import plot_training

PANEL = 120 + 26


def shown(lines):
    """The pixels of a plot, and where its lines are."""
    data = plot_training(lines).value.partition("base64,")[2].removesuffix(")")
    pixels = np.asarray(Image.open(io.BytesIO(base64.b64decode(data))).convert("RGB"), int)
    return pixels, pixels[:, :, 2] - pixels[:, :, 0] > 100


def test_each_number_has_a_panel_in_which_its_line_rises_or_falls_with_it():
    falls, rises = [1.0, 0.5, 0.0], [0.0, 0.5, 1.0]
    values = {"loss": falls, "reward": rises, "reward_std": falls, "frac_reward_zero_std": rises}
    values |= {"misranked": falls}
    steps = [{"step": at + 1, **{name: of[at] for name, of in values.items()}} for at in range(3)]
    pixels, line = shown(steps)
    assert len(pixels) == 5 * PANEL + 26
    for row, of in enumerate(values.values()):
        rows, columns = np.nonzero(line[row * PANEL + 26 : (row + 1) * PANEL + 2])
        # Rows of pixels count downwards.
        assert np.sign(np.corrcoef(columns, rows)[0, 1]) == (1 if of is falls else -1)


def test_a_number_that_is_none_is_left_out_of_its_line():
    steps = [{"step": at, "loss": of} for at, of in ((1, 0.0), (2, math.nan), (3, 1.0))]
    pixels, line = shown(steps)
    assert len(pixels) == PANEL + 26
    assert line.any()
