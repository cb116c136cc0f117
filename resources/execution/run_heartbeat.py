"""Heartbeats of runs: counts among their tags, for those who cannot see their processes.

A container that was restarted cannot tell whether the processes of the one before it go on, nor
one machine those of another.
"""

import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from dagster import DagsterInstance, DagsterRun

HEARTBEAT_TAG = "counterfactory/heartbeat"
INTERVAL_S = 60.0


@contextmanager
def beat(instance: DagsterInstance, run_id: str) -> Iterator[None]:
    """Count up a run's heartbeat every minute, in a thread of its own."""
    ended = threading.Event()

    def count_up() -> None:
        count = 0
        while not ended.wait(INTERVAL_S):
            count += 1
            # A database that is away, or a run that was deleted, ends no run here.
            with suppress(Exception):
                instance.add_run_tags(run_id, build_heartbeat(run_id, count))

    thread = threading.Thread(target=count_up, name="heartbeat", daemon=True)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()


def build_heartbeat(run_id: str, count: int) -> dict[str, str]:
    """Build the tag of a run's heartbeat."""
    return {HEARTBEAT_TAG: f"{run_id} {count}"}


def find_heartbeat(run: DagsterRun) -> str:
    """Find the heartbeat of a run; empty before it has one.

    A run that is executed again starts with the tags of the one before.
    """
    heartbeat = run.tags.get(HEARTBEAT_TAG, "")
    return heartbeat if heartbeat.startswith(f"{run.run_id} ") else ""
