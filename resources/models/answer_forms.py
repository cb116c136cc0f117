"""The form of a call's answer, for stores and cassettes."""

import json
from typing import Annotated, Any, Literal, TypeAlias

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    PlainValidator,
    StringConstraints,
    TypeAdapter,
    ValidationError,
)

from resources.models.replies import RefusalKind
from resources.untrusted_input.json_text import MAX_TEXT_LENGTH, clean_json, replace_surrogates


def _require_short(value: Any) -> str:
    """Text that is not too long."""
    if not isinstance(value, str):
        raise ValueError("text is expected")
    if len(value) > MAX_TEXT_LENGTH:
        raise ValueError(f"{len(value):,} characters; at most {MAX_TEXT_LENGTH:,} are taken")
    return value


def _require_finite(value: dict[str, Any] | None) -> dict[str, Any]:
    """JSON that every store takes: a number may be written that is read as infinite."""
    if value is None:
        raise ValueError("an object is expected")
    json.dumps(value, allow_nan=False)
    return value


Words = Annotated[str, PlainValidator(_require_short)]
Digest = Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{64}$")]


class StrictForm(BaseModel):
    """Takes no other fields, and no values of another kind."""

    model_config = ConfigDict(extra="forbid", strict=True)


class AnsweredForm(StrictForm):
    """Text, one picture, a score, or text that was to be a score."""

    outcome: Literal["answered"]
    text: Words | None
    images: Annotated[list[Digest], Field(max_length=1)]
    score: Annotated[float, Field(allow_inf_nan=False)] | None
    provenance: Annotated[dict[Words, Any] | None, AfterValidator(_require_finite)] = None


class RefusedForm(StrictForm):
    """A refusal, with the provider's reason."""

    outcome: Literal["refused"]
    kind: RefusalKind
    reason: Words


class MalformedForm(StrictForm):
    """A reply that was paid for and holds no answer."""

    outcome: Literal["malformed"]
    reason: Words


AnswerForm: TypeAlias = Annotated[
    AnsweredForm | RefusedForm | MalformedForm, Field(discriminator="outcome")
]
_FORM: TypeAdapter[AnswerForm] = TypeAdapter(AnswerForm)


def parse_answer(answer: Any, kind: str) -> AnsweredForm | RefusedForm | MalformedForm:
    """The answer that a call of a kind (write, look, …) holds, its text in whole characters.

    Raises ValueError where it is none, with what is wrong.
    """
    try:
        form = _FORM.validate_python(clean_json(answer, replace_surrogates))
    except ValidationError as error:
        raise ValueError(format_first_error(error)) from None
    return require_answer_kind(form, kind)


def require_answer_kind(
    answer: AnsweredForm | RefusedForm | MalformedForm, kind: str
) -> AnsweredForm | RefusedForm | MalformedForm:
    """The answer, if it can be one to a request of this kind; else raises ValueError."""
    if isinstance(answer, AnsweredForm):
        if kind in ("write", "look") and answer.text is None:
            raise ValueError("it has no text")
        if kind in ("paint", "edit") and not answer.images:
            raise ValueError("it has no picture")
    return answer


def format_first_error(error: ValidationError) -> str:
    """The first thing that is wrong, with its place."""
    first = error.errors(include_url=False, include_input=False)[0]
    return f"{'.'.join(map(str, first['loc'])) or 'the whole'}: {first['msg']}"
