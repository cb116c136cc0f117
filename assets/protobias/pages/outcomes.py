"""Pictures without a score: how many and why, and which model scored at all."""

from collections.abc import Iterator

import pandas as pd

from assets.protobias.pages.figures import EVALUATED, TITLES, BoardMetric, SummarisedPainter
from assets.report import outcomes as kit
from assets.report.cells import Body, Cell, Group, Head, Line, Table, number_cell, part_cell
from assets.report.formats import NONE
from assets.report.outcomes import Served

_WITHOUT = ("unparsed", "refused", "failed")


def outcomes(painted: SummarisedPainter) -> Table:
    """Count the pictures that each metric was asked about, and those without a score."""
    requests = _asked(painted.scores)
    bodies = [
        Body(
            label,
            [
                _line(painted, metric, requests[requests["metric"] == metric.name])
                for metric in metrics
            ],
        )
        for label, metrics in painted.board.grouped()
    ]
    domains = [TITLES[domain] for domain in painted.board.domains]
    groups = [
        Group("", [Head("Pictures asked about")]),
        Group("Without a score", [Head(outcome.capitalize()) for outcome in _WITHOUT]),
        Group("Without a score, by domain", [Head(title) for title in domains]),
    ]
    return Table(f"{painted.name}: pictures without a score", "Metric", groups, bodies)


def served(painted: SummarisedPainter) -> list[Served]:
    """Count the models that replied under each name, references apart."""
    requests = _asked(painted.scores)
    models = requests[requests["formula"].ne("reference")]
    return kit.served(models.rename(columns={"metric": "name"}))


def _asked(scores: pd.DataFrame) -> pd.DataFrame:
    return scores[scores["sample"] == EVALUATED]


def _line(painted: SummarisedPainter, metric: BoardMetric, requests: pd.DataFrame) -> Line:
    return Line(metric.name, list(_cells(painted, requests)), metric.small)


def _cells(painted: SummarisedPainter, requests: pd.DataFrame) -> Iterator[Cell]:
    yield number_cell(len(requests))
    for outcome in _WITHOUT:
        yield part_cell(int(requests["outcome"].eq(outcome).sum()), len(requests))
    for domain in painted.board.domains:
        here = requests[requests["domain"] == domain]
        lacking = int(here["outcome"].ne("scored").sum())
        yield part_cell(lacking, len(here)) if len(here) else Cell(NONE, note="not asked")
