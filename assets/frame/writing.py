"""Writing of a sentence: by rule, or by a model, checked by rule and re-queried."""

from collections.abc import Callable, Sequence
from typing import Any

from assets.kit.limits import Limited, Placed, first_of
from assets.kit.sentences import ByWriter, sentence
from assets.kit.step import Conversation, Row
from generators.prompts.instructions import tidied

ATTEMPTS = 2
"""How often a writer is asked for a sentence at most."""


class Writing(Limited, ByWriter):
    """Who writes; a limit is on items."""


def concepts_of(row: Row) -> dict[str, str]:
    """The concepts of an item, by attribute."""
    return dict(zip(row["attributes"], row["values"], strict=True))


def first_items(rows: Sequence[dict[str, Any]], limit: int | None) -> list[dict[str, Any]]:
    """The items that a limit leaves: those that were drawn first."""
    return first_of(rows, limit, lambda row: Placed(row["item_id"], (), row["place"]))


def both(row: Row, said: Row) -> list[str]:
    """The calls behind a row, and those behind what was said about it."""
    return [*(row["calls"] or ()), *said["calls"]]


def by_rule(sentence: str) -> dict[str, Any]:
    """The columns of a sentence that nobody was asked for, but for who wrote it."""
    return {"sentence": sentence, "outcome": "written", "calls": []}


def written(asked: str, problems: Callable[[str], Sequence[str]]) -> Conversation:
    """Have a sentence written that has no `problems`; return how that ended, with `sentence`."""
    again = "Write it again. Reply with the sentence alone."
    return (
        yield from sentence(asked, tidied, lambda text: " ".join(problems(text)), again, ATTEMPTS)
    )
