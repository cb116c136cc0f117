"""Putting questions to a real model: words and a picture go out, an ending comes back."""

from collections.abc import Sequence
from logging import Logger
from typing import Any

from assets.kit.cost_metadata import cost_metadata
from assets.vlmbias.answers import Ending
from assets.vlmbias.prompting import Posed
from resources.calls.spending import Account
from resources.models.catalog import Model
from resources.models.client import ModelClient
from resources.models.outcomes import Answered, Failed, Malformed, Outcome, Refused
from resources.models.requests import Look, Turn


def look(
    client: ModelClient, model: Model, posed: Sequence[Posed], log: Logger, account: Account
) -> tuple[list[Ending], dict[str, Any]]:
    """How every question ended, with metadata of what was asked and what it cost.

    A double-check's first turn is the baseline's request, paid for once. Its second turn is sent
    where the first has an answer; elsewhere the question ends as the first turn did.
    """
    first = client.ask(model, [first_look(put) for put in posed], log, account)
    endings = [
        _ending(outcome) | {"calls": list(keys)}
        for outcome, keys in zip(first.outcomes, first.keys, strict=True)
    ]
    replies = {
        place: reply
        for place, (put, outcome) in enumerate(zip(posed, first.outcomes, strict=True))
        if put.follow_up and (reply := reply_in(outcome)) is not None
    }
    again = [second_look(posed[place], reply) for place, reply in replies.items()]
    second = client.ask(model, again, log, account)
    for (place, reply), outcome, keys in zip(
        replies.items(), second.outcomes, second.keys, strict=True
    ):
        calls = [*first.keys[place], *keys]
        endings[place] = _ending(outcome) | {"first_response": reply, "calls": calls}
    return endings, cost_metadata(first, second)


def first_look(put: Posed) -> Look:
    """A question as it is first put."""
    return Look((Turn("user", put.prompt, (put.shown,)),))


def second_look(put: Posed, reply: str) -> Look:
    """The question again, with what was answered to it, and its follow-up."""
    (question,) = first_look(put).turns
    return Look((question, Turn("assistant", reply), Turn("user", str(put.follow_up))))


def reply_in(outcome: Outcome) -> str | None:
    """What a second turn comes back to; None where the first has no answer."""
    return outcome.text or None if isinstance(outcome, Answered) else None


def _ending(outcome: Outcome) -> Ending:
    match outcome:
        case Answered(text=str(text), served_model=served_model):
            return {"response": text, "served_model": served_model}
        case Refused(kind=kind, reason=reason, served_model=served_model):
            refused = {"outcome": "refused", "refusal": kind, "reason": reason}
            return {**refused, "served_model": served_model}
        case Malformed(problem=problem, served_model=served_model):
            return {"outcome": "unparsed", "reason": problem, "served_model": served_model}
        case Failed(error=error):
            return {"outcome": "failed", "reason": error}
    raise TypeError(f"A question cannot end as {outcome!r}.")
