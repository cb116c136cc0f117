"""Ebbinghaus: two discs, each amid a ring of discs."""

from collections.abc import Sequence
from itertools import combinations
from typing import NamedTuple

import numpy as np

from generators.domains.optical_illusions._ink import (
    EDGE_WIDTH,
    FigureReading,
    InkPiece,
    compute_signed_ratio,
)
from generators.reading import Legibility, Unreadable


class _Disc(NamedTuple):
    x: float
    y: float
    radius: float

    def gap(self, other: "_Disc") -> float:
        """The white between two discs."""
        apart = float(np.hypot(self.x - other.x, self.y - other.y))
        return apart - self.radius - other.radius


def measure_ebbinghaus(pieces: Sequence[InkPiece]) -> FigureReading:
    """The inner circles' areas: larger over smaller, less 1, positive if the left is larger."""
    discs = [_fit_disc(piece) for piece in pieces]
    inner = [disc for disc in discs if _is_surrounded(disc, discs)]
    if len(inner) != 2:
        raise Unreadable(f"{len(inner)} discs instead of 2 lie amid others.")
    left_disc, right_disc = inner
    mark = 2 * min(disc.radius for disc in discs)
    gap = min(first.gap(second) for first, second in combinations(discs, 2))
    return FigureReading(
        difference=compute_signed_ratio(left_disc.radius**2, right_disc.radius**2),
        legibility=Legibility(mark=mark, gap=gap),
    )


def _fit_disc(piece: InkPiece) -> _Disc:
    area = piece.ink.sum()
    y = np.arange(piece.ink.shape[0]) @ piece.ink.sum(axis=1) / area
    x = np.arange(piece.ink.shape[1]) @ piece.ink.sum(axis=0) / area
    disc = _Disc(
        x=float(x) + piece.column_offset,
        y=float(y) + piece.row_offset,
        radius=float(np.sqrt(area / np.pi)),
    )
    off_round = max(abs(extent - 2 * EDGE_WIDTH - 2 * disc.radius) for extent in piece.ink.shape)
    if off_round > 2:
        raise Unreadable("There is ink that is no disc.")
    return disc


def _is_surrounded(disc: _Disc, discs: Sequence[_Disc]) -> bool:
    """True if the nearest others leave no side of a disc open."""
    others = [other for other in discs if other is not disc]
    if len(others) < 3:
        return False
    nearest = min(disc.gap(other) for other in others)
    near = nearest + max(nearest / 2, 1)
    angles = np.sort(
        [
            np.arctan2(other.y - disc.y, other.x - disc.x)
            for other in others
            if disc.gap(other) <= near
        ]
    )
    turns = np.diff(angles, append=angles[0] + 2 * np.pi)
    return bool(turns.max() < np.pi * 0.9)
