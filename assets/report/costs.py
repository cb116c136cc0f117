"""Costs of requests to models."""

from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

from assets.report.cells import Cell, Line, Table, number_cell
from resources.calls.spending import NANO, SpendingRow

UNKNOWN = "unknown"


class Cost(NamedTuple):
    """A line of a table, or the sum of all: its subject, and the money in words."""

    labels: tuple[str, ...]
    requests: int
    paid: str
    possibly: str
    unknown: int


class Costs(NamedTuple):
    """Sums spent: in all, by asset and model, and by month."""

    total: Cost
    by_model: list[Cost]
    by_month: list[Cost]

    @property
    def tables(self) -> list[Table]:
        """Build both tables, by asset and model and by month."""
        return [
            _table("Costs by asset and model", ("Asset", "Model", "Mode"), self.by_model),
            _table("Costs by month", ("Month (UTC)",), self.by_month),
        ]


def costs(spent: Iterable[SpendingRow]) -> Costs | None:
    """Sum what was or may have been paid; None for nothing, as offline models are free."""
    paid = [entry for entry in spent if entry.paid or entry.possibly_paid or entry.unknown]
    if not paid:
        return None
    return Costs(
        _sum((), paid),
        _sum_by_label(paid, lambda entry: (entry.asset, entry.model, entry.mode)),
        _sum_by_label(paid, lambda entry: (entry.month,)),
    )


class RuleDecisions(NamedTuple):
    """Numbers of pictures in a partition of an asset that a rule and that a model decided."""

    asset: str
    partition: str
    by_rule: int
    by_model: int


def describe_decisions(
    decisions: Iterable[RuleDecisions], spent: Sequence[SpendingRow]
) -> list[str]:
    """Describe what rules saved, at the mean cost of the pictures that a model decided."""
    return [
        f"{decision.asset} ({decision.partition}): "
        f"{_count_pictures(decision.by_rule)} decided by rule, "
        f"{_describe_savings([_estimate_saving(decision, spent)])}."
        for decision in decisions
    ]


def summarize_decisions(decisions: Sequence[RuleDecisions], spent: Sequence[SpendingRow]) -> str:
    """Sum what rules saved in a sentence; empty where they decided nothing."""
    if not decisions:
        return ""
    savings = [_estimate_saving(decision, spent) for decision in decisions]
    pictures = _count_pictures(sum(decision.by_rule for decision in decisions))
    return f"Cheap first: {pictures} decided by rule, {_describe_savings(savings)}."


def _count_pictures(count: int) -> str:
    return f"{count:,} picture{'' if count == 1 else 's'}"


def _estimate_saving(decision: RuleDecisions, spent: Sequence[SpendingRow]) -> int | None:
    """Billionths of a dollar that were not spent; None where no cost is known."""
    entries = [
        entry
        for entry in spent
        if (entry.asset, entry.partition) == (decision.asset, decision.partition)
    ]
    paid = sum(entry.paid for entry in entries)
    if not decision.by_model or not paid or any(entry.unknown for entry in entries):
        return None
    return paid * decision.by_rule // decision.by_model


def _describe_savings(savings: Sequence[int | None]) -> str:
    priced = [saving for saving in savings if saving is not None]
    if not priced:
        return "not sent; what they would have cost is unknown"
    rest = ", and an unknown sum" if len(priced) < len(savings) else ""
    return f"about {format_usd(sum(priced))} not spent{rest}"


def format_usd(nano: int) -> str:
    """Billionths of a dollar as `$1,234.50`, with as many places as a small sum needs."""
    dollars = nano / NANO
    if not nano:
        return "$0"
    if dollars < 0.0001:
        return "under $0.0001"
    return f"${dollars:,.2f}" if dollars >= 1 else f"${dollars:.4f}"


def _sum_by_label(
    paid: Sequence[SpendingRow], read_labels: Callable[[SpendingRow], tuple[str, ...]]
) -> list[Cost]:
    groups: dict[tuple[str, ...], list[SpendingRow]] = {}
    for entry in paid:
        groups.setdefault(read_labels(entry), []).append(entry)
    return [_sum(key, groups[key]) for key in sorted(groups)]


def _sum(labels: tuple[str, ...], paid: Sequence[SpendingRow]) -> Cost:
    requests, unknown = sum(entry.requests for entry in paid), sum(entry.unknown for entry in paid)
    sums = (sum(entry.paid for entry in paid), sum(entry.possibly_paid for entry in paid))
    if unknown == requests:
        return Cost(labels, requests, UNKNOWN, UNKNOWN, unknown)
    paid_words, possibly = map(format_usd, sums)
    return Cost(
        labels, requests, f"{paid_words} + {UNKNOWN}" if unknown else paid_words, possibly, unknown
    )


def _table(caption: str, corner_and_heads: Sequence[str], costs: Sequence[Cost]) -> Table:
    heads = (
        *corner_and_heads[1:],
        "Requests",
        "Paid",
        "Possibly paid, at most",
        "Of unknown price",
    )
    lines = [
        Line(
            cost.labels[0] or "no asset",
            [
                *map(Cell, cost.labels[1:]),
                number_cell(cost.requests),
                Cell(cost.paid),
                Cell(cost.possibly),
                number_cell(cost.unknown),
            ],
        )
        for cost in costs
    ]
    return Table.plain(caption, corner_and_heads[0], heads, lines)
