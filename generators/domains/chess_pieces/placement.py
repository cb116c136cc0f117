"""Read the whole position from a picture: which piece of which side stands where."""

from collections import Counter
from collections.abc import Mapping

import numpy as np

from generators.domains.chess_pieces._piece_finder import (
    BoardPiece,
    find_board,
    find_chessmen,
    find_discs,
)
from generators.domains.chess_pieces._reference_shapes import CHESSMEN
from generators.domains.chess_pieces.measure import find_types
from generators.reading import Pixels, Unreadable

VERSION = "1"

_FILES = "abcdefgh"
_MAX_OFFSET = 0.2
"""The farthest that a piece's middle may be from its square's, in squares."""
_MIN_LIGHTNESS = 93
"""The least mean of a white chessman's pixels: of the darkest, a queen, it is 108, and of the
lightest black one, a king, 79."""
_MIN_RED = 48
"""The least excess of red over green at which a disc's ink counts as red."""


def read_chess_placement(pixels: Pixels) -> dict[str, str]:
    """The FEN letter of each occupied square, as in `{"e1": "K"}`.

    Raises `Unreadable` where a piece resembles none of chess, or stands between squares.
    """
    board, pieces = find_board(pixels), find_chessmen(pixels)
    types = find_types(pieces, "chess pieces")
    placement: dict[str, str] = {}
    for piece, kind in zip(pieces, types, strict=True):
        row, column = (
            _find_cell(side.start, side.stop, length)
            for side, length in zip(piece.box, board.shape, strict=False)
        )
        is_white = float(board[piece.box][piece.ink > 0].mean()) > _MIN_LIGHTNESS
        placement[f"{_FILES[column]}{8 - row}"] = CHESSMEN[kind][0 if is_white else 1]
    if len(placement) < len(pieces):
        raise Unreadable("Two pieces stand on one square.")
    return placement


def count_xiangqi_sides(pixels: Pixels) -> Mapping[str, int]:
    """Count the discs whose characters are red and black, as in `{"Red": 12, "Black": 9}`.

    Raises `Unreadable` where a disc bears none of the game's characters.
    """
    board, pieces = find_board(pixels), find_discs(pixels)
    find_types(pieces, "xiangqi pieces")
    sides = Counter("Red" if _is_red(board, piece) else "Black" for piece in pieces)
    return {"Red": sides["Red"], "Black": sides["Black"]}


def _find_cell(start: int, stop: int, length: int) -> int:
    """The index of the eighth of the board in whose middle a piece stands."""
    middle = (start + stop) / 2 / length * 8
    if abs(middle - int(middle) - 0.5) > _MAX_OFFSET:
        raise Unreadable("A piece stands between two squares.")
    return int(middle)


def _is_red(board: Pixels, piece: BoardPiece) -> bool:
    ink = board[piece.box][piece.ink > 0.5].astype(np.int16)
    return float(np.median(ink[:, 0] - ink[:, 1])) > _MIN_RED
