"""The paper's two tables as its project page prints them (`paper.csv`): other models, no intervals.

Φ-scores there are philautia scores on SelfEval-Cap, the paper's own captions.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path

from assets.report.cells import Body, Cell, Group, Head, Line, Table, mean
from assets.report.csv_files import rows_of_csv
from assets.report.formats import NONE as NOTHING
from assets.report.formats import Rate

MEASURES: Mapping[str, str] = {"tau_b": "τ_b", "tau_c": "τ_c", "philautia": "Φ-score"}
Printed = Mapping[str, str]


def printed(table: str) -> list[Printed]:
    """Every number of a table."""
    rows = rows_of_csv(Path(__file__).with_name("paper.csv"))
    return [row for row in rows if row["table"] == table]


def agreement() -> Table:
    """Kendall's τ with people in per cent, and the philautia score, of judges and panels."""
    held = printed("agreement")
    columns = list(dict.fromkeys((row["dataset"], row["measure"]) for row in held))
    groups = [
        Group(name, [Head(MEASURES[measure]) for of, measure in columns if of == name])
        for name in dict.fromkeys(of for of, _ in columns)
    ]
    bodies = []
    for evaluator in dict.fromkeys(row["evaluator"] for row in held):
        rows = [row for row in held if row["evaluator"] == evaluator]
        lines = [
            Line(name, [_cell(rows, name, dataset, measure) for dataset, measure in columns])
            for name in dict.fromkeys(row["name"] for row in rows)
        ]
        bodies.append(Body(evaluator, lines))
    return Table("The paper’s judges and panels", "Judge or panel", groups, bodies)


def philautia() -> Table:
    """The philautia score of each model, scored by itself and by the panel."""
    held = printed("philautia")
    names = list(dict.fromkeys(row["name"] for row in held))
    lines = [
        Line(who, [_cell([r for r in held if r["evaluator"] == who], name) for name in names])
        for who in dict.fromkeys(row["evaluator"] for row in held)
    ]
    return Table.plain("The paper’s models, by themselves and by Pomms", "Scored by", names, lines)


def _cell(
    rows: Sequence[Printed], name: str, dataset: str = "SelfEval-Cap", measure: str = "philautia"
) -> Cell:
    for row in rows:
        if (row["name"], row["dataset"], row["measure"]) == (name, dataset, measure):
            return mean(Rate(float(row["value"])), 2 if measure == "philautia" else 1)
    return Cell(NOTHING)
