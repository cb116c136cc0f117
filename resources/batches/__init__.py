"""Batches at providers: submitted, found again, followed, collected, and given up."""

from resources.batches.answer_collection import collect
from resources.batches.providers import BatchProviders
from resources.batches.submission import BatchOrder, SubmissionResult, submit
from resources.batches.tracking import cancel, find_lost, forget, track

__all__ = [
    "BatchOrder",
    "BatchProviders",
    "SubmissionResult",
    "cancel",
    "collect",
    "find_lost",
    "forget",
    "submit",
    "track",
]
