"""Charts of lines: a rate against a number on a logarithmic axis, with intervals."""

import math
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from assets.report.formats import Rate, format_count, format_rate

_MOST_TICKS = 6


class CurvePoint(NamedTuple):
    """A point of a line: its label, its number (above 0) on the axis, and its rate."""

    label: str
    number: float
    rate: Rate


class CurveLine(NamedTuple):
    """A line of a chart, its points in the order of their numbers."""

    label: str
    points: Sequence[CurvePoint]


class CurveChart(NamedTuple):
    """A chart; `title` says what it is about, `description` what the horizontal axis is."""

    id: str
    title: str
    description: str
    lines: Sequence[CurveLine]

    @property
    def ticks(self) -> list[tuple[float, str]]:
        """Round numbers on the axis: their places from 0 to 1, and their text."""
        low, high = self._ends
        for steps in ((1, 2, 5), (1, 3), (1,)):
            numbers = [number for number in _iterate_round(steps) if low <= number <= high]
            if len(numbers) <= _MOST_TICKS:
                break
        return [(self.place(number), format_count(int(number))) for number in numbers]

    @property
    def spoken(self) -> str:
        """All points in words."""
        return " ".join(
            f"{line.label}, {point.label}: {format_rate(point.rate)} at "
            f"{format_count(round(point.number))} tokens."
            for line in self.lines
            for point in line.points
        )

    def place(self, number: float) -> float:
        """Place a number on the axis, from 0 to 1."""
        low, high = map(math.log, self._ends)
        return (math.log(max(number, 1.0)) - low) / (high - low)

    @property
    def _ends(self) -> tuple[float, float]:
        """The ends of the axis, a little beyond all points."""
        numbers = [max(point.number, 1.0) for line in self.lines for point in line.points] or [1.0]
        return min(numbers) / 1.5, max(numbers) * 1.5


def _iterate_round(steps: Sequence[int]) -> Iterator[float]:
    return (step * 10.0**power for power in range(9) for step in steps)
