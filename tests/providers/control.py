"""Looking at a provider, and telling it what to do, from another process."""

import json
from collections import Counter
from typing import TYPE_CHECKING, Any

from tests.providers.batches import Course
from tests.providers.faults import BY_NAME, Fault
from tests.providers.http import HttpRequest, Response, json_response

if TYPE_CHECKING:
    from tests.providers.server import Provider


def control(provider: "Provider", request: HttpRequest) -> Response:
    """`GET /_count`, `GET /_received` for a `summary`, `POST /_plan` as `planned` describes."""
    match request.method, request.path:
        case "GET", "/_count":
            return json_response(provider.count)
        case "GET", "/_received":
            return json_response(summary(provider))
        case "POST", "/_plan":
            planned(provider, json.loads(request.body))
            return json_response({})
    raise LookupError(f"There is no {request.method} {request.path} to control a provider with")


def summary(provider: "Provider") -> dict[str, Any]:
    """What came: how many requests by path, when each began, what each asked by its digest.

    And the batches by their tags, with the ends of those that are over.
    """
    return {
        "count": provider.count,
        "paths": Counter(received.path for received in provider.received),
        "in_flight": provider.in_flight,
        "most_in_flight": provider.most_in_flight,
        "at": [received.at for received in provider.received],
        "digests": [received.digest for received in provider.received],
        "batches": [(batch.tag, batch.end) for batch in provider.batches.all.values()],
    }


def planned(provider: "Provider", plan: dict[str, Any]) -> None:
    """Follow a plan as JSON: `clear`, then `script`, `shares` with a `seed`, `always`, `latency_s`.

    While more than `held_after` requests have come, none is answered; null lifts that. `models` are
    those that providers list from now on, by provider. `course` has fields of the `Course` of each
    batch that is created from now on. A fault is its name, or its name and its seconds.
    """
    if plan.pop("clear", False):
        provider.clear()
    if "script" in plan:
        provider.script([_fault(entry) for entry in plan.pop("script")])
    if "shares" in plan:
        shares = {_fault(entry): share for entry, share in plan.pop("shares")}
        provider.shares(shares, plan.pop("seed", 0))
    if "always" in plan:
        provider.always(_fault(plan.pop("always")))
    if "latency_s" in plan:
        provider.latency_s = plan.pop("latency_s")
    if "held_after" in plan:
        most = plan.pop("held_after")
        provider.held = lambda _: most is not None and provider.count > most
    if "models" in plan:
        provider.models |= plan.pop("models")
    if "course" in plan:
        course = Course(**plan.pop("course"))
        provider.batches.course = lambda _: course
    if plan:
        raise ValueError(f"Not part of a plan: {plan}")


def _fault(entry: str | list[Any]) -> Fault:
    if isinstance(entry, str):
        return BY_NAME[entry]
    name, seconds = entry
    return BY_NAME[name].for_seconds(seconds)
