"""Chunks of requests in the sizes that a provider takes in one batch."""

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from resources.faults import UnsupportedRequest
from resources.models.backends.base import BatchBackend
from resources.models.catalog import Model
from resources.models.requests import Request, get_request_kind


class KeyedRequest(NamedTuple):
    """A request with the key of its call."""

    key: str
    request: Request


def split_requests(
    model: Model, backend: BatchBackend, requests: Iterable[KeyedRequest]
) -> Iterator[list[KeyedRequest]]:
    """Pieces of one kind of request each, none too many or too large for one batch.

    Raises `CannotDo` for a request that is too large for a batch of its own.
    """
    most, largest = backend.largest_batch
    pieces: dict[str, tuple[list[KeyedRequest], int]] = {}
    for each in requests:
        kind, size = get_request_kind(each.request), backend.line_size(each.request)
        if size > largest:
            raise UnsupportedRequest(
                f"A request to {model.name} takes {size:,} bytes, and a batch there takes "
                f"{largest:,}. Use smaller pictures, or materialize the asset, which asks it alone."
            )
        piece, taken = pieces.get(kind, ([], 0))
        if piece and (len(piece) == most or taken + size > largest):
            yield piece
            piece, taken = [], 0
        piece.append(each)
        pieces[kind] = piece, taken + size
    for piece, _ in pieces.values():
        yield piece
