"""Charts of bars, which a single template draws."""

import math
from collections.abc import Sequence
from typing import Literal, NamedTuple

from assets.report.formats import Rate

PERCENT = ("0", "25", "50", "75", "100\u00a0%")
SCORES = ("0", "0.25", "0.5", "0.75", "1")

_NARROW, _GAP, _LETTER = 340, 12, 7
"""Pixels: a chart on a phone, from an interval to the text beside it, and of a letter."""


class Mark(NamedTuple):
    """A value with its interval, style and label."""

    kind: Literal["failure", "accuracy", "bias"]
    rate: Rate
    text: str

    @property
    def fits(self) -> bool:
        """Whether there is room beside the interval for the text."""
        low, high = self.rate.low or 0.0, 1.0 if self.rate.high is None else self.rate.high
        return max(low, 1 - high) * _NARROW >= _GAP + _LETTER * len(self.text)


class Bar(NamedTuple):
    """A line of a chart; `spoken` is all of it in words, and `note` why there is no value."""

    label: str
    marks: Sequence[Mark]
    spoken: str
    note: str = ""

    @property
    def above(self) -> str:
        """What is written above the marks, where intervals leave it no room beside them."""
        drawn = [mark for mark in self.marks if mark.rate.value is not None]
        return "" if all(m.fits for m in drawn) else ", ".join(m.text for m in drawn)


class Chart(NamedTuple):
    """A chart; `title` says what it is about, `about` what is shown, and `ticks` its scale."""

    id: str
    title: str
    about: str
    ticks: Sequence[str]
    bars: Sequence[Bar]


def scale_with_zero(numbers: Sequence[float | None]) -> tuple[float, float]:
    """The ends of a scale with 0 on it that all numbers fit, and four equal steps between them."""
    there = [0.0, *(number for number in numbers if number is not None)]
    step = _round_up(max(max(there) - min(there), 1.0) / 3)
    low = step * math.floor(min(there) / step)
    while low + 4 * step < max(there):
        step = _round_up(step * 1.01)
        low = step * math.floor(min(there) / step)
    return low, low + 4 * step


def _round_up(number: float) -> float:
    """1, 2, 2.5 or 5 times a power of ten."""
    power = 10.0 ** math.floor(math.log10(number))
    return power * next(each for each in (1, 2, 2.5, 5, 10) if each * power >= number - 1e-9)
