"""Tables of a painter by their columns, with their places in the paper."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from statistics import fmean

from assets.protobias.pages.figures import (
    ALL,
    GROUPS,
    HUMAN,
    METRIC_HEAD,
    TITLES,
    Board,
    BoardMetric,
    Measure,
    SummarisedPainter,
    Where,
)
from assets.report.cells import Cell, Table, number_cell, share_cell
from assets.report.columns import RowHead, TableColumn, tabulate
from assets.report.formats import Rate, format_count

Measures = Mapping[str, Measure]


def leaderboard(painters: Sequence[SummarisedPainter], caption: str) -> Table:
    """Failure rates as the mean over domains, a line per painter and a column per metric.

    The metric that fails least on average comes first, references last; a trial has no
    colour, and no say in the order.
    """
    boards = {
        (painted.name, metric.name): (painted.board, metric)
        for painted in painters
        for metric in painted.board.metrics
    }

    def place(metric: BoardMetric) -> tuple[int, bool, float, str]:
        rates = (_overall(board, m) for board, m in boards.values() if m.name == metric.name)
        values = [rate.value for rate in rates if rate.value is not None]
        mean = fmean(values) if values else 0.0
        return GROUPS.index(metric.group), not values, mean, metric.name

    def cell(name: str, painted: SummarisedPainter) -> Cell:
        board_metric = boards.get((painted.name, name))
        return _heated(*board_metric) if board_metric else Cell("", note="not scored")

    heads = dict.fromkeys(m._replace(doubts="", same_family=False) for _, m in boards.values())
    columns = [
        TableColumn(
            metric.name, partial(cell, metric.name), group=metric.group, detail=metric.small
        )
        for metric in sorted(heads, key=place)
    ]
    head = RowHead[SummarisedPainter](
        label=lambda painted: painted.title,
        small=lambda painted: _pairs(painted.evaluated),
        link=lambda painted: painted.page,
    )
    return tabulate(caption, "Painter", head, columns, {"": painters})


def failures(painted: SummarisedPainter, board: Board, caption: str) -> Table:
    """The share of pairs that fail, and the ties among them, by domain (Figure 2)."""
    measures: Measures = {"Failure rate": "failure_rate", "Ties": "tie_rate"}
    return _tabulate_measures(caption, painted, board, measures, board.places)


def margins(painted: SummarisedPainter) -> Table:
    """Margins of scores where the ranking is right, and where it is wrong (Table 1)."""
    measures: Measures = {
        "Correct ranking margin": "correct_margin",
        "Incorrect ranking margin": "incorrect_margin",
    }
    caption, board = "Correct and incorrect ranking margins", painted.board
    return _tabulate_measures(caption, painted, board, measures, board.places)


def scores(painted: SummarisedPainter, board: Board, caption: str) -> Table:
    """Mean scores of both sides and their difference (Table 2)."""
    measures: Measures = {"SC": "sc", "PA": "pa", "Δ": "delta"}
    columns = [
        board.column(label, place, measure, f"{title}, {_pairs(board.pairs(place))}")
        for title, place in board.places.items()
        for label, measure in measures.items()
    ]
    return _by_metric(caption, painted, board, columns)


def tabulate_knobs(painted: SummarisedPainter, domain: str) -> Table:
    """Failure rate and Δ by knob."""
    board = painted.board
    places = {name_knob(knob): (domain, knob, ALL) for knob in board.knobs(domain)}
    measures: Measures = {"Failure rate": "failure_rate", "Δ": "delta"}
    return _tabulate_measures(f"{TITLES[domain]} by knob", painted, board, measures, places)


def tabulate_concepts(painted: SummarisedPainter, domain: str) -> Table:
    """Failure rate by concept: concepts down, metrics across, for there are many concepts."""
    board = painted.board

    def cell(metric: BoardMetric, concept: str) -> Cell:
        return share_cell(board.rate(metric, (domain, ALL, concept), "failure_rate"))

    columns = [
        TableColumn(metric.name, partial(cell, metric), group=group, detail=metric.small)
        for group, metrics in board.grouped()
        for metric in metrics
    ]
    head = RowHead[str](
        label=str, small=lambda concept: _pairs(board.pairs((domain, ALL, concept)))
    )
    caption = f"{TITLES[domain]} by concept: failure rate"
    return tabulate(caption, "Concept", head, columns, {"": board.concepts(domain)})


def durations(painted: SummarisedPainter) -> Table:
    """The seconds that each metric takes for a pair (§6)."""
    seconds = painted.durations
    columns = [
        TableColumn[str](
            "Seconds a pair",
            lambda name: Cell(f"{seconds[name].seconds:,.2f}", numbers={"": seconds[name].seconds}),
        ),
        TableColumn[str]("Pairs", lambda name: number_cell(seconds[name].pairs)),
    ]
    metrics = [metric.name for metric in painted.board.metrics if metric.name in seconds]
    caption = f"{painted.name}: seconds a pair"
    return tabulate(caption, "Metric", RowHead[str](label=str), columns, {"": metrics})


def name_knob(knob: str) -> str:
    """A knob as headings write it: `color tone`."""
    return knob.replace("_", " ")


def _tabulate_measures(
    caption: str,
    painted: SummarisedPainter,
    board: Board,
    measures: Measures,
    places: Mapping[str, Where],
) -> Table:
    """A group per measure, with a column per place."""
    columns = [
        board.column(title, place, measure, label, _pairs(board.pairs(place)))
        for label, measure in measures.items()
        for title, place in places.items()
    ]
    return _by_metric(caption, painted, board, columns)


def _by_metric(
    caption: str,
    painted: SummarisedPainter,
    board: Board,
    columns: Sequence[TableColumn[BoardMetric]],
) -> Table:
    """A line per metric, which links to the pairs that it fails."""
    head = replace(
        METRIC_HEAD,
        link=lambda m: "" if m.name == HUMAN else f"{painted.gallery}#wrong={m.name}",
    )
    bodies = dict(board.grouped())
    return tabulate(f"{painted.name}: {caption}", "Metric", head, columns, bodies)


def _heated(board: Board, metric: BoardMetric) -> Cell:
    rate = board.rate(metric, board.overall, "failure_rate")
    family = "of the filter's family" if metric.same_family else ""
    note = ", ".join(filter(None, (rate.note, metric.doubts, family)))
    return share_cell(rate)._replace(note=note, heat=None if metric.doubts else rate.value)


def _overall(board: Board, metric: BoardMetric) -> Rate:
    """The failure rate that counts for a metric's place: none of a trial."""
    return Rate(None) if metric.doubts else board.rate(metric, board.overall, "failure_rate")


def _pairs(number: int) -> str:
    return f"{format_count(number)} {'pair' if number == 1 else 'pairs'}"
