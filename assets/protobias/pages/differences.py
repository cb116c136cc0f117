"""Failure rates compared: between metrics on the same pairs, and between painters."""

from collections.abc import Mapping, Sequence
from functools import partial

import pandas as pd

from assets.kit.columns import NamedRow, iterate_named_rows
from assets.protobias.pages.figures import ALL, METRIC_HEAD, BoardMetric, SummarisedPainter
from assets.report.cells import Cell, Table, mean_cell, number_cell, points_cell
from assets.report.columns import RowHead, TableColumn, tabulate
from assets.report.formats import NONE, Rate, format_count, format_p
from assets.report.people_estimates import (
    EstimateWords,
    build_estimates_table,
    describe_estimates,
)
from metrics.protobias import failure_differences as comparison
from metrics.protobias.people_estimate import estimate_failures
from metrics.statistics.weighted_kappa import AnnotatorAgreement, pairwise_agreement

_WORDS = EstimateWords(
    finding="People would fail {value} of all pairs",
    column="People's failure rate",
    unit="pairs",
)
_NOT_COMPARED = Cell(NONE, note="not both scored")


def between_metrics(painted: SummarisedPainter) -> Table:
    """Compare every two metrics, with Holm's correction; references only where little else is."""
    scores = painted.evaluated_scores
    trials = [metric.name for metric in painted.board.metrics if metric.doubts]
    firm = scores[~scores["metric"].isin(trials)]
    scores = firm if len(firm) else scores
    models = scores[scores["formula"] != "stand_in"]
    compared = models if models["metric"].nunique() > 1 else scores
    differences = comparison.compare_metrics(compared) if len(compared) else pd.DataFrame()
    cells = {
        (row.first, row.second, row.domain): _p_cell(row) for row in iterate_named_rows(differences)
    }

    def cell(domain: str, pair: tuple[str, str]) -> Cell:
        return cells.get((*pair, domain), _NOT_COMPARED)

    columns = [TableColumn(title, partial(cell, domain)) for domain, title in painted.board.columns]
    caption = f"{painted.name}: differences of failure rates between metrics"
    head = RowHead[tuple[str, str]](label=" less ".join)
    pairs = dict.fromkeys((first, second) for first, second, _ in cells)
    return tabulate(caption, "Metrics", head, columns, {"": pairs})


def between_painters(painters: Sequence[SummarisedPainter]) -> pd.DataFrame:
    """Compare every two painters, the later one less the earlier one."""
    scores = [painted.evaluated_scores for painted in painters]
    return comparison.compare_painters(pd.concat(scores, ignore_index=True))


def changes(
    compared: pd.DataFrame, painted: SummarisedPainter, earlier: SummarisedPainter
) -> Table:
    """Compare a painter with an earlier one, by domain."""
    places = {(earlier.name, domain): title for domain, title in painted.board.columns}
    caption = f"{painted.name} less {earlier.name}"
    return _tabulate_changes(caption, compared, painted, places, group=caption)


def overall(
    compared: pd.DataFrame, painted: SummarisedPainter, earlier: Sequence[SummarisedPainter]
) -> Table:
    """Compare a painter with each earlier one, as the mean over domains."""
    places = {(other.name, ALL): f"less {other.name}" for other in earlier}
    caption = f"{painted.name} less each earlier painter"
    return _tabulate_changes(caption, compared, painted, places)


def _tabulate_changes(
    caption: str,
    compared: pd.DataFrame,
    painted: SummarisedPainter,
    places: Mapping[tuple[str, str], str],
    group: str = "",
) -> Table:
    """A line per metric; the columns are earlier painters with a domain, by their headings."""
    rows = iterate_named_rows(compared[compared["later"] == painted.name])
    cells = {(row.metric, row.earlier, row.domain): _change(row) for row in rows}

    def cell(place: tuple[str, str], metric: BoardMetric) -> Cell:
        return cells.get((metric.name, *place), _NOT_COMPARED)

    columns = [
        TableColumn(title, partial(cell, place), group=group) for place, title in places.items()
    ]
    return tabulate(caption, "Metric", METRIC_HEAD, columns, {"": painted.board.metrics})


def _p_cell(row: NamedRow) -> Cell:
    if row.difference is None:
        return Cell(NONE, note="no pair in common")
    return points_cell(Rate(row.difference, row.low, row.high, format_p(row.p_holm)))


def _change(row: NamedRow) -> Cell:
    if row.difference is None:
        return Cell(NONE, note="no prompt in common" if row.domain != ALL else "lacks a domain")
    prompts = f"{format_count(row.prompts)} {'prompt' if row.prompts == 1 else 'prompts'}"
    return points_cell(Rate(row.difference, row.low, row.high, prompts))


def agreement(painted: SummarisedPainter) -> Table:
    """Build one line per pair of annotators."""
    agreements = pairwise_agreement(painted.human, seed=0) if len(painted.human) else []
    columns = [
        TableColumn[AnnotatorAgreement](
            "Pictures both scored", lambda pair: number_cell(pair.images)
        ),
        TableColumn[AnnotatorAgreement]("Kappa", _kappa),
    ]
    head = RowHead[AnnotatorAgreement](label=lambda pair: f"{pair.first} and {pair.second}")
    caption = f"{painted.name}: agreement of people"
    return tabulate(caption, "Annotators", head, columns, {"": agreements})


def estimate_people_failures(painted: SummarisedPainter) -> pd.DataFrame:
    """Estimate people's failure rate on all pairs: by their scores alone, and by each metric."""
    scores = painted.scores[painted.scores["formula"] != "stand_in"]
    if "chance" not in painted.human:  # Scores of before there were chances.
        return estimate_failures(scores)
    pairs = painted.human.drop_duplicates("pair_id").set_index("pair_id")
    return estimate_failures(scores, pairs["chance"])


def people_estimates(painted: SummarisedPainter, estimates: pd.DataFrame) -> Table:
    """Tabulate how often people would fail on all pairs."""
    caption = f"{painted.name}: how often people would fail on all evaluated pairs"
    return build_estimates_table(caption, estimates, _WORDS)


def people_finding(estimates: pd.DataFrame) -> str:
    """Say how often people would fail on all pairs."""
    return describe_estimates(estimates, _WORDS)


def _kappa(pair: AnnotatorAgreement) -> Cell:
    if pair.kappa is None:
        return Cell(NONE, note=pair.reason)
    return mean_cell(Rate(pair.kappa, *(pair.interval or (None, None))))
