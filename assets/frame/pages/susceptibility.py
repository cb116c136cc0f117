"""Domains and biases that move judges most, over all judges of a source (Section 5.2)."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TypeAlias

import pandas as pd

from assets.frame.inflation import join_best_configurations
from assets.frame.pages.source_page import SHORT, ScoredSource
from assets.frame.search import HELD_OUT
from assets.report.cells import Cell, Table, change_cell, number_cell, share_cell
from assets.report.columns import RowHead, TableColumn, tabulate
from assets.report.formats import Rate, capitalize_first
from metrics import measure_susceptibility
from metrics.frame.inflation import AttackSuccess
from metrics.statistics.firmness import Evidence

_Moved: TypeAlias = tuple[str, AttackSuccess]
"""A domain or bias as the page names it, with how often and how far it moves judges."""


def tables(source: ScoredSource) -> Iterator[Table]:
    """Tables by domain, over judges × biases, and by bias, over judges × domains.

    The first line is what moves judges most.
    """
    scores = _scores(source)
    judges = scores["model"].nunique() if len(scores) else 0
    over = "one judge" if judges == 1 else f"{judges} judges"
    evidence = _evidence(source)
    head = RowHead[_Moved](label=lambda moved: moved[0], evidence=lambda moved: evidence)
    for by, others, names in (("domain", "biases", {}), ("bias", "domains", SHORT)):
        successes = measure_susceptibility(scores, by) if len(scores) else {}
        moved = [
            (names.get(value, capitalize_first(value)), success)
            for value, success in successes.items()
        ]
        combinations = TableColumn[_Moved](
            f"Judges × {others}", lambda moved: number_cell(moved[1].combinations)
        )
        yield tabulate(
            f"Susceptibility by {by}, over {over}, {source.describe_choice(HELD_OUT)}",
            capitalize_first(by),
            head,
            (combinations, *_CHANGES),
            {"": sorted(moved, key=lambda item: -item[1].mean)},
        )


def _scores(source: ScoredSource) -> pd.DataFrame:
    """Scores by each judge before and after each bias, held out."""
    scores, search = source.scores, source.search
    parts = [
        join_best_configurations(
            scores[scores["model"].eq(judge)], search[search["model"].eq(judge)], HELD_OUT
        ).assign(model=judge)
        for judge in source.judges
    ]
    return pd.concat(parts)


def _evidence(source: ScoredSource) -> Evidence:
    """The scores of all judges together."""
    parts = [source.evidence(judge, source.biases) for judge in source.judges]
    return replace(
        parts[0],
        requests=sum(part.requests for part in parts),
        answers=sum(part.answers for part in parts),
        units=min(part.units for part in parts),
        part=next(filter(None, (part.part for part in parts)), ""),
    )


def _mean_change(moved: _Moved) -> Cell:
    _, success = moved
    low, high = success.mean_interval
    return change_cell(Rate(success.mean / 100, low / 100, high / 100))


_CHANGES: Sequence[TableColumn[_Moved]] = (
    TableColumn("Mean change", _mean_change, ranked=True),
    TableColumn(
        "Success rate",
        lambda moved: share_cell(Rate(moved[1].rate, *moved[1].rate_interval)),
        ranked=True,
    ),
    TableColumn("Clear", lambda moved: share_cell(Rate(moved[1].clear_share)), ranked=True),
)
