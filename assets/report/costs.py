"""Costs of requests to models."""

from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

from assets.report.cells import Cell, Line, Table, number
from resources.calls.spending import NANO, SpendingRow

UNKNOWN = "unknown"


class Cost(NamedTuple):
    """One line of a table, or the sum of all: what it is about, and the money in words."""

    about: tuple[str, ...]
    requests: int
    paid: str
    possibly: str
    unknown: int


class Costs(NamedTuple):
    """What was spent, in all, by asset and model, and by month."""

    total: Cost
    by_model: list[Cost]
    by_month: list[Cost]

    @property
    def tables(self) -> list[Table]:
        """Both tables, by asset and model and by month."""
        return [
            _table("Costs by asset and model", ("Asset", "Model", "Mode"), self.by_model),
            _table("Costs by month", ("Month (UTC)",), self.by_month),
        ]


def costs(spent: Iterable[SpendingRow]) -> Costs | None:
    """What was or may have been paid, None where that is nothing: what runs offline is free."""
    paid = [each for each in spent if each.paid or each.possibly_paid or each.unknown]
    if not paid:
        return None
    return Costs(
        _sum((), paid),
        _by(paid, lambda each: (each.asset, each.model, each.mode)),
        _by(paid, lambda each: (each.month,)),
    )


def usd(nano: int) -> str:
    """Billionths of a dollar as `$1,234.50`, with as many places as a small sum needs."""
    dollars = nano / NANO
    if not nano:
        return "$0"
    if dollars < 0.0001:
        return "under $0.0001"
    return f"${dollars:,.2f}" if dollars >= 1 else f"${dollars:.4f}"


def _by(paid: Sequence[SpendingRow], about: Callable[[SpendingRow], tuple[str, ...]]) -> list[Cost]:
    groups: dict[tuple[str, ...], list[SpendingRow]] = {}
    for each in paid:
        groups.setdefault(about(each), []).append(each)
    return [_sum(key, groups[key]) for key in sorted(groups)]


def _sum(about: tuple[str, ...], paid: Sequence[SpendingRow]) -> Cost:
    requests, unknown = sum(each.requests for each in paid), sum(each.unknown for each in paid)
    sums = (sum(each.paid for each in paid), sum(each.possibly_paid for each in paid))
    if unknown == requests:
        return Cost(about, requests, UNKNOWN, UNKNOWN, unknown)
    known, possibly = map(usd, sums)
    return Cost(about, requests, f"{known} + {UNKNOWN}" if unknown else known, possibly, unknown)


def _table(caption: str, about: Sequence[str], costs: Sequence[Cost]) -> Table:
    heads = (*about[1:], "Requests", "Paid", "Possibly paid, at most", "Of unknown price")
    lines = [
        Line(
            cost.about[0] or "no asset",
            [
                *map(Cell, cost.about[1:]),
                number(cost.requests),
                Cell(cost.paid),
                Cell(cost.possibly),
                number(cost.unknown),
            ],
        )
        for cost in costs
    ]
    return Table.plain(caption, about[0], heads, lines)
