"""Runs that ended before they began, since a file that a user edits could not be read then."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from hashlib import sha256

from dagster import (
    DagsterEvent,
    DagsterEventType,
    DagsterInstance,
    DagsterRun,
    DagsterRunStatus,
    RunsFilter,
)

from assets.kit.partitions import find_new_collections
from resources.collections import CollectionError, collections_path
from resources.models.catalog import CatalogError, CatalogFiles

TRIED_TAG = "counterfactory/launched_with"
"""The tag of a run that was put into the queue again: the digest of the files it begins with."""
MAX_AGE = timedelta(days=1)
"""Runs that failed longer ago are left to the user."""


def requeue_unstarted(instance: DagsterInstance, files: CatalogFiles) -> Iterator[str]:
    """Put runs into Dagster's queue again, and say so, once the files can be read.

    Nothing of such a run was done or sent: it goes on as itself, whoever launched it, with its
    config, tags and backfill. It is tried once for each content of the files.
    """
    try:
        find_new_collections(instance, files.load())
    except (CatalogError, CollectionError):
        return
    digest = sha256(files.models.read_bytes() + collections_path().read_bytes()).hexdigest()[:16]
    failed = RunsFilter(
        statuses=[DagsterRunStatus.FAILURE], updated_after=datetime.now(UTC) - MAX_AGE
    )
    for record in instance.get_run_records(failed):
        run = record.dagster_run
        if (
            record.start_time is None
            and run.tags.get(TRIED_TAG) != digest
            and _is_unread(instance, run)
        ):
            instance.add_run_tags(run.run_id, {TRIED_TAG: digest})
            message = f"The run {run.run_id} ended before it began: it is launched again."
            event = DagsterEvent(DagsterEventType.RUN_ENQUEUED.value, run.job_name, message=message)
            instance.report_dagster_event(event, run.run_id)
            yield message


def _is_unread(instance: DagsterInstance, run: DagsterRun) -> bool:
    """Return whether a run from Dagster's queue failed with an error while its code was loaded."""
    records = instance.get_records_for_run(run.run_id, of_type=DagsterEventType.ENGINE_EVENT)
    events = (record.event_log_entry.dagster_event for record in records.records)
    errors = any(event and event.engine_event_data.error for event in events)
    return run.remote_job_origin is not None and errors
