"""Reading of a flag from pixels: its place, its flat colours and where each lies."""

from itertools import combinations
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from generators.reading import Pixels, Unreadable

Values = NDArray[np.float32]
Labels = NDArray[np.uint8]

CLEAR_DIFFERENCE = 32
"""A difference in any channel that neither resampling nor JPEG makes in a flat area."""
MIN_FLAT_PIXELS = 4
"""Flat pixels that a colour needs, not to be noise: a single star of 20 pixels has no more."""
READING_WIDTH = 320
"""A flag is read at one to two times this width: finer detail only costs time."""
TRIM = 1
"""Pixels left off all round, where the flag's colours run into the ground's."""


class FlagPixels(NamedTuple):
    """A flag without its ground.

    `values` is 3 x h x w (red, green and blue of 0 to 255), `palette` n x 3, and `labels` h x w:
    the palette's colour that each has most of. Each cell of it is `cell` x `cell` pixels of the
    picture.
    """

    values: Values
    palette: Values
    labels: Labels
    cell: int


def read_flag(pixels: Pixels) -> FlagPixels:
    """Find the flag on its plain grey ground; raises `Unreadable` where there is none."""
    values, cell = _shrink(_crop_ground(pixels)[TRIM:-TRIM, TRIM:-TRIM])
    palette = _find_palette(values)
    return FlagPixels(
        values=values, palette=palette, labels=_label_pixels(values, palette), cell=cell
    )


def measure_coverage(values: Values, ink: Values, others: Values) -> Values:
    """The share of `ink` in each pixel, 0 to 1: m values from m x 3 colours.

    A pixel on an edge mixes two colours. The ink is mixed with the one of `others` that
    explains the pixel best, so that a star may lie across several grounds.
    """
    share, residuals = _fit_shares(values, ink, others)
    ink_share: Values = np.take_along_axis(share, residuals.argmin(1)[:, None], 1)[:, 0]
    return ink_share


def _crop_ground(pixels: Pixels) -> Pixels:
    """Take off plain frames from the outside in: any padding, then the ground, which is grey."""
    grey_seen = False
    while min(pixels.shape[:2]) > 8:
        ring = np.concatenate([pixels[0], pixels[-1], pixels[:, 0], pixels[:, -1]])
        colour = np.median(ring, axis=0).astype(np.int16)
        plain = (_measure_distance(ring, colour) <= CLEAR_DIFFERENCE).mean() > 0.95 and np.ptp(
            colour
        ) <= CLEAR_DIFFERENCE / 2
        grey = 64 <= colour.mean() <= 192
        if not plain or (grey_seen and not grey):
            break
        grey_seen |= bool(grey)
        rows = np.flatnonzero(
            (_measure_distance(pixels[:, ::8], colour) > CLEAR_DIFFERENCE).mean(1) > 0.25
        )
        columns = np.flatnonzero(
            (_measure_distance(pixels[::8], colour) > CLEAR_DIFFERENCE).mean(0) > 0.25
        )
        if not (rows.size and columns.size):
            raise Unreadable("There is nothing on the ground.")
        pixels = pixels[rows[0] : rows[-1] + 1, columns[0] : columns[-1] + 1]
    if not grey_seen:
        raise Unreadable("There is no plain grey ground that a flag could lie on.")
    return pixels


def _measure_distance(pixels: Pixels, colour: NDArray[np.int16]) -> NDArray[np.int16]:
    """The largest difference in any channel."""
    distance: NDArray[np.int16] = np.abs(pixels - colour).max(-1)
    return distance


def _shrink(pixels: Pixels) -> tuple[Values, int]:
    """Mean over square cells, so many that the flag is still wide enough, channels first."""
    cell = max(1, pixels.shape[1] // READING_WIDTH)
    height, width = (side // cell * cell for side in pixels.shape[:2])
    total = np.zeros((3, height // cell, width // cell), np.float32)
    for row in range(cell):
        for column in range(cell):
            total += pixels[row:height:cell, column:width:cell].transpose(2, 0, 1)
    return total / cell**2, cell


def _find_palette(values: Values) -> Values:
    """The flat colours, the most frequent first: n x 3."""
    flat = _select_flat_pixels(values)
    bins = (flat.astype(np.int32) >> 4).T @ np.array([256, 16, 1])
    counts = np.bincount(bins, minlength=4096)
    sums = np.stack([np.bincount(bins, channel, 4096) for channel in flat], axis=1)
    means = sums / np.maximum(counts, 1)[:, None]
    colours = []
    while counts.max() >= MIN_FLAT_PIXELS:
        near = (np.abs(means - means[counts.argmax()]).max(1) < CLEAR_DIFFERENCE) & (counts > 0)
        colours.append(sums[near].sum(0) / counts[near].sum())
        counts[near] = 0
    return np.array(colours, np.float32)


def _select_flat_pixels(values: Values) -> Values:
    """The pixels that look like their four neighbours: 3 x m. Edges and noise are left out."""
    alike = CLEAR_DIFFERENCE / 2
    below = np.abs(np.diff(values, axis=1)).max(0) < alike
    right = np.abs(np.diff(values, axis=2)).max(0) < alike
    flat = below[:-1, 1:-1] & below[1:, 1:-1] & right[1:-1, :-1] & right[1:-1, 1:]
    flat_values: Values = values[:, 1:-1, 1:-1][:, flat]
    return flat_values


def _label_pixels(values: Values, palette: Values) -> Labels:
    """The colour that each pixel has most of.

    That is not always the nearest: halfway from red to white lies what looks more like yellow.
    """
    squares = np.stack([((values - colour[:, None, None]) ** 2).sum(0) for colour in palette])
    labels: Labels = squares.argmin(0).astype(np.uint8)
    pairs = np.array(list(combinations(range(len(palette)), 2)))
    mixed = squares.min(0) > CLEAR_DIFFERENCE**2
    if len(pairs) and mixed.any():
        share, residuals = _fit_shares(values[:, mixed].T, *palette[pairs.T])
        best = residuals.argmin(1)
        main_index = np.where(np.take_along_axis(share, best[:, None], 1)[:, 0] > 0.5, 0, 1)
        labels[mixed] = pairs[best, main_index]
    return labels


def _fit_shares(
    values: Values, first_colours: Values, second_colours: Values
) -> tuple[Values, Values]:
    """Mix each of m values from each of n pairs of colours, all x 3.

    Gives the share of the first colour, 0 to 1, and the squared error of the best mix: m x n.
    """
    axes = first_colours - second_colours
    lengths = np.maximum((axes**2).sum(1), 1)
    share = np.clip((values @ axes.T - (second_colours * axes).sum(1)) / lengths, 0, 1)
    residuals = values[:, None] - second_colours - share[..., None] * axes
    return share, np.einsum("mnc,mnc->mn", residuals, residuals)
