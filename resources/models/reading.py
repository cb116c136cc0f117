"""A stored call, read as an outcome; text that was to follow a schema or be a score is checked."""

import json
import re
from dataclasses import replace
from itertools import islice
from typing import Any

from jsonschema import Draft202012Validator
from jsonschema.exceptions import best_match

from resources.calls import Answer, Call
from resources.models.answers import MalformedForm, RefusedForm, checked
from resources.models.outcomes import Answered, Malformed, Outcome, Refused
from resources.models.replies import Usage
from resources.models.requests import Request, Score, Turn, Write, kind_of
from resources.outside import plain_json

_OPENING = re.compile(r"```(?:json)?[ \t]*\n", re.IGNORECASE)
_CLOSING = re.compile(r"\n[ \t]*```")
_OBJECT = re.compile(r"\A[^\[{]*(\{.*\})", re.DOTALL)
_MOST_ERRORS = 1000
"""So many misses of a schema are looked at for the one that is told."""


def outcome_of(call: Answer | Call, request: Request) -> Outcome:
    """How a stored call ended, for a request that it answers.

    What is stored and cannot be an answer to it is malformed, as it is when it comes.
    """
    served, usage = call.served_model, Usage(call.input_tokens, call.output_tokens)
    try:
        answer = checked(call.answer, kind_of(request))
    except ValueError as problem:
        return Malformed(f"What is stored is no answer: {problem}.", "", served, usage, True)
    if isinstance(answer, RefusedForm):
        return Refused(answer.kind, answer.reason, served, usage)
    if isinstance(answer, MalformedForm):
        return Malformed(answer.problem, "", served, usage, unreadable=True)
    text, data = answer.text or "", None
    if isinstance(request, Write) and request.schema is not None:
        try:
            data = data_in(text, json.loads(request.schema))
        except ValueError as problem:
            return Malformed(str(problem), text, served, usage)
    if isinstance(request, Score) and answer.score is None:
        return Malformed("no number that is a score", text, served, usage)
    images = tuple(answer.images)
    return Answered(answer.text, images, answer.score, data, served, usage, answer.made)


def repaired(request: Write, outcome: Malformed) -> Write:
    """The request that asks again, with what was said and what is wrong with it."""
    again = (
        Turn("assistant", outcome.text),
        Turn(
            "user",
            f"That is not what was asked for: {outcome.problem}. Answer again, with JSON that "
            "follows the schema and nothing else.",
        ),
    )
    return replace(request, turns=request.turns + again)


def data_in(text: str, schema: dict[str, Any]) -> Any:
    """The JSON in `text`, bare or in a code fence, whatever words are around it.

    Raises ValueError with what is wrong.
    """
    bare = _fenced(text)
    found = _OBJECT.match(bare)
    data = plain_json(found[1] if found else bare)
    worst = best_match(islice(Draft202012Validator(schema).iter_errors(data), _MOST_ERRORS))
    if worst is not None:
        raise ValueError(f"{worst.json_path}: {worst.message}")
    return data


def _fenced(text: str) -> str:
    """What stands in the first code fence that is closed; all of it, where none is."""
    opening = _OPENING.search(text)
    closing = opening and _CLOSING.search(text, opening.end())
    return text[opening.end() : closing.start()] if opening and closing else text
