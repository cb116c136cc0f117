"""Batches at providers: submitted, found again, followed, collected, and given up."""

from resources.batches.collection import collect
from resources.batches.providers import Providers
from resources.batches.submission import BatchOrder, Submitted, submit
from resources.batches.tracking import cancel, find_lost, forget, track

__all__ = [
    "BatchOrder",
    "Providers",
    "Submitted",
    "cancel",
    "collect",
    "find_lost",
    "forget",
    "submit",
    "track",
]
