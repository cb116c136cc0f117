"""The paper's Tables 2 and 7, with our numbers: people's scores, and who agrees with them."""

from collections.abc import Sequence
from typing import Literal

from assets.frame.biases import NONE
from assets.frame.pages.source_page import ScoredSource
from assets.frame.people import (
    BINS,
    ScorerAgreement,
    bin_scores,
    correlate_annotators,
    correlate_judge_with_people,
)
from assets.report.cells import Cell, Line, Table, mean_cell, number_cell
from assets.report.columns import RowHead, TableColumn, tabulate
from assets.report.formats import Rate, capitalize_first, format_score, format_score_interval
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
