"""The interface of a model backend, and the base of those that take batches.

A backend is made once for a run, as `backend(model, key, picture)`: the entry of models.yaml, the
API key (None where none is needed), and a function that gives a picture's bytes by its sha256. It
has those of these methods that it can do, sends each request exactly once, and raises the
`RequestFault` that says what to do next, its message without the key.

    async write(Write), look(Look) -> Reply with text; one that the limit of tokens cut off is an
        answer with the text there is, and `UnacceptableRequest` where the limit left none at all:
        sent again, it would be paid for again and end the same
    async paint(Paint), edit(Edit) -> Reply with one picture
    async score(Score)             -> Reply with a raw score
    async list_models() -> list[ListedModel]  all models that its provider has; costs nothing
    async aclose()                    close connections, let go of memory
"""

import json
from abc import ABC, abstractmethod
from collections.abc import AsyncIterator, Callable, Mapping
from dataclasses import asdict, dataclass
from tempfile import TemporaryFile
from typing import IO, Literal, TypeAlias

from resources.models.catalog import Model
from resources.models.replies import (
    Interrupted,
    ModelReply,
    ModelUnavailable,
    NoAnswer,
    Overloaded,
    RequestFault,
    UnacceptableRequest,
)
from resources.models.requests import (
    EditRequest,
    LookRequest,
    PaintRequest,
    Request,
    ScoreRequest,
    WriteRequest,
)

_AROUND_A_LINE, _AROUND_A_PART = 512, 128
"""Bytes, at most, of what a provider's format puts around a request, and around each part."""
PictureLoader: TypeAlias = Callable[[str], bytes]
BatchStatus: TypeAlias = Literal["running", "ended", "failed", "expired", "cancelled"]


@dataclass(frozen=True, slots=True)
class BatchState:
    """The state of a batch at its provider, in one word of ours and in the provider's own.

    One that expired or was cancelled has the results that were ready by then.
    """

    status: BatchStatus
    provider_status: str

    def require_ended(self, batch: str) -> None:
        """Raise `Interrupted` where it runs: who reads no results then believes there are none."""
        if self.status == "running":
            raise Interrupted(
                f"The batch {batch} is not over: its provider says that it is "
                f"{self.provider_status} now.",
                possibly_paid=False,
            )


def to_batch_status(words: Mapping[str, BatchStatus], state: str) -> BatchStatus:
    """Translate a provider's word for the state of a batch by `words`.

    Raises `Interrupted` for one that is not there: whether the batch is over is not known.
    """
    if state in words:
        return words[state]
    raise Interrupted(
        f"Its provider says that it is in the state {state!r}, which is not known here. Its "
        "requests keep waiting, and it is asked again. If this stays, see there what became of it: "
        "if nothing will come any more, cancel it with `forget`.",
        possibly_paid=False,
    )


class BatchBackend(ABC):
    """Answers many requests later, at a lower price; its methods raise the same faults.

    They are uploaded as a file of a JSON object a line, which can be larger than memory. Requests
    go under names of our choice (the keys of their calls), which identify their results,
    for these come in any order. As with single requests, the caller sets deadlines.
    """

    largest_batch: tuple[int, int]
    """The most requests in one batch, and the most bytes of its file."""
    _model: Model
    _picture: PictureLoader

    def line_size(self, request: Request) -> int:
        """Bound the bytes that a request takes in a file: its pictures are sent as base64."""
        turns = request.turns if isinstance(request, WriteRequest | LookRequest) else ()
        images = [image for turn in turns for image in turn.images]
        images += request.images if isinstance(request, EditRequest) else ()
        words = len(json.dumps([asdict(request), self._model.model, self._model.parameters]))
        parts = _AROUND_A_PART * (len(turns) + len(images))
        encoded = sum(4 * (len(self._picture(image)) + 2) // 3 for image in images)
        return _AROUND_A_LINE + words + parts + encoded

    async def submit(self, requests: Mapping[str, Request], tag: str) -> str:
        """Create a batch that carries `tag` where the provider lists it; gives its id there.

        The requests of a batch are of one kind (`get_request_kind`). It may have been created in
        spite of an `Interrupted` that is `possibly_paid`: then `find` it. Other faults say what to
        do.
        """
        uploaded = ""
        with TemporaryFile() as file:
            endpoint = await self._write_lines(requests, file)
            try:
                uploaded = await self._upload(file)
                return await self._create(uploaded, endpoint, tag)
            except RequestFault as fault:
                problem = _explain_not_created(fault, self._model, uploaded=bool(uploaded))
        raise problem

    @abstractmethod
    async def find(self, tag: str) -> str | None:
        """The provider's id of the latest batch that carries `tag`; None where none does."""

    @abstractmethod
    async def state(self, batch: str) -> BatchState:
        """Fetch a batch's state; raises `Interrupted` for a state that is not known."""

    @abstractmethod
    def results(self, batch: str) -> AsyncIterator[tuple[str, ModelReply | RequestFault]]:
        """Iterate a batch's results by request name; raises `Interrupted` while it runs.

        A request that was not answered in time has a fault or is not there at all. Each comes once
        at most. Lines that cannot be read spoil no others: after the last one, `UnparsableReply`
        says how many there were; it is `Interrupted` where there was no other. Results may be
        fetched repeatedly.
        """

    async def cancel(self, batch: str) -> None:
        """Ask the provider to stop a batch; what is answered by then is kept.

        One that is over already is left as it is.
        """
        try:
            await self._stop(batch)
            return
        except RequestFault as fault:
            problem = fault
        if (await self.state(batch)).status == "running":
            raise problem

    def _refuse_score(
        self, request: Request
    ) -> WriteRequest | LookRequest | PaintRequest | EditRequest:
        if isinstance(request, ScoreRequest):
            raise UnacceptableRequest(f"{self._model.name} cannot score: ask a metric.")
        return request

    @abstractmethod
    async def _write_lines(self, requests: Mapping[str, Request], file: IO[bytes]) -> str:
        """Write one line for each request; gives the endpoint that all of them share."""

    @abstractmethod
    async def _upload(self, file: IO[bytes]) -> str:
        """Send a file of requests; gives its name at the provider."""

    @abstractmethod
    async def _create(self, file: str, endpoint: str, tag: str) -> str:
        """Create the batch of an uploaded file at an endpoint; gives its id."""

    @abstractmethod
    async def _stop(self, batch: str) -> None:
        """Cancel a batch; raises a fault where it is over."""


def _explain_not_created(fault: RequestFault, model: Model, *, uploaded: bool) -> RequestFault:
    """The fault of a batch that was not created, with what to do.

    Once its file is uploaded, it may have been created unheard.
    """
    if type(fault) in (Interrupted, NoAnswer):
        return Interrupted(str(fault), possibly_paid=uploaded)
    if isinstance(fault, Overloaded):
        remedy = "what waits in all batches together is limited: submit once others have ended"
        return Overloaded(f"{fault} ({remedy})", fault.retry_after)
    if isinstance(fault, UnacceptableRequest):
        return UnacceptableRequest(
            f"{fault} (the batch was not created: submit fewer requests at once)"
        )
    if isinstance(fault, ModelUnavailable):
        server = ", ".join(model.base_urls) or "the provider"
        key = f"{model.key_variable} holds a key" if model.key_variable else "you"
        return ModelUnavailable(
            f"{fault} (the batch was not created: see that {server} has batches of {model.model} "
            f"and that {key} may create them)"
        )
    return fault
