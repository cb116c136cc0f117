"""Counts the pieces on white paper, without a board.

The paper around the pieces is given a board's colour: the reader of boards does the rest.
"""

from collections.abc import Sequence

import numpy as np
from scipy import ndimage

from generators.domains.chess_pieces import measure as board_reading
from generators.reading import Legibility, Pixels, Unreadable

VERSION = "1"

_BOARD = (209, 139, 71)
_WHITE = 215
"""The least value that all channels of paper have, with the noise of a JPEG."""
_LINES_ACROSS = 400
"""White lines in a piece are narrower than two of so many parts of the picture's longer side."""


def measure(pixels: Pixels, targets: Sequence[str]) -> Sequence[float]:
    """Count the pieces of each target, as they are counted on a board."""
    return board_reading.measure(_colour_paper(pixels), targets)


def measure_legibility(pixels: Pixels) -> Legibility:
    """The width of the narrowest piece, and the least distance between two."""
    return board_reading.measure_legibility(_colour_paper(pixels))


def _colour_paper(pixels: Pixels) -> Pixels:
    """The picture within a frame that may surround it, its paper outside of the pieces coloured.

    Fine white lines in a piece that reach its outline are no way in.
    """
    is_white = pixels.min(axis=2) >= _WHITE
    rows = np.flatnonzero(np.median(is_white, axis=1))
    columns = np.flatnonzero(np.median(is_white, axis=0))
    if not (rows.size and columns.size):
        raise Unreadable("There is no white paper.")
    inside = slice(rows[0], rows[-1] + 1), slice(columns[0], columns[-1] + 1)
    coloured, paper = pixels[inside].copy(), is_white[inside]
    width = 1 + 2 * (max(paper.shape) // _LINES_ACROSS)
    patches, _ = ndimage.label(ndimage.minimum_filter(paper, width))
    edges = np.concatenate([patches[0], patches[-1], patches[:, 0], patches[:, -1]])
    is_outside = np.isin(np.arange(patches.max() + 1), edges[edges > 0])[patches]
    if is_outside.all():
        raise Unreadable("There is nothing on the paper.")
    coloured[ndimage.maximum_filter(is_outside, width) & paper] = _BOARD
    return coloured
