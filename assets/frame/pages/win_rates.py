"""Figure 3: how often picture A wins against another one, before and after a bias, by domain."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import pandas as pd

from assets.frame.pages.source_page import FEWEST, SHORT, Sourced
from assets.frame.pairwise import pair_preferences
from assets.frame.search import IN_SAMPLE
from assets.kit.columns import to_records
from assets.report.cells import (
    Body,
    Cell,
    Group,
    Head,
    Line,
    Table,
    mark_trial,
    number,
    points,
    share,
)
from assets.report.formats import read_rate, titled
from metrics import win_rates
from metrics.protobias.ranking import ALL
from metrics.statistics.firmness import Evidence

Row = Mapping[str, Any]
_SHARES: Mapping[str, str] = {
    "win": "Wins",
    "tie": "Ties",
    "loss": "Losses",
    "swayed": "Order decides",
    "first_shown": "First shown preferred",
}


class Comparison(NamedTuple):
    """Pairs of a judge and domain, or the mean over domains, with A as it was and biased."""

    bias: str
    domain: str
    before: Row
    after: Row
    evidence: Evidence


def by_domain(source: Sourced) -> Mapping[str, Sequence[Comparison]]:
    """By judge: each domain with its strongest bias, as in the paper, and the mean over domains."""
    return {
        judge: _compare(source, _strongest(source, judge, pairs)) for judge, pairs in _pairs(source)
    }


def by_bias(source: Sourced) -> Mapping[str, Sequence[Comparison]]:
    """By judge: each bias in each domain, and over the domains that have it."""
    return {
        judge: [
            comparison
            for bias in source.biases
            for comparison in _compare(source, pairs[pairs["bias"].eq(bias)])
        ]
        for judge, pairs in _pairs(source)
    }


def tables(source: Sourced) -> tuple[Table, Table]:
    """Win rates by domain (Figure 3 in numbers), and of each bias in each domain."""
    captions = "Win rates of picture A by domain", "Win rates of picture A by bias and domain"
    parts = by_domain(source), by_bias(source)
    domains, biases = map(_table, captions, parts)
    return domains, biases


def _pairs(source: Sourced) -> Iterator[tuple[str, pd.DataFrame]]:
    if len(source.preferences):
        for judge, pairs in pair_preferences(source.preferences).groupby("model", sort=False):
            yield str(judge), pairs


def _strongest(source: Sourced, judge: str, pairs: pd.DataFrame) -> pd.DataFrame:
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


def _compare(source: Sourced, pairs: pd.DataFrame) -> list[Comparison]:
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
    heads = [Head(head) for head in _SHARES.values()]
    groups = [
        Group("", [Head("Bias"), Head("Pairs")]),
        Group("A as it was", heads),
        Group("A biased", heads),
        Group("", [Head("Gain", "points of preference")]),
    ]
    bodies = [Body(judge, [*map(_line, lines)]) for judge, lines in comparisons.items()]
    if len(bodies) == 1:
        bodies = [Body("", bodies[0].lines)]
    return Table(caption, "Domain", groups, bodies)


def _line(comparison: Comparison) -> Line:
    bias, domain, before, after, evidence = comparison
    lacking = int(after["unscored"])
    return Line(
        "Mean over domains" if domain == ALL else titled(domain),
        [
            Cell(SHORT.get(bias, "")),
            number(int(after["pairs"]), f"{lacking} without a preference" if lacking else ""),
            *(
                mark_trial(cell, evidence.firmness)
                for cell in (
                    *(share(read_rate(row, name)) for row in (before, after) for name in _SHARES),
                    points(read_rate(after, "gain")),
                )
            ),
        ],
        "" if evidence.is_stand_in else ", ".join(evidence.reasons),
        kind="mean" if domain == ALL else "",
    )
