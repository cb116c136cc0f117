"""Legacy keys: calls of local models once had a device in their key."""

import re
from collections.abc import Sequence

from resources.calls import CallStore
from resources.calls.call import canonical_text
from resources.models.catalog import Model
from resources.models.entry import ON_DEVICES
from resources.models.requests import Request, call_keys, canonical, kind_of

_PARAMETERS = ',"parameters":{'
_DEVICE = re.compile(r'"device":"([^"\\]+)"')


def stored_keys(calls: CallStore, model: Model, requests: Sequence[Request]) -> list[str]:
    """The key of each request, or the one with a device where only that one has an answer."""
    keys = call_keys(model, requests)
    kinds = {kind_of(request) for request in requests} if model.backend in ON_DEVICES else set()
    devices = sorted({device for kind in kinds for device in _devices(calls, model, kind)})
    if not devices:
        return keys
    held = calls.holds(keys)
    for device in devices:
        missing = [place for place, key in enumerate(keys) if key not in held]
        former = call_keys(model, [requests[place] for place in missing], device)
        there = calls.holds(former)
        for place, key in zip(missing, former, strict=True):
            if key in there:
                keys[place] = key
        held |= there
    return keys


def _devices(calls: CallStore, model: Model, kind: str) -> set[str]:
    """The devices in the keys of stored calls of a kind to a local model, on any parameters."""
    whole = canonical_text(canonical(model, kind, {}))
    begins = whole[: whole.index(_PARAMETERS) + len(_PARAMETERS)]
    heads = calls.heads(begins)
    return {found[1] for head in heads if (found := _DEVICE.search(head, len(begins)))}
