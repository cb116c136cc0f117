"""Charts of bars, which a single template draws."""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Literal, NamedTuple, TypeAlias

from assets.report.formats import (
    Rate,
    format_interval,
    format_percent,
    format_signed,
    format_signed_interval,
)
from assets.report.standings import Course

PERCENT = ("0", "25", "50", "75", "100\u00a0%")
SCORES = ("0", "0.25", "0.5", "0.75", "1")

_NARROW, _GAP, _LETTER = 340, 12, 7
"""Pixels: a chart on a phone, from an interval to the text beside it, and of a letter."""


MarkKind: TypeAlias = Literal["failure", "accuracy", "bias", "published"]


class NumberFormat(NamedTuple):
    """A way to write values and their intervals."""

    value: Callable[[float | None], str]
    interval: Callable[[Rate], str]


SHARE = NumberFormat(format_percent, format_interval)


class Mark(NamedTuple):
    """A value with its interval, style and label."""

    kind: MarkKind
    rate: Rate
    text: str

    @property
    def fits(self) -> bool:
        """True if the text has room beside the interval."""
        low, high = self.rate.low or 0.0, 1.0 if self.rate.high is None else self.rate.high
        return max(low, 1 - high) * _NARROW >= _GAP + _LETTER * len(self.text)


class Bar(NamedTuple):
    """A line of a chart; `spoken` is all of it in words, and `note` why there is no value."""

    label: str
    marks: Sequence[Mark]
    spoken: str
    note: str = ""

    @classmethod
    def build(
        cls,
        label: str,
        rates: Mapping[str, tuple[MarkKind, Rate]],
        written: NumberFormat = SHARE,
        note: str = "",
    ) -> "Bar":
        """A bar of rates, by the word before each number."""
        marks = [
            Mark(kind, rate, f"{name} {written.value(rate.value)}".strip())
            for name, (kind, rate) in rates.items()
        ]
        spoken = (f"{mark.text} {written.interval(mark.rate)}".strip() for mark in marks)
        return cls(label, marks, ", ".join(spoken), note)

    @property
    def above(self) -> str:
        """The text above the marks, where intervals leave it no room beside them."""
        drawn = [mark for mark in self.marks if mark.rate.value is not None]
        return "" if all(m.fits for m in drawn) else ", ".join(m.text for m in drawn)


class Chart(NamedTuple):
    """A chart; `title` says what it is about, `description` what is shown, `ticks` its scale.

    `left_label` and `right_label` say what the ends of its scale mean, where that is not clear.
    """

    id: str
    title: str
    description: str
    ticks: Sequence[str]
    bars: Sequence[Bar]
    left_label: str = ""
    right_label: str = ""


class Scale(NamedTuple):
    """A scale by its ends; places on it are from 0 to 1."""

    low: float
    high: float

    @classmethod
    def fit(cls, rates: Iterable[Rate]) -> "Scale":
        """Fit a scale that includes 0 and all numbers, with four equal steps between its ends."""
        ends_and_zero = [0.0, *(end for rate in rates for end in rate[:3] if end is not None)]
        step = _round_up(max(max(ends_and_zero) - min(ends_and_zero), 1.0) / 3)
        low = step * math.floor(min(ends_and_zero) / step)
        while low + 4 * step < max(ends_and_zero):
            step = _round_up(step * 1.01)
            low = step * math.floor(min(ends_and_zero) / step)
        return cls(low, low + 4 * step)

    def place(self, number: float) -> float:
        """Place a number on the scale, from 0 to 1."""
        return (number - self.low) / (self.high - self.low)

    def place_rate(self, rate: Rate) -> Rate:
        """Place a number and the ends of its interval."""
        value, low, high = (None if end is None else self.place(end) for end in rate[:3])
        return Rate(value, low, high)

    def ticks(self, write: Callable[[float], str]) -> list[str]:
        """Format its ends and the steps between them."""
        steps = [self.low + (self.high - self.low) * step / 4 for step in range(5)]
        return [write(step).removesuffix(".0") for step in steps]


def changes(
    id_: str,
    title: str,
    description: str,
    rates: Mapping[str, tuple[Rate, str]],
    *,
    unit: str = "",
    spoken_unit: str = "",
    left_label: str = "",
    right_label: str = "",
) -> Chart:
    """Numbers with a sign on a scale that has 0; by label, each with why it has no value."""
    scale = Scale.fit(rate for rate, _ in rates.values())

    def bar(label: str, rate: Rate, lacking: str) -> Bar:
        text = f"{format_signed(rate.value)}{unit}"
        spoken = f"{text}{spoken_unit} {format_signed_interval(rate)}".strip()
        lacking = lacking if rate.value is None else ""
        return Bar(label, [Mark("failure", scale.place_rate(rate), text)], spoken, lacking)

    ticks = scale.ticks(format_signed)
    ticks[-1] += unit
    return Chart(
        id_,
        title,
        description,
        ticks,
        [bar(label, *rate_and_note) for label, rate_and_note in rates.items()],
        left_label,
        right_label,
    )


def monthly(id_: str, course: Course) -> Chart:
    """The share of right answers of each month, on a scale from 0 to 1."""
    bars = [
        Bar.build(
            f"{month.month}{', changed' * (month.month in course.changed_months)} ({month.note})",
            {"": ("accuracy", Rate(month.value, month.low, month.high))},
            note="" if month.value is not None else "no answer",
        )
        for month in course.months
    ]
    return Chart(id_, course.title, "share of right answers by month", PERCENT, bars)


def _round_up(number: float) -> float:
    """1, 2, 2.5 or 5 times a power of ten."""
    power = 10.0 ** math.floor(math.log10(number))
    return power * next(factor for factor in (1, 2, 2.5, 5, 10) if factor * power >= number - 1e-9)
