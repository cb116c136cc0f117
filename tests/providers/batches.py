"""Batches and the files they are made of: what was handed in, and how each of them goes."""

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from tests.providers.http import Response
from tests.providers.received import ProviderName, Received

End = Literal["completed", "failed", "expired", "cancelled"]


@dataclass(frozen=True)
class Course:
    """How a batch goes; by default it is over when it is first asked after, all answered."""

    polls: float = 0
    """How often it is still running when it is asked after; infinity is for ever."""
    ends: End = "completed"
    answered: float = 0.5
    """The share of its requests, the first ones, that are answered where it ends too early."""
    heard: bool = True
    """Whether the client hears that the batch was created, or loses the connection."""
    silent_s: float = 0.0
    """Seconds that pass before it hears of it."""
    lines: Callable[[list[bytes]], Iterable[bytes]] = list
    """Makes each file of results from its lines: in another order, twice, without some, torn."""


@dataclass
class Batch:
    """A batch that a client has created."""

    id: str
    provider: ProviderName
    tag: str
    endpoint: str
    """Where its requests would go one by one; for Gemini its model."""
    input_file: str
    requests: list[tuple[str, Received]]
    """By the client's name for each."""
    course: Course = field(default_factory=Course)
    invalid: str = ""
    """What is wrong with its file, for which it fails."""
    polls: int = 0
    cancelled: bool = False
    files: dict[str, str] = field(default_factory=dict)
    """The ids of its files of results, by what they hold."""

    @property
    def end(self) -> End | None:
        """How it has ended, None while it runs."""
        if self.cancelled:
            return "cancelled"
        if self.polls <= self.course.polls:
            return None
        return "failed" if self.invalid else self.course.ends

    def answerable(self) -> int:
        """How many of its requests are answered by its end."""
        whole = len(self.requests)
        shares = {"completed": 1.0, "failed": 0.0}
        return round(whole * shares.get(self.end or "failed", self.course.answered))


class Batches:
    """All batches and files, in the order in which they came."""

    def __init__(self, answer: Callable[[Received], Response]) -> None:
        self.course: Callable[[Batch], Course] = lambda _: Course()
        """How a batch goes, asked when it is created."""
        self.all: dict[str, Batch] = {}
        self.files: dict[str, bytes] = {}
        self.uploads: dict[str, bytearray] = {}
        self._answer = answer

    def keep(self, data: bytes, name: str) -> str:
        """Keep a file under a name that is completed to be its own."""
        name = f"{name}{len(self.files):06}"
        self.files[name] = data
        return name

    def create(self, batch: Batch) -> Batch:
        """Take a batch in."""
        batch.course = self.course(batch)
        self.all[batch.id] = batch
        return batch

    def latest(self, provider: ProviderName) -> list[str]:
        """The ids of a provider's batches, the latest first."""
        return [batch.id for batch in self.all.values() if batch.provider == provider][::-1]

    def answers(self, batch: Batch) -> list[tuple[str, Response | None]]:
        """What each request of a batch that is over came to; None for those not answered."""
        answered = batch.answerable()
        return [
            (name, self._answer(replace(received, batch=batch.id)) if i < answered else None)
            for i, (name, received) in enumerate(batch.requests)
        ]

    def keep_lines(self, batch: Batch, lines: Sequence[Mapping[str, Any]], name: str) -> str:
        """Keep a file of results, with what happens to its lines."""
        data = [json.dumps(line).encode() for line in lines]
        return self.keep(b"".join(line + b"\n" for line in batch.course.lines(data)), name)


def said(response: Response) -> Any:
    """The body of a reply as it stands in a line: JSON, or text where it is none."""
    try:
        return json.loads(response.body)
    except ValueError:
        return response.body.decode(errors="replace")
