"""Gaps of the front page: what would fill an empty cell, in words."""

from collections.abc import Iterator

from assets.planning import CellQuote
from assets.planning.quote_text import list_refused
from assets.report.formats import format_count
from assets.report.roster import NOTHING_TO_PAY, Gap

_REQUIRED = (
    "Nothing to ask about: stand-ins make all there is, or its tables are empty. Add a painter to "
    "models.yaml, or a collection to collections.yaml."
)


def describe_gap(cell: CellQuote, *, asks: bool) -> Gap:
    """The command that fills a cell, its price, and what it would do.

    Where no command fills it, there is only the reason. `asks` is whether the benchmark has any
    step that asks the model.
    """
    if not cell.is_applicable:
        none = "no painter or collection to ask about: add one"
        return Gap("", "", none if asks else "asks nothing of such a model")
    if cell.error:
        return Gap("", "no quote", cell.error)
    if not cell.ready and cell.prerequisites:
        details = "Nothing is there yet to be asked about. This makes it."
        choices = cell.prerequisites[0].describe_choices()
        return Gap(cell.command, "no quote yet", f"{details} {choices}".rstrip())
    if not (cell.missing or cell.answered):
        unmade = cell.line.missing_asset if cell.line else None
        details = f"Nothing to ask about yet: first make {unmade}." if unmade else _REQUIRED
        return Gap("", "no quote yet", " ".join(cell.picture_warnings) or details)
    if not cell.missing:
        prefix = "" if cell.picture_warnings else "All "
        answered = f"{prefix}{format_count(cell.answered)} answers are there."
        sentences = [answered, *_list_warnings(cell)]
        return Gap(cell.command, NOTHING_TO_PAY, " ".join(sentences))
    price = "price unknown" if cell.max_cost == "unknown" else f"at most {cell.max_cost}"
    return Gap(cell.command, price, _describe_requests(cell))


def _describe_requests(cell: CellQuote) -> str:
    requests = "request" if cell.missing == 1 else "requests"
    parts = [f"{format_count(cell.missing)} {requests}, expected to cost {cell.expected_cost}."]
    if cell.follow_ups:
        parts[0] = f"Up to {parts[0]}"
    if cell.missing_of_others:
        names = ", ".join(line.model.name for line in cell.other_lines)
        parts.append(
            f"Of these, {format_count(cell.missing_of_others)} ask {names} about what it writes."
        )
    if cell.answered:
        parts.append(f"{format_count(cell.answered)} answers are there.")
    if cell.ready < cell.partitions:
        others = ", or left out" if cell.refused else ""
        parts.append(
            f"For {cell.ready} of {cell.partitions} partitions: the others are not made{others}."
        )
    return " ".join([*parts, *_list_warnings(cell)])


def _list_warnings(cell: CellQuote) -> Iterator[str]:
    """Name what is left out, and why, and the warnings of its steps."""
    for whose, why in list_refused(cell.refused):
        yield f"Left out: {whose}. {why}"
    yield from cell.picture_warnings
    yield from cell.warnings
