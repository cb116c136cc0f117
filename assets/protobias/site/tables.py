"""Which columns each table of a painter has, and where the paper has it."""

from collections.abc import Callable, Mapping, Sequence

from assets.protobias.site.board import ALL, HUMAN, TITLES, Board, Measure, Metric, Where
from assets.protobias.site.cells import Body, Cell, Group, Head, Line, Table, margin, mean, share
from assets.protobias.site.painted import Painted
from assets.site.writing import Rate, count

Column = tuple[Where, Measure]

_MARGINS: tuple[tuple[str, Measure], ...] = (
    ("Correct ranking margin", "correct_margin"),
    ("Incorrect ranking margin", "incorrect_margin"),
)
_SCORES: tuple[tuple[str, Measure], ...] = (("SC", "sc"), ("PA", "pa"), ("Δ", "delta"))
_WRITTEN: Mapping[Measure, Callable[[Rate], Cell]] = {
    "failure_rate": share,
    "tie_rate": share,
    "correct_margin": margin,
    "incorrect_margin": margin,
}
_SHARES: tuple[tuple[str, Measure], ...] = (("Failure rate", "failure_rate"), ("Ties", "tie_rate"))


def failures(painted: Painted, board: Board, caption: str) -> Table:
    """The share of pairs that fail, and the ties among them, by domain (Figure 2)."""
    heads = [_domain(board, domain, title) for domain, title in board.columns]
    columns: list[Column] = [
        ((domain, ALL, ALL), measure) for _, measure in _SHARES for domain, _ in board.columns
    ]
    groups = [Group(label, heads) for label, _ in _SHARES]
    return _table(caption, painted, board, groups, columns)


def margins(painted: Painted) -> Table:
    """How far apart scores are where the ranking is right, and where it is wrong (Table 1)."""
    board = painted.board
    heads = [_domain(board, domain, title) for domain, title in board.columns]
    groups = [Group(label, heads) for label, _ in _MARGINS]
    columns: list[Column] = [
        ((domain, ALL, ALL), measure) for _, measure in _MARGINS for domain, _ in board.columns
    ]
    return _table("Correct and incorrect ranking margins", painted, board, groups, columns)


def scores(painted: Painted, board: Board, caption: str) -> Table:
    """Mean scores of both sides and their difference (Table 2)."""
    heads = [Head(label) for label, _ in _SCORES]
    groups = []
    for domain, title in board.columns:
        pairs = _pairs(board.pairs((domain, ALL, ALL)))
        groups.append(Group(f"{title}, {pairs}", heads))
    columns: list[Column] = [
        ((domain, ALL, ALL), measure) for domain, _ in board.columns for _, measure in _SCORES
    ]
    return _table(caption, painted, board, groups, columns)


def by_knob(painted: Painted, domain: str) -> Table:
    """Failure rate and Δ by knob."""
    board = painted.board
    knobs = board.knobs(domain)
    heads = [Head(named(knob), _pairs(board.pairs((domain, knob, ALL)))) for knob in knobs]
    measures: tuple[tuple[str, Measure], ...] = (("Failure rate", "failure_rate"), ("Δ", "delta"))
    columns: list[Column] = [
        ((domain, knob, ALL), measure) for _, measure in measures for knob in knobs
    ]
    groups = [Group(label, heads) for label, _ in measures]
    return _table(f"{TITLES[domain]} by knob", painted, board, groups, columns)


def by_concept(painted: Painted, domain: str) -> Table:
    """Failure rate by concept: concepts down, metrics across, for there are many concepts."""
    board = painted.board
    groups, metrics = [], []
    for label, held in board.grouped():
        groups.append(Group(label, [Head(metric.name, metric.small) for metric in held]))
        metrics += held
    lines = [
        Line(
            concept,
            [
                share(board.rate(metric, (domain, ALL, concept), "failure_rate"))
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


def _table(
    caption: str, painted: Painted, board: Board, groups: Sequence[Group], columns: Sequence[Column]
) -> Table:
    bodies = [
        Body(label, [_line(painted, board, metric, columns) for metric in metrics])
        for label, metrics in board.grouped()
    ]
    return Table(f"{painted.name}: {caption}", "Metric", groups, bodies)


def _line(painted: Painted, board: Board, metric: Metric, columns: Sequence[Column]) -> Line:
    link = "" if metric.name == HUMAN else f"{painted.gallery}#wrong={metric.name}"
    return Line(metric.name, [_cell(board, metric, *each) for each in columns], metric.small, link)


def _cell(board: Board, metric: Metric, where: Where, measure: Measure) -> Cell:
    rate = board.rate(metric, where, measure)
    return _WRITTEN.get(measure, mean)(rate)


def _domain(board: Board, domain: str, title: str) -> Head:
    return Head(title, _pairs(board.pairs((domain, ALL, ALL))))


def _pairs(number: int) -> str:
    return f"{count(number)} {'pair' if number == 1 else 'pairs'}"
