"""Chunks of sequences that are too long for memory."""

from collections.abc import Iterable, Iterator
from itertools import islice
from typing import TypeVar

Item = TypeVar("Item")

CHUNK_SIZE = 1000


def split_into_chunks(items: Iterable[Item]) -> Iterator[list[Item]]:
    """Yield lists of a thousand items, the last one shorter, as they are needed."""
    remaining = iter(items)
    while chunk := list(islice(remaining, CHUNK_SIZE)):
        yield chunk
