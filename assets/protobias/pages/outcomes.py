"""Pictures without a score: how many and why, and which model scored at all."""

from collections.abc import Iterator

import pandas as pd

from assets.protobias.pages.figures import EVALUATED, TITLES, Metric, Painted
from assets.report import outcomes as kit
from assets.report.cells import Body, Cell, Group, Head, Line, Table, number, part
from assets.report.formats import NONE
from assets.report.outcomes import Served

_WITHOUT = ("unparsed", "refused", "failed")


def outcomes(painted: Painted) -> Table:
    """How many pictures each metric was asked about, and what ended without a score."""
    asked = _asked(painted.scores)
    bodies = [
        Body(
            label,
            [_line(painted, metric, asked[asked["metric"] == metric.name]) for metric in held],
        )
        for label, held in painted.board.grouped()
    ]
    domains = [TITLES[domain] for domain in painted.board.domains]
    groups = [
        Group("", [Head("Pictures asked about")]),
        Group("Without a score", [Head(outcome.capitalize()) for outcome in _WITHOUT]),
        Group("Without a score, by domain", [Head(title) for title in domains]),
    ]
    return Table(f"{painted.name}: pictures without a score", "Metric", groups, bodies)


def served(painted: Painted) -> list[Served]:
    """Which models replied under each name, references apart."""
    asked = _asked(painted.scores)
    models = asked[asked["formula"].ne("reference")]
    return kit.served(models.rename(columns={"metric": "name"}))


def _asked(scores: pd.DataFrame) -> pd.DataFrame:
    return scores[scores["sample"] == EVALUATED]


def _line(painted: Painted, metric: Metric, asked: pd.DataFrame) -> Line:
    return Line(metric.name, list(_cells(painted, asked)), metric.small)


def _cells(painted: Painted, asked: pd.DataFrame) -> Iterator[Cell]:
    yield number(len(asked))
    for outcome in _WITHOUT:
        yield part(int(asked["outcome"].eq(outcome).sum()), len(asked))
    for domain in painted.board.domains:
        here = asked[asked["domain"] == domain]
        lacking = int(here["outcome"].ne("scored").sum())
        yield part(lacking, len(here)) if len(here) else Cell(NONE, note="not asked")
