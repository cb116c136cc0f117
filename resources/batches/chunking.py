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

    Raises `UnsupportedRequest` for a request that is too large for a batch of its own.
    """
    max_requests, max_bytes = backend.largest_batch
    pieces: dict[str, tuple[list[KeyedRequest], int]] = {}
    for keyed_request in requests:
        kind, size = (
            get_request_kind(keyed_request.request),
            backend.line_size(keyed_request.request),
        )
        if size > max_bytes:
            raise UnsupportedRequest(
                f"A request to {model.name} takes {size:,} bytes, and a batch there takes "
                f"{max_bytes:,}. Use smaller pictures, or materialize the asset, which sends it "
                "alone."
            )
        piece, piece_size = pieces.get(kind, ([], 0))
        if piece and (len(piece) == max_requests or piece_size + size > max_bytes):
            yield piece
            piece, piece_size = [], 0
        piece.append(keyed_request)
        pieces[kind] = piece, piece_size + size
    for piece, _ in pieces.values():
        yield piece
