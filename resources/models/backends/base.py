"""What a model backend offers, and the interface of those that take batches.

A backend is made once for a run, as `backend(model, key, picture)`: the entry of models.yaml, the
API key (None where none is needed), and a function that gives a picture's bytes by its sha256. It
has those of these methods that it can do, sends each request exactly once, and raises the `Fault`
that says what to do next, its message without the key.

    async write(Write), look(Look) -> Reply with text; one that the limit of tokens cut off is an
        answer with the text there is, and `Unacceptable` where the limit left none at all: sent
        again, it would be paid for again and end the same
    async paint(Paint), edit(Edit) -> Reply with one picture
    async score(Score)             -> Reply with a raw score
    async listed() -> list[str]       the ids of all models that its provider has; costs nothing
    async aclose()                    close connections, let go of memory
"""

from collections.abc import AsyncIterator, Callable, Mapping
from dataclasses import dataclass
from typing import Literal, Protocol, TypeAlias

from resources.models.replies import Fault, Reply
from resources.models.requests import Request

PictureOf: TypeAlias = Callable[[str], bytes]


@dataclass(frozen=True, slots=True)
class BatchState:
    """How a batch stands at its provider, in one word of ours and in the provider's own.

    One that expired or was cancelled has the results that were ready by then.
    """

    word: Literal["running", "ended", "failed", "expired", "cancelled"]
    said: str


class BatchBackend(Protocol):
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
