"""Find the pieces on a picture of a board: chessmen on squares, or discs on lines.

Both kinds of board are coloured; the paper around them, chessmen and discs are not. Nothing
here knows how many squares or lines there are, or where a piece should stand.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import ndimage

from generators.domains.chess_pieces._signatures import Ink
from generators.reading import Pixels, Unreadable

Mask = NDArray[np.bool_]

_MIN_CHROMA = 48
"""The least difference between a pixel's channels at which it counts as coloured."""
_MIN_ROW_SHARE = 0.9
"""The share of the most coloured row that a board's first and last row reach, free of pieces."""
_MIN_LIGHT = 176
"""The least value that all channels of a light pixel have."""
_READING_SIZE = 500
"""The longer side in px that pieces are looked for at: larger images are thinned out."""
_MIN_PATCH_SHARE = 0.0005
"""Patches below this share of the board are no pieces."""
_MIN_DISC_SHARE = 0.4
"""The least share of a disc that is light. The halos that a JPEG leaves along rims and lines of the
board are less of the circle around them."""

Box = tuple[slice, slice]


class BoardPiece(NamedTuple):
    """A piece's place on the board, in px of the thinned-out picture, and its shape."""

    box: Box
    ink: Ink


def find_chessmen(pixels: Pixels) -> list[BoardPiece]:
    """The outlines, filled, of all that is white, grey or black on coloured squares."""
    board = find_board(pixels)
    return [
        BoardPiece(box=box, ink=patch.astype(np.float32))
        for box, patch in _find_patches(~is_coloured(board))
    ]


def find_discs(pixels: Pixels) -> list[BoardPiece]:
    """The characters on the light discs that lie on a board.

    Raises `Unreadable` when something light on it is not round.
    """
    board = find_board(pixels)
    pieces = []
    for box, disc in _find_patches(
        (board.min(axis=2) >= _MIN_LIGHT) & ~is_coloured(board), _MIN_DISC_SHARE
    ):
        height, width = disc.shape
        if not (0.8 < height / width < 1.25 and 0.68 < disc.mean() < 0.88):
            raise Unreadable("Something light on the board is not a round piece.")
        inside = ndimage.binary_erosion(disc)
        pieces.append(BoardPiece(box=box, ink=compute_darkness(board[box]) * inside))
    return pieces


def compute_darkness(pixels: Pixels) -> Ink:
    """The darkness of each pixel, from 0 to 1; red is as dark as black, ivory as light as white."""
    return np.asarray((1 - pixels[..., 1] / np.float32(240)).clip(0), np.float32)


def compute_thinning_step(pixels: Pixels) -> int:
    """The step between the rows, and the columns, of a picture that are read."""
    height, width, _ = pixels.shape
    return max(1, int(max(height, width)) // _READING_SIZE)


def find_board(pixels: Pixels) -> Pixels:
    """The part of the picture inside the paper around the board, thinned out."""
    step = compute_thinning_step(pixels)
    thinned = pixels[::step, ::step]
    shares = is_coloured(thinned)
    across, down = shares.mean(axis=1), shares.mean(axis=0)
    if across.max() < _MIN_ROW_SHARE / 2:
        raise Unreadable("There is no coloured board in the picture.")
    rows = np.flatnonzero(across > _MIN_ROW_SHARE * across.max())
    columns = np.flatnonzero(down > _MIN_ROW_SHARE * down.max())
    return thinned[rows[0] : rows[-1] + 1, columns[0] : columns[-1] + 1]


def is_coloured(pixels: Pixels) -> Mask:
    """Mark the pixels that are neither white nor grey nor black."""
    red, green, blue = np.moveaxis(pixels, 2, 0)
    highest = np.maximum(np.maximum(red, green), blue)
    lowest = np.minimum(np.minimum(red, green), blue)
    return np.asarray(highest - lowest >= _MIN_CHROMA)


def _find_patches(mask: Mask, solid: float = 0.0) -> list[tuple[Box, Mask]]:
    """The connected patches of `mask`: the box of each, and the patch in it, its holes filled.

    `solid` is the least share that a patch has to fill of the circle as wide as it is.
    """
    labels, count = ndimage.label(mask)
    areas = np.bincount(labels.ravel(), minlength=count + 1)
    return [
        ((down, right), ndimage.binary_fill_holes(labels[down, right] == n))
        for n, (down, right) in enumerate(ndimage.find_objects(labels), start=1)
        if areas[n]
        >= max(
            _MIN_PATCH_SHARE * mask.size, solid * np.pi / 4 * max(labels[down, right].shape) ** 2
        )
    ]
