"""Answers that were stored with a device in their key, as those of local models once were."""

from collections.abc import Sequence

from resources.calls import CallStore
from resources.models.catalog import Model
from resources.models.entry import ON_DEVICES
from resources.models.requests import Request, call_keys, kind_of


def stored_keys(calls: CallStore, model: Model, requests: Sequence[Request]) -> list[str]:
    """The key of each request, or the one with a device where only that one has an answer."""
    keys = call_keys(model, requests)
    kinds = {kind_of(request) for request in requests} if model.backend in ON_DEVICES else set()
    devices = sorted({device for kind in kinds for device in calls.devices(model, kind)})
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
