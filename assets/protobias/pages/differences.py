"""Failure rates compared: between metrics on the same pairs, and between painters."""

from collections.abc import Sequence

import pandas as pd

from assets.kit.columns import NamedRow, iterate_named_rows
from assets.protobias.pages.figures import ALL, EVALUATED, Painted
from assets.report.cells import Body, Cell, Group, Head, Line, Table, mean, number, points
from assets.report.formats import NONE, Rate, count
from metrics.protobias import failure_differences as comparison
from metrics.statistics.weighted_kappa import AnnotatorAgreement, pairwise_agreement


def between_metrics(painted: Painted) -> Table:
    """Every two metrics, with Holm's correction; references only where there is little else."""
    scores = painted.scores[painted.scores["sample"] == EVALUATED]
    trials = [metric.name for metric in painted.board.metrics if metric.doubts]
    firm = scores[~scores["metric"].isin(trials)]
    scores = firm if len(firm) else scores
    models = scores[scores["formula"] != "reference"]
    compared = models if models["metric"].nunique() > 1 else scores
    found = list(iterate_named_rows(comparison.compare_metrics(compared))) if len(compared) else []
    board = painted.board
    cells = {(row.left, row.right, row.domain): _with_p(row) for row in found}
    named = list(dict.fromkeys((row.left, row.right) for row in found))
    lines = [
        Line(
            f"{left} less {right}",
            [cells.get((left, right, domain), _NOT_COMPARED) for domain, _ in board.columns],
        )
        for left, right in named
    ]
    caption = f"{painted.name}: differences of failure rates between metrics"
    return Table.plain(caption, "Metrics", [title for _, title in board.columns], lines)


def between_painters(painters: Sequence[Painted]) -> pd.DataFrame:
    """Every two painters, the later one less the earlier one."""
    scores = [painted.scores[painted.scores["sample"] == EVALUATED] for painted in painters]
    return comparison.compare_painters(pd.concat(scores, ignore_index=True))


def changes(compared: pd.DataFrame, painted: Painted, earlier: Painted) -> Table:
    """One painter against an earlier one, by domain."""
    board = painted.board
    columns = [(earlier.name, domain) for domain, _ in board.columns]
    lines = _changed(compared, painted, columns)
    caption = f"{painted.name} less {earlier.name}"
    group = Group(caption, [Head(title) for _, title in board.columns])
    return Table(caption, "Metric", [group], [Body("", lines)])


def overall(compared: pd.DataFrame, painted: Painted, earlier: Sequence[Painted]) -> Table:
    """One painter against each earlier one, as the mean over domains."""
    lines = _changed(compared, painted, [(other.name, ALL) for other in earlier])
    heads = [f"less {other.name}" for other in earlier]
    return Table.plain(f"{painted.name} less each earlier painter", "Metric", heads, lines)


def _changed(
    compared: pd.DataFrame, painted: Painted, columns: Sequence[tuple[str, str]]
) -> list[Line]:
    """A line a metric; the columns are earlier painters with a domain."""
    found = iterate_named_rows(compared[compared["later"] == painted.name])
    cells = {(row.metric, row.earlier, row.domain): _change(row) for row in found}
    return [
        Line(each.name, [cells.get((each.name, *at), _NOT_COMPARED) for at in columns], each.small)
        for each in painted.board.metrics
    ]


_NOT_COMPARED = Cell(NONE, note="not both scored")


def _with_p(row: NamedRow) -> Cell:
    if row.difference is None:
        return Cell(NONE, note="no pair in common")
    p = "p < 0.001" if row.p_holm < 0.001 else f"p = {row.p_holm:.3f}"
    return points(Rate(row.difference, row.low, row.high, p))


def _change(row: NamedRow) -> Cell:
    if row.difference is None:
        return Cell(NONE, note="no prompt in common" if row.domain != ALL else "lacks a domain")
    prompts = f"{count(row.prompts)} {'prompt' if row.prompts == 1 else 'prompts'}"
    return points(Rate(row.difference, row.low, row.high, prompts))


def agreement(painted: Painted) -> Table:
    """One line a pair of annotators."""
    found = pairwise_agreement(painted.human, seed=0) if len(painted.human) else []
    lines = [
        Line(f"{each.first} and {each.second}", [number(each.images), _kappa(each)])
        for each in found
    ]
    caption = f"{painted.name}: agreement of people"
    return Table.plain(caption, "Annotators", ("Pictures both scored", "Kappa"), lines)


def _kappa(each: AnnotatorAgreement) -> Cell:
    if each.kappa is None:
        return Cell(NONE, note=each.reason)
    return mean(Rate(each.kappa, *(each.interval or (None, None))))
