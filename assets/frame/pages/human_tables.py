"""The paper's Tables 2 and 7, with our numbers: people's scores, and who agrees with them."""

from collections.abc import Sequence
from typing import Literal

import pandas as pd

from assets.frame.biases import NONE
from assets.frame.pages.source_page import ScoredSource
from assets.frame.people import (
    BINS,
    ScorerAgreement,
    bin_scores,
    correlate_annotators,
    correlate_judge_with_people,
    estimate_mean_score,
)
from assets.report.cells import Cell, Line, Table, mean_cell, number_cell
from assets.report.columns import RowHead, TableColumn, tabulate
from assets.report.formats import Rate, capitalize_first, format_score, format_score_interval
from assets.report.people_estimates import (
    EstimateWords,
    build_estimates_table,
    describe_estimates,
)
from metrics.frame.inflation import MAX_SCORE
from metrics.protobias.ranking import ALL
from metrics.statistics.correlation import Correlation


def people(source: ScoredSource) -> Table:
    """Human scores: pictures by bin, and their mean (Table 2)."""
    lines = [
        Line(
            _name_domain(domain_bins.domain),
            [*map(number_cell, domain_bins.counts), mean_cell(Rate(domain_bins.mean))],
        )
        for domain_bins in (bin_scores(source.people) if len(source.people) else ())
    ]
    return Table.plain("Human scores by bin", "Domain", [*BINS, "Mean"], lines)


def annotators(source: ScoredSource) -> Table:
    """Agreement of annotators (Table 7)."""
    agreements = correlate_annotators(source.people) if len(source.people) else []
    between = TableColumn[ScorerAgreement](
        "Between", lambda agreed: Cell(f"{agreed.first} and {agreed.second}")
    )
    columns = (between, *_CORRELATIONS)
    return tabulate("Agreement of annotators", "Domain", _DOMAIN, columns, {"": agreements})


def judges_and_people(source: ScoredSource) -> Table:
    """Correlation of judges' scores of pictures as they were with people's."""
    originals = source.scores[source.scores["bias"].eq(NONE)]
    agreements = (
        list(correlate_judge_with_people(originals, source.people)) if len(source.people) else []
    )
    bodies = {
        judge: [agreed for agreed in agreements if agreed.first == judge]
        for judge in dict.fromkeys(agreed.first for agreed in agreements)
    }
    return tabulate("Judges beside people", "Domain", _DOMAIN, _CORRELATIONS, bodies)


def estimate_all(source: ScoredSource) -> pd.DataFrame:
    """Estimate people's mean score of all pictures as they were."""
    originals = source.scores[source.scores["bias"].eq(NONE)]
    return estimate_mean_score(originals, source.people) if len(source.people) else pd.DataFrame()


def people_estimates(estimates: pd.DataFrame) -> Table:
    """Tabulate people's mean score of all pictures, by their own scores and with each judge's."""
    return build_estimates_table("People's mean score of all pictures", estimates, _WORDS)


def people_finding(estimates: pd.DataFrame) -> str:
    """Say which mean score people would give all pictures."""
    return describe_estimates(estimates, _WORDS)


def _to_points(rate: Rate) -> Rate:
    """A share of the highest score, in points."""
    value, low, high = (None if share is None else MAX_SCORE * share for share in rate[:3])
    return Rate(value, low, high)


def _format_points(rate: Rate) -> str:
    points = _to_points(rate)
    return f"{format_score(points.value)} {format_score_interval(points)}"


_WORDS = EstimateWords(
    finding=f"People would give all pictures {{value}} of {MAX_SCORE:g} points",
    column="People's mean score",
    unit="pictures",
    cell=lambda rate: mean_cell(_to_points(rate)),
    text=_format_points,
)


def _name_domain(name: str) -> str:
    return "All" if name == ALL else capitalize_first(name)


def _coefficient(correlation: Correlation, name: Literal["pearson", "spearman"]) -> Cell:
    value = getattr(correlation, name)
    if value is None:
        return Cell("", note=correlation.reason)
    rate = Rate(value, *(getattr(correlation, f"{name}_interval") or (None, None)))
    return Cell(format_score(value, 3), format_score_interval(rate), numbers={"": value})


_DOMAIN = RowHead[ScorerAgreement](label=lambda agreed: _name_domain(agreed.domain))
_CORRELATIONS: Sequence[TableColumn[ScorerAgreement]] = (
    TableColumn("Pictures", lambda agreed: number_cell(agreed.correlation.images)),
    TableColumn("Pearson", lambda agreed: _coefficient(agreed.correlation, "pearson")),
    TableColumn("Spearman", lambda agreed: _coefficient(agreed.correlation, "spearman")),
)
