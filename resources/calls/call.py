"""Calls: the request, its answer and their stored form."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Literal

from resources.untrusted_input.json_text import clean_text

_CANONICAL = json.JSONEncoder(
    sort_keys=True, ensure_ascii=False, allow_nan=False, separators=(",", ":")
)


@dataclass(frozen=True, slots=True)
class StoredAnswer:
    """The stored part of a call that is read where the request is known."""

    key: str
    answer: Mapping[str, Any]
    served_model: str | None
    input_tokens: int | None
    output_tokens: int | None


@dataclass(frozen=True, slots=True)
class Call:
    """A request that was answered or refused; it never changes once it is stored.

    `key` is the `compute_call_key` of `request`, which is the canonical one. `answer` holds JSON
    values: its "outcome", and the fields of that outcome. Tokens are None where the provider does
    not count them. `seconds` is how long the request took, `finished_at` when it ended.
    """

    key: str
    backend: str
    model: str
    kind: str
    request: Mapping[str, Any]
    answer: Mapping[str, Any]
    served_model: str | None
    input_tokens: int | None
    output_tokens: int | None
    seconds: float
    mode: Literal["online", "batch"]
    finished_at: datetime

    def to_stored_answer(self) -> StoredAnswer:
        """The part of it that is read where the request is known."""
        return StoredAnswer(
            key=self.key,
            answer=self.answer,
            served_model=self.served_model,
            input_tokens=self.input_tokens,
            output_tokens=self.output_tokens,
        )


def to_canonical_text(request: Mapping[str, Any]) -> str:
    """A canonical request as it is hashed and stored."""
    return _CANONICAL.encode(request)


def parse_answer_row(row: Mapping[Any, Any]) -> StoredAnswer:
    """Parse the answer in a sound row."""
    return StoredAnswer(
        key=row["key"],
        answer=json.loads(row["answer"]),
        served_model=row["served_model"],
        input_tokens=row["input_tokens"],
        output_tokens=row["output_tokens"],
    )


def to_call_row(call: Call) -> dict[str, Any]:
    """The columns of a call; the sha256 of its `request` is the key again."""
    served_model = None if call.served_model is None else clean_text(call.served_model)
    request = to_canonical_text(call.request)
    # A model may send half of a surrogate pair, which is JSON, but which no UTF-8 can hold.
    answer = json.dumps(call.answer, sort_keys=True, allow_nan=False, separators=(",", ":"))
    finished_at = call.finished_at.astimezone(UTC).isoformat(timespec="microseconds")
    # `dataclasses.asdict` would copy request and answer, value by value.
    return {name: getattr(call, name) for name in call.__slots__} | {
        "request": request,
        "answer": answer,
        "served_model": served_model,
        "finished_at": finished_at,
    }


def parse_call_row(row: Mapping[Any, Any]) -> Call:
    """Parse the call in a sound row."""
    columns = {name: value for name, value in row.items() if name != "checksum"}
    return Call(
        **{
            **columns,
            "request": json.loads(row["request"]),
            "answer": json.loads(row["answer"]),
            "finished_at": datetime.fromisoformat(row["finished_at"]),
        }
    )
