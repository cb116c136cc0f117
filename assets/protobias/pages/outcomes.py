"""Pictures without a score: how many and why, and which model scored at all."""

from functools import partial

import pandas as pd

from assets.protobias.pages.figures import METRIC_HEAD, TITLES, BoardMetric, SummarisedPainter
from assets.report import outcomes as kit
from assets.report.cells import Cell, Table, count_rows, number_cell
from assets.report.columns import TableColumn, tabulate
from assets.report.formats import NONE
from assets.report.outcomes import Served

_WITHOUT = ("unparsed", "refused", "failed")


def outcomes(painted: SummarisedPainter) -> Table:
    """Count the pictures that each metric was asked about, and those without a score."""
    scores = painted.evaluated_scores

    def asked(metric: BoardMetric) -> pd.DataFrame:
        return scores[scores["metric"] == metric.name]

    def ended(outcome: str, metric: BoardMetric) -> Cell:
        return count_rows(asked(metric)["outcome"].eq(outcome))

    def lacking(domain: str, metric: BoardMetric) -> Cell:
        outcomes = asked(metric).query("domain == @domain")["outcome"]
        return count_rows(outcomes.ne("scored")) if len(outcomes) else Cell(NONE, note="not asked")

    columns = [
        TableColumn("Pictures asked about", lambda metric: number_cell(len(asked(metric)))),
        *(
            TableColumn(outcome.capitalize(), partial(ended, outcome), group="Without a score")
            for outcome in _WITHOUT
        ),
        *(
            TableColumn(
                TITLES[domain], partial(lacking, domain), group="Without a score, by domain"
            )
            for domain in painted.board.domains
        ),
    ]
    caption = f"{painted.name}: pictures without a score"
    return tabulate(caption, "Metric", METRIC_HEAD, columns, dict(painted.board.grouped()))


def served(painted: SummarisedPainter) -> list[Served]:
    """Count the models that replied under each name, references apart."""
    scores = painted.evaluated_scores
    models = scores[scores["formula"].ne("stand_in")]
    return kit.served(models.rename(columns={"metric": "name"}))
