"""Batches at providers: submitted, found again, followed, collected, and given up."""

from resources.batches.collecting import collect
from resources.batches.following import cancel, find_lost, follow, forget
from resources.batches.providers import Providers
from resources.batches.submitting import Order, Submitted, submit

__all__ = [
    "Order",
    "Providers",
    "Submitted",
    "cancel",
    "collect",
    "find_lost",
    "follow",
    "forget",
    "submit",
]
