"""Retention: what was left after each step, and why the rest was not."""

from collections import Counter
from collections.abc import Mapping, Sequence

import pandas as pd

from assets.kit.columns import iterate_named_rows
from assets.protobias.pages.figures import ALL, TITLES, SummarisedPainter
from assets.protobias.pages.paper import KEPT
from assets.protobias.pages.tables import name_knob
from assets.report.cells import (
    Body,
    Cell,
    Group,
    Head,
    Line,
    Table,
    count_rows,
    number_cell,
    part_cell,
)
from assets.report.formats import NONE, format_percent

_STAGES = {
    "concepts": "Concepts",
    "triplets": "Triplets accepted",
    "painted": "Pairs painted",
    "kept": "Kept by the filter",
    "evaluated": "Evaluated",
    "scored": "Scored by all",
}
_HEADS = Group("", [Head(title) for title in _STAGES.values()])
_OUTCOMES = ("rejected", "malformed", "refused", "failed")


def triplets(tables: Mapping[str, pd.DataFrame]) -> Table:
    """Concepts that were made triplets, by domain; what became of the others, and the rules."""
    rules = sorted(
        {rule for table in tables.values() for row_rules in table["rules"] for rule in row_rules}
    )
    groups = [
        Group("", [Head("Accepted"), Head("Re-queried")]),
        Group("Lost", [Head(outcome.capitalize()) for outcome in _OUTCOMES]),
    ]
    if rules:
        groups.append(Group("Rejected, by rule", [Head(name_knob(rule)) for rule in rules]))
    lines = []
    for domain, table in tables.items():
        ended = Counter(table["outcome"])
        broken = Counter(rule for row_rules in table["rules"] for rule in set(row_rules))
        cells = [
            count_rows(table["outcome"].eq("accepted")),
            number_cell(int(table["attempts"].gt(1).sum())),
            *(number_cell(ended[outcome]) for outcome in _OUTCOMES),
            *(number_cell(broken[rule]) for rule in rules),
        ]
        lines.append(Line(TITLES[domain], cells, f"by {', '.join(sorted(set(table['writer'])))}"))
    return Table("Prompt triplets by domain", "Domain", groups, [Body("", lines)])


def overview(painters: Sequence[SummarisedPainter]) -> Table:
    """Tabulate the stages by painter and domain."""
    bodies = [Body(painted.name, _domain_lines(painted)) for painted in painters]
    return Table("Retention by painter and domain", "Domain", [_HEADS], bodies)


def painter_tables(painted: SummarisedPainter) -> list[Table]:
    """Tabulate stages by domain and knob, why pairs were lost, and what was kept by concept."""
    knob_rows = painted.retention[painted.retention["knob"] != ALL]
    by_knob = [
        Body(
            TITLES[domain_name],
            [_stages(painted, domain_name, knob, name_knob(knob)) for knob in knobs.unique()],
        )
        for domain_name, knobs in (
            (str(domain), domain_knobs)
            for domain, domain_knobs in knob_rows.groupby("domain")["knob"]
        )
    ]
    return [
        Table("Retention by domain", "Domain", [_HEADS], [Body("", _domain_lines(painted))]),
        Table("By knob", "Knob", [_HEADS], by_knob),
        _lost(painted),
        _concept_table(painted),
    ]


def _domain_lines(painted: SummarisedPainter) -> list[Line]:
    domains = dict.fromkeys(painted.retention["domain"])
    return [_stages(painted, domain, ALL, TITLES[domain]) for domain in domains]


def _stages(painted: SummarisedPainter, domain: str, knob: str, title: str) -> Line:
    stages = painted.retention
    here = stages[stages["domain"].eq(domain) & stages["knob"].eq(knob)]
    numbers = {row.stage: (int(row.number), int(row.of)) for row in iterate_named_rows(here)}
    cells = []
    for stage in _STAGES:
        if stage not in numbers:
            cells.append(Cell(NONE, note="not yet"))
            continue
        remaining, total = numbers[stage]
        compared = stage == "kept" and knob == ALL and not painted.is_stand_in
        paper = f"the paper: {format_percent(KEPT[domain])}" if compared else ""
        cells.append(
            number_cell(remaining) if stage == "concepts" else part_cell(remaining, total, paper)
        )
    return Line(title, cells)


def _lost(painted: SummarisedPainter) -> Table:
    """Pictures by what was wrong with them, by domain."""
    pairs = painted.pairs
    flaws, outcomes = sorted(set(pairs["flaw"].dropna()) - {""}), set(pairs["outcome"])
    endings = ["refused", *(["malformed"] if "malformed" in outcomes else []), "failed"]
    unrated = pairs["filter_outcome"].notna() & pairs["filter_score"].isna()
    reasons = {
        **{flaw: pairs["flaw"].eq(flaw) for flaw in flaws},
        **{outcome: pairs["outcome"].eq(outcome) for outcome in endings},
        "scored too low": pairs["filter_score"].notna() & pairs["kept"].eq(other=False),
        "without the filter's score": unrated & pairs["outcome"].eq("painted"),
    }
    lines = []
    for domain in painted.domains:
        here = pairs["domain"].eq(domain)
        counts = [count_rows(lost[here]) for lost in reasons.values()]
        lines.append(Line(TITLES[domain], [number_cell(int(here.sum())), *counts]))
    groups = [
        Group("", [Head("Pictures asked for")]),
        Group("Lost", [Head(reason.capitalize()) for reason in reasons]),
    ]
    return Table("Why pictures were lost", "Domain", groups, [Body("", lines)])


def _concept_table(painted: SummarisedPainter) -> Table:
    """Pairs that the filter kept, of those that were asked for."""
    pairs = painted.pairs.dropna(subset="pair_kept").drop_duplicates("pair_id")
    kept_by_concept = pairs["pair_kept"].astype(bool).groupby([pairs["domain"], pairs["concept"]])
    cells = {place: count_rows(concept_kept) for place, concept_kept in kept_by_concept}
    bodies = [
        Body(
            TITLES[domain],
            [Line(str(place[1]), [cells[place]]) for place in cells if place[0] == domain],
        )
        for domain in painted.domains
    ]
    return Table.build("By concept", "Concept", ["Kept by the filter, of all pairs"], bodies)
