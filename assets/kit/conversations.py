"""Concurrent conversations with a model, and the outcomes of unanswered ones."""

from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from functools import partial
from typing import Any

from assets.kit.step import Conversation, StepReply
from assets.kit.step_run import Row
from resources.models.catalog import Model
from resources.models.outcomes import (
    AnsweredOutcome,
    FailedOutcome,
    MalformedOutcome,
    Outcome,
    RefusedOutcome,
    build_repair_request,
)
from resources.models.pricing import find_output_limit
from resources.models.requests import Request, WriteRequest


def unanswered_columns(outcome: Outcome, malformed: str = "malformed") -> dict[str, Any]:
    """Build `outcome`, `refusal`, `reason` and `served_model` of a request without an answer.

    A malformed reply gets the outcome `malformed`.
    """
    match outcome:
        case RefusedOutcome(kind=kind, reason=reason, served_model=served):
            return _build_outcome_columns("refused", reason, served, kind)
        case MalformedOutcome(reason=reason, served_model=served):
            return _build_outcome_columns(malformed, reason, served)
        case FailedOutcome(error=error):
            return _build_outcome_columns("failed", error)
    raise TypeError(f"{outcome!r} is an answer.")


def _build_outcome_columns(
    outcome: str, reason: str, served: str | None = None, refusal: str | None = None
) -> dict[str, Any]:
    return {"outcome": outcome, "refusal": refusal, "reason": reason, "served_model": served}


def format_reason(ended: Row) -> str:
    """The reason of what was not answered, with the kind of a refusal before it."""
    return ": ".join(filter(None, (ended["refusal"], ended["reason"])))


class Conversations:
    """Running conversations by index: their next requests, and the rows of those that ended."""

    def __init__(self, conversations: Iterable[Conversation]) -> None:
        self.finished_rows: dict[int, Row] = {}
        self._waiting: dict[int, Request] = {}
        self._conversations = list(conversations)
        for index, conversation in enumerate(self._conversations):
            self._advance(index, partial(next, conversation))

    @property
    def pending_requests(self) -> dict[int, Request]:
        """Requests that wait for a reply, by index of their conversation."""
        return dict(sorted(self._waiting.items()))

    def resume(self, index: int, reply: StepReply) -> None:
        """Continue a conversation with the reply that it waited for."""
        self._advance(index, partial(self._conversations[index].send, reply))

    def _advance(self, index: int, advance: Callable[[], Request]) -> None:
        self._waiting.pop(index, None)
        try:
            self._waiting[index] = advance()
        except StopIteration as end:
            self.finished_rows[index] = end.value


def iterate_longest_follow_ups(
    model: Model, conversation: Conversation, request: Request
) -> Iterator[Request]:
    """Iterate over what follows a request where each reply is the longest of the model."""
    # Where its length is unknown, so is the price of the first request.
    reply = StepReply(AnsweredOutcome("?" * (find_output_limit(model) or 1)), ())
    is_after = False
    with suppress(StopIteration):
        next_request = next(conversation)
        while True:
            if is_after:
                yield next_request
            is_after = is_after or next_request == request
            next_request = conversation.send(reply)


def build_repair(request: Request, outcome: Outcome) -> WriteRequest | None:
    """The request that follows a reply; None where that is what was asked for."""
    if (
        isinstance(request, WriteRequest)
        and isinstance(outcome, MalformedOutcome)
        and not outcome.is_unreadable
    ):
        return build_repair_request(request, outcome)
    return None


def find_longest_repair(model: Model, request: Request) -> WriteRequest | None:
    """The largest request that may follow one that has no reply yet; None where none may."""
    if not isinstance(request, WriteRequest) or request.schema is None:
        return None
    longest_reply = "?" * (find_output_limit(model) or 0)
    # The error message may quote the answer, the schema, or both.
    return build_repair_request(
        request, MalformedOutcome(longest_reply + request.schema, longest_reply)
    )
