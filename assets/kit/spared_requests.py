"""Requests that a rule spares: its verdict is certain, so that no model is asked for one."""

from collections.abc import Iterable
from typing import NamedTuple

from resources.calls import CallStore
from resources.calls.spending import NANO
from resources.models.catalog import Model
from resources.models.pricing import compute_cost, estimate_usage, list_images
from resources.models.replies import Usage
from resources.models.requests import (
    Request,
    build_canonical_head,
    compute_call_keys,
    get_request_kind,
)
from resources.storage.image_store import ImageStore

RULE = "rule"
"""The value of `decided_by` in a row that no model is asked about."""


class SparedRequests(NamedTuple):
    """Number of requests that rules spare, and their expected cost.

    `nano` is in billionths of a dollar, and None where the cost is unknown.
    """

    number: int = 0
    nano: int | None = 0

    def describe(self) -> str:
        """Describe them, such as "12 requests decided by rule, about $0.0400 not spent"."""
        requests = f"{self.number:,} request{'' if self.number == 1 else 's'} decided by rule"
        if self.nano is None:
            return f"{requests}, not sent; what they would have cost is unknown"
        if not self.nano:
            return f"{requests}, not sent; they would have cost nothing"
        dollars = self.nano / NANO
        amount = f"${dollars:,.4f}" if dollars >= 0.0001 else "less than $0.0001"
        return f"{requests}, about {amount} not spent"


def count_spared(
    model: Model, requests: Iterable[Request], calls: CallStore, images: ImageStore
) -> SparedRequests:
    """Count and price the requests that rules spare; none that is answered or in a batch."""
    spared = list(dict.fromkeys(requests))
    keys = dict(zip(compute_call_keys(model, spared), spared, strict=True))
    paid = {*calls.holds(keys), *calls.batches.find_waiting_tags(keys)}
    unpaid = [request for key, request in keys.items() if key not in paid]
    if not unpaid:
        return SparedRequests()
    sizes = images.sizes({image for request in unpaid for image in list_images(request)})
    typical = find_typical_usage(calls, model, unpaid[0])
    costs = []
    for request in unpaid:
        usage = typical or estimate_usage(model, request, sizes)
        costs.append(None if usage is None else compute_cost(model, request, usage))
    priced = [cost for cost in costs if cost is not None]
    return SparedRequests(len(unpaid), sum(priced) if len(priced) == len(costs) else None)


def find_typical_usage(calls: CallStore, model: Model, request: Request) -> Usage | None:
    """Find the mean usage of the model's latest answers to requests of a kind; None without any."""
    typical = calls.typical_usage(build_canonical_head(model, get_request_kind(request)))
    return typical and Usage(round(typical.input_tokens), round(typical.output_tokens))
