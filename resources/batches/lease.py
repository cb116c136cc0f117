"""The lease of a batch that is being submitted: held by one process, as long as it lives."""

from collections.abc import Collection, Iterator
from contextlib import contextmanager
from threading import Event, Thread

from dagster import get_dagster_logger

from resources.calls import CallStore
from resources.calls.batch_store import BatchStore
from resources.faults import StoreError

LEASE_S = 120.0
"""Time after a process has ended until the batch that it was submitting is looked for."""


@contextmanager
def hold_lease(batches: BatchStore, owner: str, tags: Collection[str]) -> Iterator[None]:
    """Hold the batches of `tags`, which may change meanwhile, for as long as this lasts."""
    over = Event()

    def renew() -> None:
        while not over.wait(LEASE_S / 4):
            try:
                batches.acquire_leases(list(tags), owner, LEASE_S)
            except StoreError as error:
                get_dagster_logger().warning("Batches are not held: %s", error)

    thread = Thread(target=renew, name="batches", daemon=True)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()


def release_batch(calls: CallStore, tag: str, owner: str) -> None:
    """Forget a batch that was not created, and what was reserved for it."""
    calls.release([pending.booking for pending in calls.batches.iterate_requests(tag)])
    calls.batches.discard(tag, owner)
