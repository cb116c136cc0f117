"""A second reading of replies in plain words, beside that of JSON, which alone counts."""

from collections.abc import Callable, Sequence
from typing import Any

from assets.kit.columns import TEXT
from assets.kit.step_run import Row
from metrics.reply_parsing.plain_answers import VERSION

READING_VERSION = (TEXT, "Version of the rules for plain words; empty without a reply")


def read_plainly(
    response: str | None, read: Callable[[str], Sequence[Any]], column: str
) -> dict[str, Any]:
    """The plain reading of a response in its column, and the version of the rules."""
    if response is None:
        return {column: None, "reading_version": None}
    return {column: read(response)[0], "reading_version": VERSION}


def count_readings(rows: Sequence[Row], column: str, plain_column: str) -> dict[str, Any]:
    """How many replies each reading reads, for metadata; nothing without replies."""
    replies = [row for row in rows if row.get("response") is not None]
    if not replies:
        return {}
    counts = (sum(row[name] is not None for row in replies) for name in (column, plain_column))
    in_json, in_words = counts
    return {"read_in_json": in_json, "read_in_words": in_words, "replies": len(replies)}
