"""A reply in a log, with what the log says about its request."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from resources.user_files.rows import BadRow


@dataclass(frozen=True, kw_only=True, slots=True)
class LogAnswer:
    """A reply to one row of a release; what the log does not say is None."""

    place: str
    """Place in the log, as in "line 8"."""
    row_id: str
    reply: str | None
    """The raw reply; None where the harness recorded that the request failed."""
    prompt: str | None = None
    """The text that was sent beside the picture."""
    ground_truth: str | None = None
    sha256: str | None = None
    """The sha256 of the released picture."""
    is_filtered: bool = False
    """True where the provider's filter withheld the reply."""
    is_cut: bool = False
    """True where the limit of tokens cut the reply off."""
    output_tokens: int | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class HarnessLog:
    """The replies of one run by one model."""

    path: str
    harness: str
    answers: Sequence[LogAnswer]
    model: str | None = None
    """The model, as the harness names it."""
    max_tokens: int | None = None
    """Limit on the tokens of a reply."""


def require_text(value: Any, name: str) -> str:
    """The text of a field, whole numbers included; raises `BadRow` for another value."""
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    if not isinstance(value, str) or not value.strip():
        raise BadRow(f"`{name}` is no text")
    return value


def to_text(value: Any) -> str | None:
    """A value as text; None for one that is neither a text nor a number."""
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        return None
    return str(value)


def to_count(value: Any) -> int | None:
    """A whole number above 0; None for another value."""
    return value if type(value) is int and value > 0 else None
