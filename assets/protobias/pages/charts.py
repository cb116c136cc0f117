"""The charts of a painter: Figures 2 and 3, a small chart a domain."""

from collections.abc import Callable, Sequence

from assets.protobias.pages.figures import Board, BoardMetric, Where
from assets.report.charts import PERCENT, SCORES, Bar, Chart, Mark, MarkKind, NumberFormat
from assets.report.formats import (
    Rate,
    format_percent,
    format_rate,
    format_score,
    format_score_interval,
)

_SCORE = NumberFormat(format_score, format_score_interval)


def failures(board: Board) -> list[Chart]:
    """Failure rates by domain, with their ties (Figure 2)."""

    def bar(metric: BoardMetric, place: Where) -> Bar:
        rate = board.rate(metric, place, "failure_rate")
        ties = board.rate(metric, place, "tie_rate").value
        ties_text = f", ties {format_percent(ties)}" if ties else ""
        mark = Mark("failure", rate, f"{format_percent(rate.value)}{ties_text}")
        return Bar(_label(metric), [mark], f"{format_rate(rate)}{ties_text}", _missing(rate))

    return _charts("failures", "failure rate of every metric", PERCENT, board, bar)


def scores(board: Board) -> list[Chart]:
    """Mean scores of the correct and of the adversarial pictures by domain (Figure 3)."""

    def bar(metric: BoardMetric, place: Where) -> Bar:
        sc, pa = board.rate(metric, place, "sc"), board.rate(metric, place, "pa")
        marks: dict[str, tuple[MarkKind, Rate]] = {"SC": ("accuracy", sc), "PA": ("bias", pa)}
        return Bar.build(_label(metric), marks, _SCORE, _missing(sc))

    return _charts("scores", "mean score of both sides by every metric", SCORES, board, bar)


def _charts(
    name: str,
    description: str,
    ticks: Sequence[str],
    board: Board,
    bar: Callable[[BoardMetric, Where], Bar],
) -> list[Chart]:
    return [
        Chart(
            f"{name}-{place[0]}",
            title,
            description,
            ticks,
            [bar(metric, place) for metric in board.metrics],
        )
        for title, place in board.places.items()
    ]


def _label(metric: BoardMetric) -> str:
    reference = " · stand-in" if metric.group == "Stand-in judges" else ""
    trial = " · trial" if metric.doubts else ""
    family = " · the filter's family" if metric.same_family else ""
    return f"{metric.name}{reference}{family}{trial}"


def _missing(rate: Rate) -> str:
    return rate.note if rate.value is None else ""
