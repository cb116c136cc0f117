"""What people would say of all items, from their answers to a sample: a table, and its sentence."""

from collections.abc import Callable
from dataclasses import dataclass

import pandas as pd

from assets.kit.columns import NamedRow, iterate_named_rows
from assets.report.cells import Cell, Table, number_cell, share_cell
from assets.report.columns import RowHead, TableColumn, tabulate
from assets.report.formats import Rate, format_count, format_rate
from metrics.statistics.people_estimates import PEOPLE


@dataclass(frozen=True, kw_only=True)
class EstimateWords:
    """Words and formats of a benchmark's estimate."""

    finding: str
    """Finding with `{value}`, as in "People would fail {value} of the pairs of flux"."""
    column: str
    """Heading of the estimates, as in "People's failure rate"."""
    unit: str
    """Items in the plural, as in "pairs"."""
    cell: Callable[[Rate], Cell] = share_cell
    text: Callable[[Rate], str] = format_rate


def build_estimates_table(caption: str, estimates: pd.DataFrame, words: EstimateWords) -> Table:
    """A line by people alone, and one with each judge's answers."""
    columns = [
        TableColumn[NamedRow](words.column, lambda row: words.cell(_read_rate(row))),
        TableColumn[NamedRow](
            f"{words.unit.capitalize()} that people decided on",
            lambda row: number_cell(row.sampled),
        ),
        TableColumn[NamedRow]("Of", lambda row: number_cell(row.items)),
        TableColumn[NamedRow]("Weight of its answers", _format_reliance),
    ]
    head = RowHead[NamedRow](
        label=lambda row: "people alone" if row.judge == PEOPLE else f"with {row.judge}"
    )
    return tabulate(caption, "Estimate", head, columns, {"": [*iterate_named_rows(estimates)]})


def describe_estimates(estimates: pd.DataFrame, words: EstimateWords) -> str:
    """The finding by people alone, then by the judge that narrows it most; empty without any."""
    if estimates.empty:
        return ""
    alone, *judged = iterate_named_rows(estimates)
    sample = f"{format_count(alone.sampled)} of {format_count(alone.items)} {words.unit}"
    sentence = (
        f"{words.finding.format(value=words.text(_read_rate(alone)))}, by their answers to {sample}"
    )
    best = min(judged, key=_find_width, default=alone)
    if _find_width(best) >= _find_width(alone):
        return f"{sentence}."
    return f"{sentence}; {words.text(_read_rate(best))} with the answers of {best.judge} to all."


def _find_width(row: NamedRow) -> float:
    return float(row.high - row.low)


def _read_rate(row: NamedRow) -> Rate:
    return Rate(row.mean, row.low, row.high)


def _format_reliance(row: NamedRow) -> Cell:
    if row.judge == PEOPLE:
        return Cell("")
    return Cell(f"{100 * row.reliance:.0f} %", numbers={"": row.reliance})
