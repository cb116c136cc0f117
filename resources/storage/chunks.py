"""Chunks of what is too long to be held at once."""

from collections.abc import Iterable, Iterator
from itertools import islice
from typing import TypeVar

Item = TypeVar("Item")

CHUNK_SIZE = 1000


def split_into_chunks(items: Iterable[Item]) -> Iterator[list[Item]]:
    """Lists of a thousand items, the last one shorter, read as they are asked for."""
    remaining = iter(items)
    while some := list(islice(remaining, CHUNK_SIZE)):
        yield some
