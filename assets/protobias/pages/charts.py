"""What the charts show: Figures 2 and 3, a small chart a domain."""

from collections.abc import Callable, Sequence
from typing import Literal, NamedTuple

from assets.protobias.pages.figures import ALL, Board, Metric, Where
from assets.report.formats import Rate, percent, score, score_interval, spoken


class Mark(NamedTuple):
    """A value with its interval, how it is drawn, and what is written beside it."""

    kind: Literal["failure", "accuracy", "bias"]
    rate: Rate
    words: str


class Bar(NamedTuple):
    """A metric with its marks, none of which has a value where there is a note."""

    label: str
    marks: Sequence[Mark]
    spoken: str
    note: str = ""

    @property
    def above(self) -> str:
        """What is written above the marks, where intervals leave it no room beside them."""
        told = [mark for mark in self.marks if mark.rate.value is not None]
        return "" if all(map(_fits_beside, told)) else ", ".join(mark.words for mark in told)


def _fits_beside(mark: Mark) -> bool:
    low, high = mark.rate.low or 0.0, 1.0 if mark.rate.high is None else mark.rate.high
    return max(low, 1 - high) * _NARROW >= _GAP + _LETTER * len(mark.words)


class Chart(NamedTuple):
    """A chart of bars; `title` tells the domain, `about` what is shown, and `ticks` its scale."""

    id: str
    title: str
    about: str
    ticks: Sequence[str]
    bars: Sequence[Bar]


_NARROW, _GAP, _LETTER = 340, 12, 7
"""Pixels: a chart on a phone, from an interval to what is written beside it, and of a letter."""
_PERCENT = ("0", "25", "50", "75", "100\u00a0%")
_SCORES = ("0", "0.25", "0.5", "0.75", "1")


def failures(board: Board) -> list[Chart]:
    """Failure rates by domain, with their ties (Figure 2)."""

    def bar(metric: Metric, where: Where) -> Bar:
        rate = board.rate(metric, where, "failure_rate")
        ties = board.rate(metric, where, "tie_rate").value
        beside = f", ties {percent(ties)}" if ties else ""
        mark = Mark("failure", rate, f"{percent(rate.value)}{beside}")
        return Bar(_label(metric), [mark], f"{spoken(rate)}{beside}", _without(rate))

    return _charts("failures", "failure rate of every metric", _PERCENT, board, bar)


def scores(board: Board) -> list[Chart]:
    """Mean scores of the correct and of the adversarial pictures by domain (Figure 3)."""

    def bar(metric: Metric, where: Where) -> Bar:
        sc, pa = board.rate(metric, where, "sc"), board.rate(metric, where, "pa")
        marks = [
            Mark("accuracy", sc, f"SC {score(sc.value)}"),
            Mark("bias", pa, f"PA {score(pa.value)}"),
        ]
        told = (f"{mark.words} {score_interval(mark.rate)}".strip() for mark in marks)
        return Bar(_label(metric), marks, ", ".join(told), _without(sc))

    return _charts("scores", "mean score of both sides by every metric", _SCORES, board, bar)


def _charts(
    name: str,
    about: str,
    ticks: Sequence[str],
    board: Board,
    bar: Callable[[Metric, Where], Bar],
) -> list[Chart]:
    return [
        Chart(
            f"{name}-{domain}",
            title,
            about,
            ticks,
            [bar(metric, (domain, ALL, ALL)) for metric in board.metrics],
        )
        for domain, title in board.columns
    ]


def _label(metric: Metric) -> str:
    reference = " · reference" if metric.group == "Reference judges" else ""
    part = " · asked in part" if metric.partial else ""
    family = " · the filter's family" if metric.kin else ""
    return f"{metric.name}{reference}{family}{part}"


def _without(rate: Rate) -> str:
    return rate.note if rate.value is None else ""
