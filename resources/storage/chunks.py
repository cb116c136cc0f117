"""Chunks of sequences that are too long for memory."""

from collections.abc import Iterable, Iterator
from itertools import islice
from typing import TypeVar

Item = TypeVar("Item")

CHUNK_SIZE = 1000


def split_into_chunks(items: Iterable[Item], size: int | None = None) -> Iterator[list[Item]]:
    """Iterate over lists of a thousand items, or of `size`, the last one shorter.

    Keeps none of those that it has given: the memory of long items is that of one chunk.
    """
    remaining = iter(items)
    return iter(lambda: list(islice(remaining, size or CHUNK_SIZE)), [])
