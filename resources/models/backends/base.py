"""The five interfaces of a model backend, one for each kind of request.

A backend is made once for a run, as `backend(model, key, picture)`: the entry of models.yaml, the
API key (None where none is needed), and a function that gives a picture's bytes by its sha256. It
has those of the methods below that it can do, sends each request exactly once, and raises the
`Fault` that says what to do next, its message without the key. `aclose` ends it.
"""

from collections.abc import AsyncIterator, Callable, Mapping
from dataclasses import dataclass
from typing import Literal, Protocol, TypeAlias

from resources.models.replies import Fault, Reply
from resources.models.requests import Edit, Look, Paint, Request, Score, Write

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


class Lister(Backend, Protocol):
    """Knows which models its provider has."""

    async def listed(self) -> list[str]:
        """The ids of all models, as entries of models.yaml have them; it costs nothing."""


@dataclass(frozen=True, slots=True)
class BatchState:
    """How a batch stands at its provider, in one word of ours and in the provider's own.

    One that expired or was cancelled has the results that were ready by then.
    """

    word: Literal["running", "ended", "failed", "expired", "cancelled"]
    said: str


class BatchBackend(Backend, Protocol):
    """Answers many requests later, at a lower price; its methods raise the same faults.

    Requests go under names of our choice (the keys of their calls), by which their results are
    told apart, for these come in any order. As with single requests, the caller sets deadlines.
    """

    largest_batch: tuple[int, int]
    """The most requests in one batch, and the most bytes of its file."""

    def line_size(self, request: Request) -> int:
        """How many bytes a request takes in a batch's file, at most."""

    async def submit(self, requests: Mapping[str, Request], tag: str) -> str:
        """Create a batch that carries `tag` where the provider lists it; gives its id there.

        The requests of a batch are of one kind (`kind_of`). It may have been created in spite of an
        `Interrupted` that is `possibly_paid`: then `find` it. Other faults say what to do.
        """

    async def find(self, tag: str) -> str | None:
        """The provider's id of the batch that carries `tag`, None where no batch does."""

    async def state(self, batch: str) -> BatchState:
        """How a batch stands."""

    def results(self, batch: str) -> AsyncIterator[tuple[str, Reply | Fault]]:
        """What came of the requests of a batch that is not running any more, by name.

        A request that was not answered in time has a fault or is not there at all. Each comes once
        at most. Lines that cannot be read spoil no others: after the last one, `UnparsableReply`
        says how many there were; it is `Interrupted` where there was no other. Results may be
        fetched repeatedly.
        """

    async def cancel(self, batch: str) -> None:
        """Ask the provider to stop a batch; what is answered by then is kept."""
