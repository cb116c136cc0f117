"""What came: one request to a provider, as a test wants to look at it."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from hashlib import sha256
from typing import Any, Literal, Self, TypeAlias, cast

ProviderName = Literal["openai", "gemini", "anthropic"]
Schema: TypeAlias = Mapping[str, Any]
Task = Literal[
    "text",
    "picture",
    "models",
    "upload",
    "download",
    "create batch",
    "get batch",
    "list batches",
    "cancel batch",
]
"""What is asked: text or a picture of a model, or what there is, or something about batches."""


@dataclass(frozen=True)
class Received:
    """One request; `at` is seconds on this machine's monotonic clock."""

    provider: ProviderName
    path: str
    task: Task
    headers: Mapping[str, str]
    """Names in lower case."""
    body: bytes
    at: float
    model: str = ""
    texts: tuple[str, ...] = ()
    """In the order of the wire, system instruction first."""
    images: tuple[bytes, ...] = ()
    """Decoded, in the order of the wire; a mask comes last."""
    parameters: Mapping[str, Any] = field(default_factory=dict)
    """What the body holds besides the model and the messages, named as on the wire."""
    counted: int | None = None
    """The tokens of its images where the server counts them; else 100 each."""
    batch: str = ""
    """The id of the batch that it came in; empty where it came alone."""

    @cached_property
    def digest(self) -> str:
        """The sha256 of what is asked: the same for each sending of a request."""
        hashes = [sha256(image).hexdigest() for image in self.images]
        asked = [self.provider, self.task, self.model, self.texts, hashes, dict(self.parameters)]
        return sha256(json.dumps(asked, sort_keys=True).encode()).hexdigest()

    @property
    def picture_tokens(self) -> int:
        """What its images are billed as."""
        return 100 * len(self.images) if self.counted is None else self.counted

    @property
    def schema(self) -> Schema | None:
        """The JSON Schema that the answer is to follow, if one was sent."""
        if self.provider == "openai":
            wanted: Mapping[str, Any] = self.parameters.get("response_format", {})
            return cast(Schema | None, wanted.get("json_schema", {}).get("schema"))
        if self.provider == "anthropic":
            said: Mapping[str, Any] = self.parameters.get("output_config", {}).get("format", {})
            return said.get("schema")
        config: Mapping[str, Any] = self.parameters.get("generationConfig", {})
        return config.get("responseJsonSchema") or config.get("responseSchema")

    @property
    def key(self) -> str | None:
        """The API key that was sent, if one was."""
        if self.provider == "gemini":
            return self.headers.get("x-goog-api-key")
        scheme, _, key = self.headers.get("authorization", "").partition(" ")
        return key if scheme == "Bearer" else None

    def without_bodies(self) -> Self:
        """The same without what takes room, its digest kept."""
        slim = replace(self, body=b"", images=())
        slim.__dict__["digest"] = self.digest
        return slim
