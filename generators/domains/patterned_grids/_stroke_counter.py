"""Counting tally strokes: uprights, and the strokes that cross them."""

from dataclasses import dataclass
from itertools import pairwise
from math import hypot

import numpy as np
from numpy.typing import NDArray

from generators.domains.patterned_grids._grid_finder import Ink, find_runs

ENDS = 0.1
"""The part of a tally's height at the top, and at the bottom, that is not looked at."""
SLIM = 0.5
"""An upright is at most this part of its height wide; what is left of a dot is wider."""
CROSSED = 0.5
"""A gap is crossed where, on some rows, this part of what is white on the others is covered."""

Span = tuple[int, int]
Profile = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class TallyReading:
    """The strokes in a cell: the width in px of each upright and of each crossing stroke.

    `gaps` are those beside the uprights, to the sides of the cell as well.
    """

    uprights: list[float]
    crossing: list[float]
    gaps: list[float]

    @property
    def count(self) -> int:
        """The number of strokes."""
        return len(self.uprights) + len(self.crossing)


def read_tally(ink: Ink) -> TallyReading:
    """The strokes in a cell."""
    inked = np.flatnonzero(ink.max(axis=1) > 0.5)
    if len(inked) < 4:
        return TallyReading(uprights=[], crossing=[], gaps=[])
    end = max(1, round(ENDS * len(inked)))
    body = ink[inked[0] + end : inked[-1] + 1 - end]
    standing: Profile = body.min(axis=0)
    uprights = [(a, b) for a, b in find_runs(standing > 0.5) if b - a <= SLIM * len(inked)]
    walls = [(0, 0), *uprights, (len(standing), len(standing))]
    between = _find_gaps(uprights)
    crossed = np.array([_measure_cover(body, gap).max() > CROSSED for gap in between], dtype=bool)
    return TallyReading(
        uprights=[_sum_softly(standing, upright) for upright in uprights],
        crossing=[_measure_crossing_width(body, between[a:b]) for a, b in find_runs(crossed)],
        gaps=[_sum_softly(1 - standing, gap) for gap in _find_gaps(walls)] if uprights else [],
    )


def _find_gaps(spans: list[Span]) -> list[Span]:
    return [(end, start) for (_, end), (start, _) in pairwise(spans)]


def _sum_softly(profile: Profile, span: Span) -> float:
    """The sum over a span and the soft pixel on either side of it."""
    return float(profile[max(0, span[0] - 1) : span[1] + 1].sum())


def _measure_cover(body: Ink, gap: Span) -> Profile:
    """The share of ink that crosses the middle of a gap, row by row.

    The soft edges of the uprights lie on all rows alike and are taken off.
    """
    middle = body[:, sum(gap) // 2]
    usual = float(np.median(middle))
    covers: Profile = np.clip((middle - usual) / max(0.5, 1 - usual), 0.0, 1.0)
    return covers


def _measure_crossing_width(body: Ink, gaps: list[Span]) -> float:
    """The width of a stroke across these gaps, square to its direction."""
    covers = [_measure_cover(body, gap) for gap in gaps]
    thick = np.mean([cover.sum() for cover in covers])
    heights = [cover @ np.arange(len(cover)) / cover.sum() for cover in covers]
    run = sum(gaps[-1]) // 2 - sum(gaps[0]) // 2
    return float(thick) * run / hypot(run, heights[-1] - heights[0]) if run else float(thick)
