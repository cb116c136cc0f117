"""Figure 3: how often picture A wins against another one, before and after a bias, by domain."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import chain
from typing import NamedTuple

import pandas as pd

from assets.frame.pages.source_page import FEWEST, SHORT, ScoredSource, name_domain
from assets.frame.pairwise import pair_preferences
from assets.frame.search import IN_SAMPLE
from assets.kit.columns import to_records
from assets.kit.step_run import Row
from assets.report.cells import Cell, Table, number_cell, points_cell, share_cell
from assets.report.columns import RowHead, TableColumn, tabulate
from assets.report.formats import read_rate
from metrics import win_rates
from metrics.protobias.ranking import ALL
from metrics.statistics.firmness import Evidence

_SHARES = (
    ("Wins", "win"),
    ("Ties", "tie"),
    ("Losses", "loss"),
    ("Order decides", "swayed"),
    ("First shown preferred", "first_shown"),
)


class Comparison(NamedTuple):
    """Pairs of a judge and domain, or the mean over domains, with A as it was and biased."""

    bias: str
    domain: str
    before: Row
    after: Row
    evidence: Evidence


def compare_by_domain(source: ScoredSource) -> Mapping[str, Sequence[Comparison]]:
    """Compare by judge each domain with its strongest bias, and the mean over domains."""
    return {
        judge: _compare(source, _strongest(source, judge, pairs)) for judge, pairs in _pairs(source)
    }


def compare_by_bias(source: ScoredSource) -> Mapping[str, Sequence[Comparison]]:
    """Compare by judge each bias in each domain, and over the domains that have it."""
    return {
        judge: [
            comparison
            for bias in source.biases
            for comparison in _compare(source, pairs[pairs["bias"].eq(bias)])
        ]
        for judge, pairs in _pairs(source)
    }


def tables(source: ScoredSource) -> tuple[Table, Table]:
    """Win rates by domain (Figure 3 in numbers), and of each bias in each domain."""
    captions = "Win rates of picture A by domain", "Win rates of picture A by bias and domain"
    parts = compare_by_domain(source), compare_by_bias(source)
    domains, biases = map(_table, captions, parts)
    return domains, biases


def _pairs(source: ScoredSource) -> Iterator[tuple[str, pd.DataFrame]]:
    if len(source.preferences):
        for judge, pairs in pair_preferences(source.preferences).groupby("model", sort=False):
            yield str(judge), pairs


def _strongest(source: ScoredSource, judge: str, pairs: pd.DataFrame) -> pd.DataFrame:
    """The pairs of each domain with the bias whose mean score is highest there in sample."""
    parts = []
    for domain, domain_pairs in pairs.groupby("domain"):
        rows = {
            bias: source.row(judge, bias, str(domain), choice=IN_SAMPLE)
            for bias in domain_pairs["bias"].unique()
        }
        means = {
            bias: float(row["biased"])
            for bias, row in rows.items()
            if row and row["biased"] is not None
        }
        if means:
            strongest = max(means, key=means.__getitem__)
            parts.append(domain_pairs[domain_pairs["bias"].eq(strongest)])
    return pd.concat(parts) if parts else pairs.head(0)


def _compare(source: ScoredSource, pairs: pd.DataFrame) -> list[Comparison]:
    """The win rates of each domain's pairs, and over them where there are several."""
    if pairs.empty:
        return []
    before = pairs.assign(first=pairs["first_before"], second=pairs["second_before"])
    biases = pairs.groupby("domain")["bias"].first().to_dict()
    rows = zip(to_records(win_rates(before)), to_records(win_rates(pairs)), strict=True)
    smallest = int(pairs.groupby("domain")["picture"].nunique().min())
    comparisons = []
    for was, after in rows:
        domain = str(after["domain"])
        evidence = Evidence(
            requests=int(after["pairs"] + after["unscored"]),
            answers=int(after["pairs"]),
            units=smallest if domain == ALL else int(after["pairs"]),
            min_units=FEWEST,
            unit="pairs of a domain",
            is_stand_in=source.is_stand_in,
        )
        bias = str(biases.get(domain, ""))
        comparisons.append(Comparison(bias, domain, was, after, evidence))
    return comparisons if len(biases) > 1 else comparisons[:1]


def _table(caption: str, comparisons: Mapping[str, Sequence[Comparison]]) -> Table:
    bodies = comparisons if len(comparisons) > 1 else {"": [*chain(*comparisons.values())]}
    return tabulate(caption, "Domain", _HEAD, _COLUMNS, bodies if comparisons else {})


def _pairs_compared(comparison: Comparison) -> Cell:
    lacking = int(comparison.after["unscored"])
    note = f"{lacking} without a preference" if lacking else ""
    return number_cell(int(comparison.after["pairs"]), note)


def _share_column(
    group: str, label: str, name: str, row: Callable[[Comparison], Row]
) -> TableColumn[Comparison]:
    return TableColumn(
        label, lambda comparison: share_cell(read_rate(row(comparison), name)), True, group
    )


_HEAD = RowHead[Comparison](
    label=lambda comparison: name_domain(comparison.domain),
    evidence=lambda comparison: comparison.evidence,
    is_mean=lambda comparison: comparison.domain == ALL,
)
_COLUMNS: Sequence[TableColumn[Comparison]] = (
    TableColumn("Bias", lambda comparison: Cell(SHORT.get(comparison.bias, ""))),
    TableColumn("Pairs", _pairs_compared),
    *(
        _share_column("A as it was", *label_and_name, lambda pair: pair.before)
        for label_and_name in _SHARES
    ),
    *(
        _share_column("A biased", *label_and_name, lambda pair: pair.after)
        for label_and_name in _SHARES
    ),
    TableColumn(
        "Gain",
        lambda comparison: points_cell(read_rate(comparison.after, "gain")),
        ranked=True,
        detail="points of preference",
    ),
)
