"""Having a hosted backend answer a batch, over real HTTP."""

import traceback
from collections.abc import Callable, Mapping
from typing import Any

from resources.models.catalog import Model
from resources.models.replies import ModelReply, RequestFault
from resources.models.requests import Request
from tests.resources.models.backends.asking import KEY, Asker

Ends = dict[str, ModelReply | RequestFault]


def used(asker: Asker, model: Model, use: Callable[[Any], Any], key: str | None = KEY) -> Any:
    """What a use of a model's backend comes to; a fault that it raises is given, and is clean."""
    try:
        end = asker.use(model, use, key)
    except RequestFault as fault:
        end = fault
    return checked(end)


def checked(end: Any) -> Any:
    """The same, once it has been seen not to show the key."""
    assert KEY not in repr(end)
    if isinstance(end, RequestFault):
        assert KEY not in "".join(traceback.format_exception(end))
    return end


def submitted(asker: Asker, model: Model, requests: Mapping[str, Request], tag: str = "tag") -> Any:
    """The id of a new batch, or the fault."""
    return used(asker, model, lambda backend: backend.submit(requests, tag))


def collected(asker: Asker, model: Model, batch: str) -> tuple[Ends, RequestFault | None]:
    """The results of a batch once it was asked after, and the fault that comes after them."""
    used(asker, model, lambda backend: backend.state(batch))
    ends: Ends = {}

    async def collect(backend: Any) -> None:
        async for name, end in backend.results(batch):
            assert name not in ends
            ends[name] = checked(end)

    return ends, used(asker, model, collect)


def answered(asker: Asker, model: Model, requests: Mapping[str, Request]) -> Ends:
    """What came of requests that make a batch of their own, which is over at once."""
    ends, fault = collected(asker, model, submitted(asker, model, requests))
    assert fault is None
    return ends
