"""Sentences written by a model, checked by rule, and asked for again with what is wrong."""

from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from pydantic import Field

from assets.kit.judging import reply_columns
from assets.kit.model_lookup import find_model
from assets.kit.step import Conversation, Step
from metrics.reply_parsing.reply_text import strip_thinking
from resources.models.catalog import Model
from resources.models.requests import Turn, WriteRequest
from resources.settings.run_config import Config

GRAMMAR = "grammar"
"""The writer that needs no model."""


class WriterConfig(Config):
    """Config that names the writer."""

    writer: str = Field(
        default=GRAMMAR,
        description=(
            "A model of models.yaml with the role writer. grammar uses no model; the paper uses "
            "GPT-4o."
        ),
    )


SENTENCE_KEYS = ("problems", "response", "sentence")
"""Keys of `write_sentence` that a table may store under other names or leave out."""
WriterT = TypeVar("WriterT", bound=WriterConfig)


class WriteStep(Step[WriterT]):
    """A step that has a writer write a sentence for each row."""

    example_request = WriteRequest(())

    def model(self, partition: str, config: WriterT) -> Model | None:
        """The writer; None for `grammar`, which writes by rule."""
        writer = find_model(self.catalog, config.writer, "writer")
        return None if writer.is_stand_in else writer


def write_sentence(
    prompt: str,
    tidied: Callable[[str], str],
    problem: Callable[[str], str | None],
    again: str,
    attempts: int,
) -> Conversation:
    """Have a sentence written that has no `problem`; return how that ended, with `sentence`.

    The outcome is written, rejected (with the last problem as its `reason`), unparsed, refused or
    failed; `problems` are those of all attempts. A writer is told its problem, and then `again`.
    """
    turns: tuple[Turn, ...] = (Turn("user", prompt),)
    calls: list[str] = []
    problems: list[str] = []
    for attempt in range(1, attempts + 1):
        reply_cells: Mapping[str, Any] = reply_columns((yield WriteRequest(turns)))
        calls += reply_cells["calls"]
        row = {**reply_cells, "attempts": attempt, "calls": list(calls), "problems": problems}
        if reply_cells["outcome"] != "answered":
            return row
        text = tidied(strip_thinking(reply_cells["response"]))
        wrong = problem(text)
        if not wrong:
            return {**row, "sentence": text, "outcome": "written"}
        problems.append(wrong)
        turns += (Turn("assistant", reply_cells["response"]), Turn("user", f"{wrong} {again}"))
    return {**row, "sentence": text, "outcome": "rejected", "reason": wrong}
