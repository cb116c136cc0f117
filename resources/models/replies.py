"""Results of a request before they are stored: a reply, or a fault that says what to do."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal

RefusalKind = Literal["content filter", "image safety", "no image", "model"]
"""Kinds of refusal: the provider's filter of words or of pictures, a reply without the
picture that was asked for, or the model's own words."""

THOUGHTS_CUT, THOUGHT_CHARACTERS = "thoughts_cut", "thought_characters"
"""In a reply's provenance: the rule that cut thoughts off, and the number of their characters."""
THOUGHT_TOKENS = "thought_tokens"
"""In a reply's provenance: output tokens that its provider bills for thoughts, if it says so."""


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens as the provider counts them; None where it does not say.

    `gpu_seconds` are those that a local model worked on the request: its share of its batch.
    """

    input_tokens: int | None = None
    output_tokens: int | None = None
    gpu_seconds: float | None = field(default=None, compare=False)

    @property
    def is_unknown(self) -> bool:
        """True where nothing was counted at all."""
        return self == UNCOUNTED and self.gpu_seconds is None

    @property
    def total(self) -> int | None:
        """The sum of all tokens, where both numbers are known."""
        if self.input_tokens is None or self.output_tokens is None:
            return None
        return self.input_tokens + self.output_tokens


UNCOUNTED = Usage()


@dataclass(frozen=True, slots=True)
class ImageFile:
    """An image file as it came, with the media type that its sender claims for it."""

    data: bytes
    media_type: str | None = None


@dataclass(frozen=True, slots=True)
class Refusal:
    """A model, or its provider, declined; `reason` is in the provider's words."""

    kind: RefusalKind
    reason: str


@dataclass(frozen=True, slots=True)
class ModelReply:
    """A model's reply: text, pictures, a score or a refusal, and what it cost in tokens.

    `malformed_reason` says why a reply that was paid for holds none of them. `provenance` says what
    it depends on beside the request, as JSON values: of a local model device, dtype, versions and
    the like, of a server its engine, and what was cut off as thoughts.
    """

    text: str | None = None
    pictures: tuple[ImageFile, ...] = ()
    score: float | None = None
    refusal: Refusal | None = None
    malformed_reason: str | None = None
    served_model: str | None = None
    usage: Usage = UNCOUNTED
    provenance: Mapping[str, Any] | None = None

    def with_provenance(self, facts: Mapping[str, Any]) -> "ModelReply":
        """The reply with more facts in its provenance, if there are any."""
        return replace(self, provenance={**(self.provenance or {}), **facts}) if facts else self


class RequestFault(Exception):
    """A request had no reply; the message is in the provider's words. Never raised itself."""

    possibly_paid = False
    """Whether the request may have been paid for all the same."""


class Overloaded(RequestFault):
    """Too many requests for now (429, 503, 529): slow down and send it again."""

    def __init__(self, message: str, retry_after: float | None = None) -> None:
        super().__init__(message)
        self.retry_after = retry_after
        """Seconds that the provider asks to wait, where it does."""


class Interrupted(RequestFault):
    """The connection or the server failed, or the reply came incomplete: send it again."""

    def __init__(
        self, message: str, *, possibly_paid: bool = True, is_unreachable: bool = False
    ) -> None:
        super().__init__(message)
        self.possibly_paid = possibly_paid
        self.is_unreachable = is_unreachable
        """Whether the server took no connection."""


class UnparsableReply(Interrupted):
    """The reply holds no JSON, or a part of it, which may be paid: retry, but not for long."""


class NoAnswer(RequestFault):
    """A whole reply came, and was paid for, that holds no answer: never send it again."""

    possibly_paid = True

    def __init__(
        self, message: str, served_model: str | None = None, usage: Usage = UNCOUNTED
    ) -> None:
        super().__init__(message)
        self.served_model, self.usage = served_model, usage

    @property
    def reply(self) -> ModelReply:
        """The reply to store."""
        return ModelReply(
            malformed_reason=str(self), served_model=self.served_model, usage=self.usage
        )


class UnacceptableRequest(RequestFault):
    """The provider will never take this request (400, 413, 422): others may go on."""

    def __init__(self, message: str, *, possibly_paid: bool = False) -> None:
        super().__init__(message)
        self.possibly_paid = possibly_paid


class ModelUnavailable(RequestFault):
    """The model takes no request: a bad key, no credit, an unknown model. Stop."""
