"""The charts of a painter: Figures 2 and 3, a small chart a domain."""

from collections.abc import Callable, Sequence

from assets.protobias.pages.figures import ALL, Board, Metric, Where
from assets.report.charts import PERCENT, SCORES, Bar, Chart, Mark
from assets.report.formats import Rate, percent, score, score_interval, spoken


def failures(board: Board) -> list[Chart]:
    """Failure rates by domain, with their ties (Figure 2)."""

    def bar(metric: Metric, where: Where) -> Bar:
        rate = board.rate(metric, where, "failure_rate")
        ties = board.rate(metric, where, "tie_rate").value
        beside = f", ties {percent(ties)}" if ties else ""
        mark = Mark("failure", rate, f"{percent(rate.value)}{beside}")
        return Bar(_label(metric), [mark], f"{spoken(rate)}{beside}", _missing(rate))

    return _charts("failures", "failure rate of every metric", PERCENT, board, bar)


def scores(board: Board) -> list[Chart]:
    """Mean scores of the correct and of the adversarial pictures by domain (Figure 3)."""

    def bar(metric: Metric, where: Where) -> Bar:
        sc, pa = board.rate(metric, where, "sc"), board.rate(metric, where, "pa")
        marks = [
            Mark("accuracy", sc, f"SC {score(sc.value)}"),
            Mark("bias", pa, f"PA {score(pa.value)}"),
        ]
        told = (f"{mark.text} {score_interval(mark.rate)}".strip() for mark in marks)
        return Bar(_label(metric), marks, ", ".join(told), _missing(sc))

    return _charts("scores", "mean score of both sides by every metric", SCORES, board, bar)


def _charts(
    name: str,
    about: str,
    ticks: Sequence[str],
    board: Board,
    bar: Callable[[Metric, Where], Bar],
) -> list[Chart]:
    found = []
    for domain, title in board.columns:
        bars = [bar(metric, (domain, ALL, ALL)) for metric in board.metrics]
        found.append(Chart(f"{name}-{domain}", title, about, ticks, bars))
    return found


def _label(metric: Metric) -> str:
    reference = " · reference" if metric.group == "Reference judges" else ""
    trial = " · trial" if metric.doubts else ""
    family = " · the filter's family" if metric.same_family else ""
    return f"{metric.name}{reference}{family}{trial}"


def _missing(rate: Rate) -> str:
    return rate.note if rate.value is None else ""
