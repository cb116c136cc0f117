"""Tables of a painter by their columns, with their places in the paper."""

from collections.abc import Callable, Mapping, Sequence
from statistics import fmean
from typing import TypeAlias

from assets.protobias.pages.figures import (
    ALL,
    GROUPS,
    HUMAN,
    TITLES,
    Board,
    BoardMetric,
    Measure,
    SummarisedPainter,
    Where,
)
from assets.report.cells import (
    Body,
    Cell,
    Group,
    Head,
    Line,
    Table,
    margin_cell,
    mean_cell,
    number_cell,
    share_cell,
)
from assets.report.formats import Rate, format_count

Column: TypeAlias = tuple[Where, Measure]
Measures: TypeAlias = Mapping[str, Measure]

_SCORES: Measures = {"SC": "sc", "PA": "pa", "Δ": "delta"}
_WRITTEN: Mapping[Measure, Callable[[Rate], Cell]] = {
    "failure_rate": share_cell,
    "tie_rate": share_cell,
    "correct_margin": margin_cell,
    "incorrect_margin": margin_cell,
}


def leaderboard(painters: Sequence[SummarisedPainter], caption: str) -> Table:
    """Failure rates as the mean over domains, a line a painter and a column a metric.

    The metric that fails least on average comes first, references last; a trial has no
    colour, and no say in the order.
    """
    boards = {
        (painted.name, metric.name): (painted.board, metric)
        for painted in painters
        for metric in painted.board.metrics
    }
    heads = dict.fromkeys(m._replace(doubts="", same_family=False) for _, m in boards.values())

    def place(metric: BoardMetric) -> tuple[bool, float, str]:
        of_it = (
            _overall(*board_metric)
            for board_metric in boards.values()
            if board_metric[1].name == metric.name
        )
        values = [rate.value for rate in of_it if rate.value is not None]
        return not values, fmean(values) if values else 0.0, metric.name

    metrics = {
        group: sorted((metric for metric in heads if metric.group == group), key=place)
        for group in GROUPS
    }

    def cell(painted: SummarisedPainter, metric: BoardMetric) -> Cell:
        board_metric = boards.get((painted.name, metric.name))
        return _heated(*board_metric) if board_metric else Cell("", note="not scored")

    lines = [
        Line(
            painted.title,
            [
                cell(painted, metric)
                for group_metrics in metrics.values()
                for metric in group_metrics
            ],
            _pairs(painted.evaluated),
            painted.page,
        )
        for painted in painters
    ]
    groups = [
        Group(group, [Head(metric.name, metric.small) for metric in group_metrics])
        for group, group_metrics in metrics.items()
        if group_metrics
    ]
    return Table(caption, "Painter", groups, [Body("", lines)])


def failures(painted: SummarisedPainter, board: Board, caption: str) -> Table:
    """The share of pairs that fail, and the ties among them, by domain (Figure 2)."""
    measures: Measures = {"Failure rate": "failure_rate", "Ties": "tie_rate"}
    return _by_measure(caption, painted, board, measures, _domains(board))


def margins(painted: SummarisedPainter) -> Table:
    """Margins of scores where the ranking is right, and where it is wrong (Table 1)."""
    measures: Measures = {
        "Correct ranking margin": "correct_margin",
        "Incorrect ranking margin": "incorrect_margin",
    }
    board, caption = painted.board, "Correct and incorrect ranking margins"
    return _by_measure(caption, painted, board, measures, _domains(board))


def scores(painted: SummarisedPainter, board: Board, caption: str) -> Table:
    """Mean scores of both sides and their difference (Table 2)."""
    heads = [Head(label) for label in _SCORES]
    groups, columns = [], []
    for domain, title in board.columns:
        place = (domain, ALL, ALL)
        groups.append(Group(f"{title}, {_pairs(board.pairs(place))}", heads))
        columns += [(place, measure) for measure in _SCORES.values()]
    return _table(caption, painted, board, groups, columns)


def durations(painted: SummarisedPainter) -> Table:
    """The seconds that each metric takes for a pair (§6)."""
    lines = [
        Line(
            metric.name,
            [
                Cell(f"{duration.seconds:,.2f}", numbers={"": duration.seconds}),
                number_cell(duration.pairs),
            ],
        )
        for metric in painted.board.metrics
        if (duration := painted.durations.get(metric.name))
    ]
    caption = f"{painted.name}: seconds a pair"
    return Table.plain(caption, "Metric", ("Seconds a pair", "Pairs"), lines)


def by_knob(painted: SummarisedPainter, domain: str) -> Table:
    """Failure rate and Δ by knob."""
    board = painted.board
    places = [((domain, knob, ALL), named(knob)) for knob in board.knobs(domain)]
    measures: Measures = {"Failure rate": "failure_rate", "Δ": "delta"}
    return _by_measure(f"{TITLES[domain]} by knob", painted, board, measures, places)


def by_concept(painted: SummarisedPainter, domain: str) -> Table:
    """Failure rate by concept: concepts down, metrics across, for there are many concepts."""
    board = painted.board
    groups, metrics = [], []
    for label, group_metrics in board.grouped():
        groups.append(Group(label, [Head(metric.name, metric.small) for metric in group_metrics]))
        metrics += group_metrics
    lines = [
        Line(
            concept,
            [
                share_cell(board.rate(metric, (domain, ALL, concept), "failure_rate"))
                for metric in metrics
            ],
            _pairs(board.pairs((domain, ALL, concept))),
        )
        for concept in board.concepts(domain)
    ]
    caption = f"{TITLES[domain]} by concept: failure rate"
    return Table(caption, "Concept", groups, [Body("", lines)])


def named(knob: str) -> str:
    """A knob as headings write it: `color tone`."""
    return knob.replace("_", " ")


def _domains(board: Board) -> list[tuple[Where, str]]:
    return [((domain, ALL, ALL), title) for domain, title in board.columns]


def _by_measure(
    caption: str,
    painted: SummarisedPainter,
    board: Board,
    measures: Measures,
    places: Sequence[tuple[Where, str]],
) -> Table:
    """A group a measure, in each a column a place."""
    heads = [Head(title, _pairs(board.pairs(place))) for place, title in places]
    columns = [(place, measure) for measure in measures.values() for place, _ in places]
    groups = [Group(label, heads) for label in measures]
    return _table(caption, painted, board, groups, columns)


def _table(
    caption: str,
    painted: SummarisedPainter,
    board: Board,
    groups: Sequence[Group],
    columns: Sequence[Column],
) -> Table:
    bodies = [
        Body(label, [_line(painted, board, metric, columns) for metric in metrics])
        for label, metrics in board.grouped()
    ]
    return Table(f"{painted.name}: {caption}", "Metric", groups, bodies)


def _line(
    painted: SummarisedPainter, board: Board, metric: BoardMetric, columns: Sequence[Column]
) -> Line:
    link = "" if metric.name == HUMAN else f"{painted.gallery}#wrong={metric.name}"
    return Line(
        metric.name, [_cell(board, metric, *column) for column in columns], metric.small, link
    )


def _cell(board: Board, metric: BoardMetric, place: Where, measure: Measure) -> Cell:
    rate = board.rate(metric, place, measure)
    return _WRITTEN.get(measure, mean_cell)(rate)


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
