"""A stored call, read as an outcome; text that was to follow a schema or be a score is checked."""

import json
import re
from dataclasses import replace
from typing import Any

from jsonschema import Draft202012Validator
from jsonschema.exceptions import best_match

from resources.calls import Answer, Call
from resources.models.outcomes import Answered, Malformed, Outcome, Refused
from resources.models.replies import Usage
from resources.models.requests import Request, Score, Turn, Write

_FENCED = re.compile(r"```(?:json)?[ \t]*\n(.*?)\n[ \t]*```", re.DOTALL | re.IGNORECASE)
_OBJECT = re.compile(r"\A[^\[{]*(\{.*\})", re.DOTALL)


def outcome_of(call: Answer | Call, request: Request) -> Outcome:
    """How a stored call ended, for a request that it answers."""
    answer, usage = call.answer, Usage(call.input_tokens, call.output_tokens)
    if answer["outcome"] == "refused":
        return Refused(answer["kind"], answer["reason"], call.served_model, usage)
    data = None
    if isinstance(request, Write) and request.schema is not None:
        try:
            data = data_in(answer["text"] or "", json.loads(request.schema))
        except ValueError as problem:
            return Malformed(str(problem), answer["text"] or "", call.served_model, usage)
    if isinstance(request, Score) and answer["score"] is None:
        text = answer["text"] or ""
        return Malformed("no number that is a score", text, call.served_model, usage)
    return Answered(
        answer["text"],
        tuple(answer["images"]),
        answer["score"],
        data,
        call.served_model,
        usage,
        answer.get("made"),
    )


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
    fenced = _FENCED.search(text)
    bare = fenced[1] if fenced else text
    found = _OBJECT.match(bare)
    try:
        data = json.loads(found[1] if found else bare)
    except json.JSONDecodeError as error:
        raise ValueError(f"no JSON ({error})") from None
    worst = best_match(Draft202012Validator(schema).iter_errors(data))
    if worst is not None:
        raise ValueError(f"{worst.json_path}: {worst.message}")
    return data
