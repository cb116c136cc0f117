"""Sentences written by a model, checked by rule, and asked for again with what is wrong."""

from collections.abc import Callable, Mapping
from typing import Any

from assets.kit.judging import reply_columns
from assets.kit.step import Conversation
from metrics.replies import without_thinking
from resources.models.requests import Turn, Write


def sentence(
    asked: str,
    tidied: Callable[[str], str],
    problem: Callable[[str], str | None],
    again: str,
    attempts: int,
) -> Conversation:
    """Have a sentence written that has no `problem`; return how that ended, with `sentence`.

    The outcome is written, rejected (with the last problem as its `reason`), unparsed, refused or
    failed; `problems` are those of all attempts. A writer is told its problem, and then `again`.
    """
    turns: tuple[Turn, ...] = (Turn("user", asked),)
    calls: list[str] = []
    problems: list[str] = []
    for attempt in range(1, attempts + 1):
        said: Mapping[str, Any] = reply_columns((yield Write(turns)))
        calls += said["calls"]
        row = {**said, "attempts": attempt, "calls": list(calls), "problems": problems}
        if said["outcome"] != "answered":
            return row
        text = tidied(without_thinking(said["response"]))
        wrong = problem(text)
        if not wrong:
            return {**row, "sentence": text, "outcome": "written"}
        problems.append(wrong)
        turns += (Turn("assistant", said["response"]), Turn("user", f"{wrong} {again}"))
    return {**row, "sentence": text, "outcome": "rejected", "reason": wrong}
