"""Widths of pieces and distances between them, to a fraction of a pixel for discs."""

import numpy as np
from numpy.typing import NDArray
from scipy import ndimage

from generators.domains.chess_pieces._piece_finder import (
    BoardPiece,
    compute_darkness,
    compute_thinning_step,
    find_board,
    is_coloured,
)
from generators.reading import Legibility, Pixels

_ANGLES = np.pi / 8 * np.arange(1, 16, 2)
"""Rays from a disc's centre that keep clear of a board's lines and diagonals."""
_RIM_RADII = np.linspace(1, 1.3, 61)
"""Radii at which a rim is sought, in radii of the light part inside it."""


def measure_chessmen_spacing(pixels: Pixels, pieces: list[BoardPiece]) -> Legibility:
    """The narrowest side of the boxes around the pieces, and the least distance between two."""
    starts = np.array([[side.start for side in piece.box] for piece in pieces], float)
    stops = np.array([[side.stop for side in piece.box] for piece in pieces], float)
    distances = (starts[:, None] - stops).max(axis=2)
    return _scale_to_picture(pixels, (stops - starts).min(), np.maximum(distances, distances.T))


def measure_disc_spacing(pixels: Pixels, pieces: list[BoardPiece]) -> Legibility:
    """The least diameter, and the least distance between two rims."""
    board = find_board(pixels)
    centres = np.array([[(side.start + side.stop - 1) / 2 for side in p.box] for p in pieces])
    inner_radii = np.array([np.mean(piece.ink.shape) / 2 for piece in pieces])
    radii = inner_radii * _find_rims(
        compute_darkness(board), _measure_ground(board), centres, inner_radii
    )
    distances = np.linalg.norm(centres[:, None] - centres, axis=2) - radii[:, None] - radii
    return _scale_to_picture(pixels, 2 * radii.min(), distances)


def _find_rims(
    board_darkness: NDArray[np.float32],
    ground_darkness: float,
    centres: NDArray[np.float64],
    inner_radii: NDArray[np.float64],
) -> NDArray[np.float64]:
    """The outer radius of each disc's dark rim, in units of `inner_radii`."""
    rays = np.stack([np.sin(_ANGLES), np.cos(_ANGLES)])[:, None, :, None]
    points = centres.T[:, :, None, None] + rays * inner_radii[:, None, None] * _RIM_RADII
    inwards = ndimage.map_coordinates(board_darkness, points, order=1, mode="nearest")[..., ::-1]
    rim_index = np.argmax(inwards > (1 + ground_darkness) / 2, axis=-1)
    return np.asarray(np.median(_RIM_RADII[::-1][rim_index], axis=1))


def _measure_ground(board: Pixels) -> float:
    """The darkness of the empty board."""
    sample = board[::5, ::5]
    return float(np.median(compute_darkness(sample)[is_coloured(sample)]))


def _scale_to_picture(pixels: Pixels, mark: float, distances: NDArray[np.float64]) -> Legibility:
    """Widths in px of the whole picture, from those in its thinned-out copy."""
    step = compute_thinning_step(pixels)
    pairs = distances[~np.eye(len(distances), dtype=bool)]
    return Legibility(mark=float(mark) * step, gap=float(pairs.min(initial=np.inf)) * step)
