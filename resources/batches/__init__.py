"""Batches at providers: submitted, found again, followed, collected, and given up."""

from resources.batches.answer_collection import collect
from resources.batches.providers import BatchProviders
from resources.batches.submission import BatchOrder, SubmissionResult, submit
from resources.batches.tracking import cancel, forget, recover_lost, track

__all__ = [
    "BatchOrder",
    "BatchProviders",
    "SubmissionResult",
    "cancel",
    "collect",
    "forget",
    "recover_lost",
    "submit",
    "track",
]
