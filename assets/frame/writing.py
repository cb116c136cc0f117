"""Writing of a sentence: by rule, or by a model, checked by rule and re-queried."""

from collections.abc import Callable, Sequence
from typing import Any

from assets.kit.limits import LimitConfig, SamplingKey, stratified_head
from assets.kit.sentences import WriterConfig, write_sentence
from assets.kit.step import Conversation
from assets.kit.step_run import Row
from generators.prompts.instructions import tidy_reply

ATTEMPTS = 2
"""Maximum number of requests for one sentence."""


class FrameWriterConfig(LimitConfig, WriterConfig):
    """Writer of the sentences; a limit counts items."""


def list_concepts(row: Row) -> dict[str, str]:
    """The concepts of an item, by attribute."""
    return dict(zip(row["attributes"], row["values"], strict=True))


def select_first_items(rows: Sequence[dict[str, Any]], limit: int | None) -> list[dict[str, Any]]:
    """The items that a limit leaves: those that were drawn first."""
    return stratified_head(
        rows, limit, lambda row: SamplingKey(row["item_id"], (), row["sample_rank"])
    )


def merge_calls(row: Row, reply: Row) -> list[str]:
    """The calls behind a row, and those behind what was said about it."""
    return [*(row["calls"] or ()), *reply["calls"]]


def rule_columns(sentence: str) -> dict[str, Any]:
    """Build the columns of a sentence written by rule, without its writer."""
    return {"sentence": sentence, "outcome": "written", "calls": []}


def write_checked_sentence(prompt: str, problems: Callable[[str], Sequence[str]]) -> Conversation:
    """Have a sentence written that has no `problems`; return how that ended, with `sentence`."""
    again = "Write it again. Reply with the sentence alone."
    return (
        yield from write_sentence(
            prompt, tidy_reply, lambda text: " ".join(problems(text)), again, ATTEMPTS
        )
    )
