"""What batches of all providers share: files of one JSON object a line, and what faults mean.

A file can be larger than memory, so it is written and read line by line.
"""

import json
import re
from abc import ABC, abstractmethod
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from dataclasses import asdict
from tempfile import TemporaryFile
from typing import IO, TypeVar

from pydantic import BaseModel

from resources.models.backends.base import BatchState, PictureOf
from resources.models.backends.reply_schemas import Shape, shaped
from resources.models.catalog import Model
from resources.models.replies import (
    Closed,
    Fault,
    Interrupted,
    NoAnswer,
    Overloaded,
    Reply,
    Unacceptable,
    UnparsableReply,
)
from resources.models.requests import Edit, Look, Paint, Request, Score, Write

_AROUND_A_LINE, _AROUND_A_PART = 512, 128
"""Bytes, at most, of what a provider's format puts around a request, and around each part."""
_HEAD, _LONGEST_NAME = 4096, 200
"""Where in a line its name is looked for, if nothing else of it can be read, and how long it is."""


class Result(BaseModel):
    """A line of results: what came of the request of this name."""

    name: str


Line = TypeVar("Line", bound=Result)


def line_size(model: Model, request: Request, picture: PictureOf) -> int:
    """How many bytes a request takes in a file, at most: its pictures are sent as base64."""
    turns = request.turns if isinstance(request, Write | Look) else ()
    images = [image for turn in turns for image in turn.images]
    images += request.images if isinstance(request, Edit) else ()
    words = len(json.dumps([asdict(request), model.model, model.parameters]))
    parts = _AROUND_A_PART * (len(turns) + len(images))
    encoded = sum(4 * (len(picture(image)) + 2) // 3 for image in images)
    return _AROUND_A_LINE + words + parts + encoded


async def lines_of(chunks: AsyncIterator[bytes], longest: int) -> AsyncIterator[bytes]:
    """The lines of a file that arrives in chunks; of a longer one, `longest` bytes and one more.

    Only a line feed ends one: JSON may hold all else that Python takes for the end of a line.
    """
    begun = bytearray()
    async for chunk in chunks:
        *ended, rest = chunk.split(b"\n")
        for line in ended:
            begun += line[: longest + 1 - len(begun)]
            yield bytes(begun)
            begun.clear()
        begun += rest[: longest + 1 - len(begun)]
    yield bytes(begun)


async def results_of(
    lines: AsyncIterator[bytes],
    shape: type[Line],
    read: Callable[[Line], Awaitable[Reply]],
    longest: int,
) -> AsyncIterator[tuple[str, Reply | Fault]]:
    """What lines of results say, by name, as `BatchBackend.results` promises it.

    One that is longer than `longest` bytes, or no result, is still that of the request it names.
    """
    seen: set[str] = set()
    torn = 0
    async for data in lines:
        if not data.strip():
            continue
        name, line = _named(data, shape, longest)
        if name is None:
            torn += 1
        if name is None or name in seen:
            continue
        seen.add(name)
        yield name, await _ended(line, read)
    if torn and not seen:
        raise Interrupted("Not one line of the results of the batch can be read: collect it again.")
    if torn:
        raise UnparsableReply(
            f"{torn:,} of the lines in the results of the batch cannot be read; {len(seen):,} can. "
            "Collect it once more: if they stay unreadable, ask those requests again."
        )


def _named(data: bytes, shape: type[Line], longest: int) -> tuple[str | None, Line | NoAnswer]:
    """The name in a line, None where it has none, with what it says, or why it says nothing."""
    said: Line | NoAnswer
    if len(data) > longest:
        said = NoAnswer(f"The reply has more than {longest:,} bytes.")
    else:
        try:
            said = shaped(shape, data)
        except NoAnswer as fault:
            said = fault
        except Interrupted:
            return None, NoAnswer("")
    if not isinstance(said, NoAnswer):
        return said.name if len(said.name) <= _LONGEST_NAME else None, said
    # A quotation mark within text is written as \", so that this is the name of a field.
    alias = (shape.model_fields["name"].alias or "name").encode()
    found = re.search(rb'"%b"\s*:\s*"([^"\\]{1,%d})"' % (alias, _LONGEST_NAME), data[:_HEAD])
    return found and found[1].decode(errors="replace"), said


async def _ended(line: Line | NoAnswer, read: Callable[[Line], Awaitable[Reply]]) -> Reply | Fault:
    """How the request of a line ended."""
    try:
        return line if isinstance(line, NoAnswer) else await read(line)
    except Fault as fault:
        return fault


class FileBatches(ABC):
    """What `BatchBackend` promises, for a provider that takes batches as uploaded files."""

    _model: Model
    _picture: PictureOf

    def line_size(self, request: Request) -> int:
        """How many bytes a request takes in a batch's file, at most."""
        return line_size(self._model, request, self._picture)

    async def submit(self, requests: Mapping[str, Request], tag: str) -> str:
        """Upload requests of one kind, and create their batch; gives its id."""
        uploaded = ""
        with TemporaryFile() as file:
            where = await self._write_lines(requests, file)
            try:
                uploaded = await self._upload(file)
                return await self._create(uploaded, where, tag)
            except Fault as fault:
                problem = not_created(fault, self._model, uploaded=bool(uploaded))
        raise problem

    async def cancel(self, batch: str) -> None:
        """Ask the provider to stop a batch; one that is over already is left as it is."""
        try:
            await self._stop(batch)
            return
        except Fault as fault:
            problem = fault
        if (await self.state(batch)).word == "running":
            raise problem

    def _not_a_score(self, request: Request) -> Write | Look | Paint | Edit:
        if isinstance(request, Score):
            raise Unacceptable(f"{self._model.name} cannot score: ask a metric.")
        return request

    @abstractmethod
    async def state(self, batch: str) -> BatchState:
        """How a batch stands."""

    @abstractmethod
    async def _write_lines(self, requests: Mapping[str, Request], file: IO[bytes]) -> str:
        """Write one line for each request; gives the endpoint that all of them share."""

    @abstractmethod
    async def _upload(self, file: IO[bytes]) -> str:
        """Send a file of requests; gives its name at the provider."""

    @abstractmethod
    async def _create(self, file: str, where: str, tag: str) -> str:
        """Create the batch of an uploaded file at an endpoint; gives its id."""

    @abstractmethod
    async def _stop(self, batch: str) -> None:
        """Cancel a batch; raises a fault where it is over."""


def told(shape: type[Shape], body: bytes) -> Shape:
    """What a reply about batches says; nothing was paid for one that cannot be read."""
    try:
        return shaped(shape, body)
    except (NoAnswer, Interrupted) as fault:
        problem = str(fault)
    raise Interrupted(problem, possibly_paid=False)


def not_created(fault: Fault, model: Model, *, uploaded: bool) -> Fault:
    """The fault of a batch that was not created, with what to do.

    Once its file is uploaded, it may have been created unheard.
    """
    if type(fault) in (Interrupted, NoAnswer):
        return Interrupted(str(fault), possibly_paid=uploaded)
    if isinstance(fault, Overloaded):
        remedy = "what waits in all batches together is limited: submit once others have ended"
        return Overloaded(f"{fault} ({remedy})", fault.retry_after)
    if isinstance(fault, Unacceptable):
        return Unacceptable(f"{fault} (the batch was not created: submit fewer requests at once)")
    if isinstance(fault, Closed):
        where = model.base_url or "the provider"
        key = f"{model.key_variable} holds a key" if model.key_variable else "you"
        return Closed(
            f"{fault} (the batch was not created: see that {where} has batches of {model.model} "
            f"and that {key} may create them)"
        )
    return fault
