"""Squares of two alternating colours, read from pixels."""

import numpy as np
from numpy.typing import NDArray

from generators.domains.game_boards._grey_pixels import (
    Grey,
    Spans,
    find_common_levels,
    find_spans,
    slice_middle,
)

_MIN_MIX = 0.15
_MIN_AGREEMENT, _MAX_DISAGREEMENT = 0.8, 0.2


def find_squares(grey: Grey) -> tuple[Spans, Spans] | None:
    """Find the rows and the columns of squares, in px; None without a chequer."""
    light = grey > sum(find_common_levels(grey)) // 2
    rows, columns = _find_alternation(light.T), _find_alternation(light)
    return None if rows is None or columns is None else (rows, columns)


def _find_alternation(light: NDArray[np.bool_]) -> Spans | None:
    """Stretches of pixel columns that are by turns the same as the middle one and its opposite.

    A margin or a frame has one colour, which is that of about half of any column of squares:
    it is neither. What scaling leaves at its edges is far narrower than a square. Of ruled
    lines, only what is narrow is opposite to the cells between them; and where it is digits
    that are alike or opposite, the cells between them part what would be squares.
    """
    width = light.shape[1]
    shares = light[:, slice_middle(width)].mean(axis=1)
    board = light[(shares > _MIN_MIX) & (shares < 1 - _MIN_MIX)]
    if not board.size:
        return None
    # The very middle of an even board is an edge between two squares.
    reference = board[:, width // 2 + width // 96]
    agreement = np.mean(board == reference[:, None], axis=0)
    spans_by_tone = (
        find_spans(agreement > _MIN_AGREEMENT),
        find_spans(agreement < _MAX_DISAGREEMENT),
    )
    widest_span = np.diff(np.concatenate(spans_by_tone)).max(initial=0)
    alike_spans, opposite_spans = (
        tone_spans[np.diff(tone_spans)[:, 0] > widest_span / 2] for tone_spans in spans_by_tone
    )
    is_alternating = (
        min(len(alike_spans), len(opposite_spans)) > 0
        and abs(len(alike_spans) - len(opposite_spans)) < 2
    )
    stretches = np.concatenate((alike_spans, opposite_spans))
    widest_gap = np.diff(np.sort(stretches.ravel()))[1::2].max(initial=0)
    return stretches if is_alternating and widest_gap < widest_span / 2 else None
