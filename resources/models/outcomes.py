"""How a request ended: answered, refused, malformed or failed. There is no fifth way.

Answered, refused and malformed ones are stored and never paid for again; a failed one is tried
again by the next run.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from resources.models.replies import UNCOUNTED, RefusalKind, Usage

FailureKind = Literal["overloaded", "interrupted", "unreadable", "deadline", "unacceptable"]


@dataclass(frozen=True, slots=True)
class Answered:
    """An answer: text, the sha256 of each picture made, or a score; `data` is JSON to a schema.

    `made` says how a local model came to it.
    """

    text: str | None = None
    images: tuple[str, ...] = ()
    score: float | None = None
    data: Any = None
    served_model: str | None = None
    usage: Usage = UNCOUNTED
    made: Mapping[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class Refused:
    """A refusal, with its kind and the provider's reason."""

    kind: RefusalKind
    reason: str
    served_model: str | None = None
    usage: Usage = UNCOUNTED


@dataclass(frozen=True, slots=True)
class Malformed:
    """A reply that was paid for and holds no answer.

    It is text that is no score, or not what the schema asks for after the repairs that are allowed;
    or it is `unreadable`, has no text at all, and is never asked to be repaired.
    """

    problem: str
    text: str
    served_model: str | None = None
    usage: Usage = UNCOUNTED
    unreadable: bool = False


@dataclass(frozen=True, slots=True)
class Failed:
    """No answer after all attempts, with the last error."""

    kind: FailureKind
    error: str
    attempts: int


Outcome: TypeAlias = Answered | Refused | Malformed | Failed
