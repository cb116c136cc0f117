"""Outcomes of a request: answered, refused, malformed or failed.

Answered, refused and malformed ones are stored and never paid for again; a failed one is tried
again by the next run. A stored call is read as an outcome here: text that was to follow a schema
or be a score is checked.
"""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any, Literal, TypeAlias

from resources.calls import Call, StoredAnswer
from resources.models.answer_forms import MalformedForm, RefusedForm, parse_answer
from resources.models.replies import UNCOUNTED, RefusalKind, Usage
from resources.models.requests import Request, ScoreRequest, Turn, WriteRequest, get_request_kind
from resources.untrusted_input.json_text import parse_untrusted

FailureKind = Literal["overloaded", "interrupted", "unreadable", "deadline", "unacceptable"]

_OPENING = re.compile(r"```(?:json)?[ \t]*\n", re.IGNORECASE)
_CLOSING = re.compile(r"\n[ \t]*```")
_OBJECT = re.compile(r"\A[^\[{]*(\{.*\})", re.DOTALL)
_MOST_ERRORS = 1000
"""Number of schema errors among which the reported one is chosen."""


@dataclass(frozen=True, slots=True)
class AnsweredOutcome:
    """An answer: text, the sha256 of each picture made, or a score; `data` is JSON to a schema.

    `provenance` says how a local model came to it.
    """

    text: str | None = None
    images: tuple[str, ...] = ()
    score: float | None = None
    data: Any = None
    served_model: str | None = None
    usage: Usage = UNCOUNTED
    provenance: Mapping[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class RefusedOutcome:
    """A refusal, with its kind and the provider's reason."""

    kind: RefusalKind
    reason: str
    served_model: str | None = None
    usage: Usage = UNCOUNTED


@dataclass(frozen=True, slots=True)
class MalformedOutcome:
    """A reply that was paid for and holds no answer.

    It is text that is no score, or not what the schema asks for after the repairs that are allowed;
    or it `is_unreadable`, has no text at all, and is never asked to be repaired.
    """

    reason: str
    text: str
    served_model: str | None = None
    usage: Usage = UNCOUNTED
    is_unreadable: bool = False


@dataclass(frozen=True, slots=True)
class FailedOutcome:
    """A request without an answer after all attempts, with the last error."""

    kind: FailureKind
    error: str
    attempts: int


Outcome: TypeAlias = AnsweredOutcome | RefusedOutcome | MalformedOutcome | FailedOutcome


def read_outcome(call: StoredAnswer | Call, request: Request) -> Outcome:
    """Read a stored call as a request's outcome; malformed where it cannot be its answer."""
    served, usage = call.served_model, Usage(call.input_tokens, call.output_tokens)
    try:
        answer = parse_answer(call.answer, get_request_kind(request))
    except ValueError as problem:
        return MalformedOutcome(
            reason=f"What is stored is no answer: {problem}.",
            text="",
            served_model=served,
            usage=usage,
            is_unreadable=True,
        )
    if isinstance(answer, RefusedForm):
        return RefusedOutcome(
            kind=answer.kind, reason=answer.reason, served_model=served, usage=usage
        )
    if isinstance(answer, MalformedForm):
        return MalformedOutcome(
            reason=answer.reason, text="", served_model=served, usage=usage, is_unreadable=True
        )
    text, data = answer.text or "", None
    if isinstance(request, WriteRequest) and request.schema is not None:
        try:
            data = parse_json_answer(text, json.loads(request.schema))
        except ValueError as problem:
            return MalformedOutcome(
                reason=str(problem), text=text, served_model=served, usage=usage
            )
    if isinstance(request, ScoreRequest) and answer.score is None:
        return MalformedOutcome(
            reason="no number that is a score", text=text, served_model=served, usage=usage
        )
    images = tuple(answer.images)
    return AnsweredOutcome(
        text=answer.text,
        images=images,
        score=answer.score,
        data=data,
        served_model=served,
        usage=usage,
        provenance=answer.provenance,
    )


def build_repair_request(request: WriteRequest, outcome: MalformedOutcome) -> WriteRequest:
    """The request that asks again, with what was said and what is wrong with it."""
    again = (
        Turn("assistant", outcome.text),
        Turn(
            "user",
            f"That is not what was asked for: {outcome.reason}. Answer again, with JSON that "
            "follows the schema and nothing else.",
        ),
    )
    return replace(request, turns=request.turns + again)


def parse_json_answer(text: str, schema: dict[str, Any]) -> Any:
    """The JSON in `text`, in a code fence or among words; raises ValueError with what is wrong."""
    from jsonschema import Draft202012Validator  # noqa: PLC0415 - slow, and seldom needed
    from jsonschema.exceptions import best_match  # noqa: PLC0415

    bare = _extract_fenced(text)
    match = _OBJECT.match(bare)
    data = parse_untrusted(match[1] if match else bare)
    worst = best_match(islice(Draft202012Validator(schema).iter_errors(data), _MOST_ERRORS))
    if worst is not None:
        raise ValueError(f"{worst.json_path}: {worst.message}")
    return data


def _extract_fenced(text: str) -> str:
    """Extract the first code fence that is closed; the whole text where none is."""
    opening = _OPENING.search(text)
    closing = opening and _CLOSING.search(text, opening.end())
    return text[opening.end() : closing.start()] if opening and closing else text
