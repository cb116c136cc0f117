"""Squares of two alternating colours, read from pixels."""

import numpy as np
from numpy.typing import NDArray

from generators.domains.game_boards._pixels import Grey, Spans, levels, spans
from generators.reading import Unreadable

_ALIKE, _OPPOSITE = 0.8, 0.3
_ENOUGH = 400


def squares(grey: Grey) -> tuple[Spans, Spans]:
    """Where the rows and the columns of squares lie, in px; `Unreadable` without a chequer."""
    board = levels(grey)
    light = grey > (board.first + board.second) // 2
    rows, columns = _alternation(light.T), _alternation(light)
    if min(len(rows), len(columns)) < 2:
        raise Unreadable("There are neither ruled lines nor squares of two alternating colours.")
    return rows, columns


def _alternation(light: NDArray[np.bool_]) -> Spans:
    """Stretches of pixel columns that are by turns the same as the middle one and its opposite.

    A margin or a frame has one colour, which is that of about half of any column of squares:
    it is neither. What scaling leaves at its edges is far narrower than a square.
    """
    height, width = light.shape
    sample = light[:: max(1, height // _ENOUGH)]
    # The very middle of an even board is an edge between two squares.
    middle = sample[:, width // 2 + width // 96]
    agreement = np.mean(sample == middle[:, None], axis=0)
    found = np.concatenate((spans(agreement > _ALIKE), spans(agreement < _OPPOSITE)))
    widths = np.diff(found)[:, 0]
    wide: Spans = found[widths > widths.max(initial=0) / 2]
    return wide
