"""Failure rates compared: between metrics on the same pairs, and between painters."""

from collections.abc import Sequence

import pandas as pd

from assets.kit.columns import NamedRow, iterate_named_rows
from assets.protobias.pages.figures import ALL, EVALUATED, SummarisedPainter
from assets.report.cells import (
    Body,
    Cell,
    Group,
    Head,
    Line,
    Table,
    mean_cell,
    number_cell,
    points_cell,
)
from assets.report.formats import NONE, Rate, format_count
from metrics.protobias import failure_differences as comparison
from metrics.statistics.weighted_kappa import AnnotatorAgreement, pairwise_agreement


def between_metrics(painted: SummarisedPainter) -> Table:
    """Compare every two metrics, with Holm's correction; references only where little else is."""
    scores = painted.scores[painted.scores["sample"] == EVALUATED]
    trials = [metric.name for metric in painted.board.metrics if metric.doubts]
    firm = scores[~scores["metric"].isin(trials)]
    scores = firm if len(firm) else scores
    models = scores[scores["formula"] != "reference"]
    compared = models if models["metric"].nunique() > 1 else scores
    differences = (
        list(iterate_named_rows(comparison.compare_metrics(compared))) if len(compared) else []
    )
    board = painted.board
    cells = {(row.first, row.second, row.domain): _with_p(row) for row in differences}
    named = list(dict.fromkeys((row.first, row.second) for row in differences))
    lines = [
        Line(
            f"{first} less {second}",
            [cells.get((first, second, domain), _NOT_COMPARED) for domain, _ in board.columns],
        )
        for first, second in named
    ]
    caption = f"{painted.name}: differences of failure rates between metrics"
    return Table.plain(caption, "Metrics", [title for _, title in board.columns], lines)


def between_painters(painters: Sequence[SummarisedPainter]) -> pd.DataFrame:
    """Compare every two painters, the later one less the earlier one."""
    scores = [painted.scores[painted.scores["sample"] == EVALUATED] for painted in painters]
    return comparison.compare_painters(pd.concat(scores, ignore_index=True))


def changes(
    compared: pd.DataFrame, painted: SummarisedPainter, earlier: SummarisedPainter
) -> Table:
    """One painter against an earlier one, by domain."""
    board = painted.board
    columns = [(earlier.name, domain) for domain, _ in board.columns]
    lines = _changed(compared, painted, columns)
    caption = f"{painted.name} less {earlier.name}"
    group = Group(caption, [Head(title) for _, title in board.columns])
    return Table(caption, "Metric", [group], [Body("", lines)])


def overall(
    compared: pd.DataFrame, painted: SummarisedPainter, earlier: Sequence[SummarisedPainter]
) -> Table:
    """One painter against each earlier one, as the mean over domains."""
    lines = _changed(compared, painted, [(other.name, ALL) for other in earlier])
    heads = [f"less {other.name}" for other in earlier]
    return Table.plain(f"{painted.name} less each earlier painter", "Metric", heads, lines)


def _changed(
    compared: pd.DataFrame, painted: SummarisedPainter, columns: Sequence[tuple[str, str]]
) -> list[Line]:
    """A line a metric; the columns are earlier painters with a domain."""
    painter_rows = iterate_named_rows(compared[compared["later"] == painted.name])
    cells = {(row.metric, row.earlier, row.domain): _change(row) for row in painter_rows}
    return [
        Line(
            metric.name,
            [cells.get((metric.name, *column), _NOT_COMPARED) for column in columns],
            metric.small,
        )
        for metric in painted.board.metrics
    ]


_NOT_COMPARED = Cell(NONE, note="not both scored")


def _with_p(row: NamedRow) -> Cell:
    if row.difference is None:
        return Cell(NONE, note="no pair in common")
    p = "p < 0.001" if row.p_holm < 0.001 else f"p = {row.p_holm:.3f}"
    return points_cell(Rate(row.difference, row.low, row.high, p))


def _change(row: NamedRow) -> Cell:
    if row.difference is None:
        return Cell(NONE, note="no prompt in common" if row.domain != ALL else "lacks a domain")
    prompts = f"{format_count(row.prompts)} {'prompt' if row.prompts == 1 else 'prompts'}"
    return points_cell(Rate(row.difference, row.low, row.high, prompts))


def agreement(painted: SummarisedPainter) -> Table:
    """One line a pair of annotators."""
    agreements = pairwise_agreement(painted.human, seed=0) if len(painted.human) else []
    lines = [
        Line(f"{pair.first} and {pair.second}", [number_cell(pair.images), _kappa(pair)])
        for pair in agreements
    ]
    caption = f"{painted.name}: agreement of people"
    return Table.plain(caption, "Annotators", ("Pictures both scored", "Kappa"), lines)


def _kappa(pair: AnnotatorAgreement) -> Cell:
    if pair.kappa is None:
        return Cell(NONE, note=pair.reason)
    return mean_cell(Rate(pair.kappa, *(pair.interval or (None, None))))
