"""A step looks at its run before it sends, and while it sends."""

import subprocess
import sys
import time
from datetime import UTC, datetime
from threading import Thread
from unittest.mock import Mock

import pytest
from dagster import DagsterInstance, DagsterRun, DagsterRunStatus
from dagster._core.execution.backfill import BulkActionStatus, PartitionBackfill
from dagster._core.storage.tags import BACKFILL_ID_TAG

from resources.execution.executors import PROCESS_TAG
from resources.execution.process_identity import identify_process, identify_this_process
from resources.execution.run_watch import RunWatch
from resources.faults import RunEnded
from resources.models import dispatch
from tests.providers import Provider
from tests.resources.models.conftest import LOG, client_at, looks, model

STARTED = DagsterRunStatus.STARTED
BACKFILL = "backfill-1"


@pytest.fixture
def instance():
    with DagsterInstance.ephemeral() as instance:
        yield instance


def watched(instance, status=STARTED, **tags):
    run = DagsterRun("job", status=status, tags=tags)
    instance.add_run(run)
    return RunWatch(instance, run.run_id), run


@pytest.mark.parametrize(
    ("status", "may_go_on"),
    [
        (STARTED, True),
        (DagsterRunStatus.STARTING, True),
        (DagsterRunStatus.CANCELING, False),
        (DagsterRunStatus.CANCELED, False),
        (DagsterRunStatus.FAILURE, False),
    ],
)
def test_a_run_that_was_cancelled_or_ended_by_others_stops(instance, status, may_go_on):
    watch, run = watched(instance, status)
    assert (watch.find_stop_reason() == "") is may_go_on
    instance.delete_run(run.run_id)
    assert watch.find_stop_reason() == "The run was deleted."


def test_a_run_whose_process_is_gone_stops(instance):
    watch, run = watched(instance)
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as child:
        gone = identify_process(child.pid)
        child.kill()
    for worker, reason in (
        (identify_this_process(), ""),
        (gone, "The process of the run was killed."),
    ):
        instance.add_run_tags(run.run_id, {PROCESS_TAG: f"{run.run_id} {worker}"})
        assert watch.find_stop_reason() == reason


@pytest.mark.parametrize("status", BulkActionStatus)
def test_a_run_of_a_cancelled_backfill_stops_before_dagster_ends_it(instance, status):
    watch, _ = watched(instance, **{BACKFILL_ID_TAG: BACKFILL})
    moment = datetime.now(UTC).timestamp()
    backfill = PartitionBackfill(
        BACKFILL,
        status,
        from_failure=False,
        tags={},
        backfill_timestamp=moment,
        partition_names=["a"],
    )
    instance.add_backfill(backfill)
    stops = {"CANCELING", "CANCELED", "FAILING", "FAILED"}
    assert (watch.find_stop_reason() == "The backfill was cancelled.") is (status.value in stops)


def test_nothing_more_is_sent_of_a_run_that_is_cancelled_meanwhile(tmp_path, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "sk-test")
    monkeypatch.setattr(dispatch, "WATCH_INTERVAL_S", 0.05)
    client, log = client_at(tmp_path), Mock()
    # Two threads look it up, for which one in memory is not made.
    with DagsterInstance.local_temp(str(tmp_path)) as instance, Provider() as server:
        client._watch, run = watched(instance)
        server.held = lambda _: "Nothing more is sent" not in str(log.warning.call_args_list)
        entry, requests = model(server, concurrency=2), looks(9)
        cancelling = Thread(target=cancel_at, args=(instance, run, server, 2))
        cancelling.start()
        with pytest.raises(RunEnded, match=r"cancelled.*Of 9 requests, 2 are answered and kept"):
            client.ask(entry, requests, log)
        cancelling.join()
        with pytest.raises(RunEnded, match=r"cancelled or has ended\. Nothing was sent\."):
            client.ask(entry, requests, LOG)
        assert server.count == 2
    client.close()
    client.calls.close()


def cancel_at(instance, run, server, count):
    """Cancel a run once so many requests are in flight."""
    while server.count < count:
        time.sleep(0.005)
    instance.report_run_canceling(run)
