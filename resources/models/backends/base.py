"""The five interfaces of a model backend, one for each kind of request.

A backend is made once for a run, as `backend(model, key, picture)`: the entry of models.yaml, the
API key (None where none is needed), and a function that gives a picture's bytes by its sha256. It
has those of the methods below that it can do, sends each request exactly once, and raises the
`Fault` that says what to do next, its message without the key. `aclose` ends it.
"""

from collections.abc import Callable
from typing import Protocol, TypeAlias

from resources.models.replies import Reply
from resources.models.requests import Edit, Look, Paint, Score, Write

PictureOf: TypeAlias = Callable[[str], bytes]


class Backend(Protocol):
    """What every backend has."""

    async def aclose(self) -> None:
        """Close connections, let go of memory."""


class Writer(Backend, Protocol):
    """Writes text."""

    async def write(self, request: Write) -> Reply:
        """The text, in `Reply.text`."""


class Judge(Backend, Protocol):
    """Looks at pictures."""

    async def look(self, request: Look) -> Reply:
        """The answer, in `Reply.text`."""


class Painter(Backend, Protocol):
    """Makes pictures."""

    async def paint(self, request: Paint) -> Reply:
        """One picture, in `Reply.pictures`."""


class Editor(Backend, Protocol):
    """Changes pictures."""

    async def edit(self, request: Edit) -> Reply:
        """One picture, in `Reply.pictures`."""


class Scorer(Backend, Protocol):
    """Scores a picture against a text."""

    async def score(self, request: Score) -> Reply:
        """The raw score, in `Reply.score`."""
