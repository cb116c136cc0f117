"""Files of results: a JSON object a line, read line by line, for they can exceed the memory."""

import re
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import TypeVar

from pydantic import BaseModel

from resources.models.backends.reply_schemas import Shape, parse_reply
from resources.models.replies import (
    Interrupted,
    ModelReply,
    NoAnswer,
    RequestFault,
    UnparsableReply,
)

_HEAD, _LONGEST_NAME = 4096, 200
"""Bytes of an unreadable line that are searched for its name, and the longest name."""


class ResultLine(BaseModel):
    """A line of results: what came of the request of this name."""

    name: str


Line = TypeVar("Line", bound=ResultLine)


async def split_lines(chunks: AsyncIterator[bytes], longest: int) -> AsyncIterator[bytes]:
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


async def read_results(
    lines: AsyncIterator[bytes],
    shape: type[Line],
    read: Callable[[Line], Awaitable[ModelReply]],
    longest: int,
) -> AsyncIterator[tuple[str, ModelReply | RequestFault]]:
    """Parse lines of results, by request name, as `BatchBackend.results` promises it.

    One that is longer than `longest` bytes, or no result, is still that of the request it names.
    """
    seen_names: set[str] = set()
    unreadable_count = 0
    async for data in lines:
        if not data.strip():
            continue
        name, line = _read_name(data, shape, longest)
        if name is None:
            unreadable_count += 1
        if name is None or name in seen_names:
            continue
        seen_names.add(name)
        yield name, await _build_ending(line, read)
    if unreadable_count and not seen_names:
        raise Interrupted("Not one line of the results of the batch can be read: collect it again.")
    if unreadable_count:
        raise UnparsableReply(
            f"{unreadable_count:,} of the lines in the results of the batch cannot be read; "
            f"{len(seen_names):,} can. Collect it once more: if they stay unreadable, ask those "
            "requests again."
        )


def _read_name(data: bytes, shape: type[Line], longest: int) -> tuple[str | None, Line | NoAnswer]:
    """The name in a line, None where it has none, with what it says, or why it says nothing."""
    result: Line | NoAnswer
    if len(data) > longest:
        result = NoAnswer(f"The reply has more than {longest:,} bytes.")
    else:
        try:
            result = parse_reply(shape, data)
        except NoAnswer as fault:
            result = fault
        except Interrupted:
            return None, NoAnswer("")
    if not isinstance(result, NoAnswer):
        return result.name if len(result.name) <= _LONGEST_NAME else None, result
    # A quotation mark within text is written as \", so that this is the name of a field.
    alias = (shape.model_fields["name"].alias or "name").encode()
    match = re.search(rb'"%b"\s*:\s*"([^"\\]{1,%d})"' % (alias, _LONGEST_NAME), data[:_HEAD])
    return match and match[1].decode(errors="replace"), result


async def _build_ending(
    line: Line | NoAnswer, read: Callable[[Line], Awaitable[ModelReply]]
) -> ModelReply | RequestFault:
    """Build the reply or the fault of a line."""
    try:
        return line if isinstance(line, NoAnswer) else await read(line)
    except RequestFault as fault:
        return fault


def parse_batch_reply(shape: type[Shape], body: bytes) -> Shape:
    """Parse a reply about batches; nothing was paid for one that cannot be read."""
    try:
        return parse_reply(shape, body)
    except (NoAnswer, Interrupted) as fault:
        problem = str(fault)
    raise Interrupted(problem, possibly_paid=False)
