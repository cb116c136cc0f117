"""The limit of a step: a cheap trial whose answers count later."""

from collections import Counter, defaultdict, deque
from collections.abc import Callable, Collection, Sequence
from hashlib import sha256
from typing import Any, NamedTuple, TypeVar

from pydantic import Field

from resources.settings.run_config import Config

T = TypeVar("T")


PARTIAL = "partial"
"""The metadata of a table that a limit has made smaller."""


class LimitConfig(Config):
    """Config fields shared by all steps that ask models."""

    limit: int | None = Field(
        default=None,
        ge=1,
        description=(
            "Send only this many items, evenly spread (a trial). Default: all. A smaller limit "
            "selects a subset of a larger one, and stored answers are not requested again. Tables "
            "and reports are marked as partial."
        ),
    )


class SamplingKey(NamedTuple):
    """An item's place in the order of a limit.

    Items of the lowest `priority` come first. Within a priority, a limit is spread evenly over the
    values of `strata`, over the first of them before the second, and so on. A hash of `name`, which
    is unique to the item, decides between items that are alike.
    """

    name: str
    strata: tuple[str, ...]
    priority: int = 0


def stratified_head(
    items: Sequence[T], limit: int | None, placed: Callable[[T], SamplingKey]
) -> list[T]:
    """The first items in the order of a limit, as they stand in `items`; all without a limit."""
    if limit is None or limit >= len(items):
        return list(items)
    chosen = sorted(_order([placed(item) for item in items], limit))
    return [items[place] for place in chosen]


def stratified_order(items: Sequence[T], placed: Callable[[T], SamplingKey]) -> list[T]:
    """Sort items so that the first ones, up to any limit, are a stratified sample."""
    return [items[place] for place in _order([placed(item) for item in items], len(items))]


def expected_subset(
    items: Sequence[T], present_names: Collection[str], placed: Callable[[T], SamplingKey]
) -> list[T]:
    """The items that a table must have, given the names of those that it has.

    If these are the first so many, as a limit leaves them, it is just these; else all.
    """
    sample = stratified_head(items, max(1, len(present_names)), placed)
    return sample if {placed(item).name for item in sample} == set(present_names) else list(items)


def partial_metadata(count: int, total: int, unit: str) -> dict[str, Any]:
    """Build the metadata of a table with `count` of `total` items; empty if it has all."""
    return {PARTIAL: format_count_of_total(count, total, unit)} if count < total else {}


def format_count_of_total(count: int, total: int, unit: str) -> str:
    """Format a count of a total, such as "20 of 2,736 questions"."""
    return f"{count:,} of {total:,} {unit}"


def _order(places: Sequence[SamplingKey], limit: int) -> list[int]:
    """Yield the indices of the first items, each from the stratum with the fewest so far."""
    lots = [sha256(place.name.encode()).digest() for place in places]
    cells: dict[tuple[str, ...], deque[int]] = defaultdict(deque)
    for index in sorted(
        range(len(places)), key=lambda index: (places[index].priority, lots[index])
    ):
        cells[places[index].strata].append(index)
    cell_hashes = {cell: sha256("/".join(cell).encode()).digest() for cell in cells}
    taken_counts = Counter[tuple[Any, ...]]()

    def place(cell: tuple[str, ...]) -> tuple[Any, ...]:
        turn = places[cells[cell][0]].priority
        return (
            turn,
            *(taken_counts[stratum] for stratum in enumerate(cell)),
            taken_counts[cell],
            cell_hashes[cell],
        )

    order: list[int] = []
    while len(order) < limit:
        cell = min((cell for cell, remaining in cells.items() if remaining), key=place)
        order.append(cells[cell].popleft())
        taken_counts.update([*enumerate(cell), cell])
    return order
