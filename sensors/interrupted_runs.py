"""The sensor that ends runs whose process is gone, and launches again those of automation."""

import json
import socket
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from dagster import (
    DagsterEventType,
    DagsterInstance,
    DagsterRun,
    DagsterRunStatus,
    DefaultSensorStatus,
    RunRequest,
    RunsFilter,
    SensorDefinition,
    SensorEvaluationContext,
    SensorResult,
    sensor,
)

from resources.execution.dagster_internals import (
    GRPC_INFO_TAG,
    SCHEDULE_NAME_TAG,
    SENSOR_NAME_TAG,
    find_stopped_launchers,
)
from resources.execution.executors import PROCESS_TAG, find_process
from resources.execution.run_heartbeat import HEARTBEAT_TAG, find_heartbeat
from resources.models.catalog import CatalogFiles
from sensors.unstarted_runs import requeue_unstarted

INTERVAL_S = 15
SILENT_TICKS = 20
"""Ticks without a heartbeat after which a run is ended whose process cannot be seen: 5 minutes.
They are counted, since a machine that was asleep has missed both."""
RELAUNCHED_TAG = "counterfactory/again"
"""The tag of a run that was launched in place of one whose process was gone: that one's id."""
_STARTING, _CANCELING = DagsterRunStatus.STARTING, DagsterRunStatus.CANCELING
_UNDER_WAY = [_STARTING, DagsterRunStatus.STARTED, _CANCELING]


def interrupted_runs_sensor(jobs: Sequence[Any], files: CatalogFiles) -> SensorDefinition:
    """The sensor `interrupted_runs`, which runs unless it is turned off.

    A run ends as failed, or canceled, once its process is gone, whoever launched it. Of `jobs`, a
    run that a sensor or schedule launched is launched again, once, unless the user has terminated
    it or turned that one off; all others are left to the user. One that had finished its last step
    is not. Runs of other machines and containers are judged by their heartbeats.

    A run that ended before it began, since models.yaml could not be read, is queued again.
    """
    named = {job.name for job in jobs}

    @sensor(
        name="interrupted_runs",
        jobs=list(jobs),
        minimum_interval_seconds=INTERVAL_S,
        default_status=DefaultSensorStatus.RUNNING,
        description="Ends runs whose process was killed, and launches a sensor's or schedule's run "
        "again, once. Requeues runs that began while models.yaml could not be read.",
    )
    def interrupted_runs(context: SensorEvaluationContext) -> SensorResult:
        requests: list[RunRequest] = []
        messages = [*requeue_unstarted(context.instance, files)]
        heartbeats = Heartbeats(context.cursor)
        for run in end_interrupted(context.instance, heartbeats.has_lost_process):
            messages.append(
                f"The process of the run {run.run_id} ({run.job_name}) is gone: it ended."
            )
            if _is_done(context.instance, run):
                messages[-1] += " All of its tables are there, so that it is not launched again."
            elif run.job_name in named and _is_automatic(run) and RELAUNCHED_TAG not in run.tags:
                if off := _find_turned_off(context.instance, run):
                    messages[-1] += (
                        f" It is not launched again, since {off} is turned off by now: materialize "
                        "it yourself, if it is still wanted."
                    )
                else:
                    requests.append(_build_retry(run))
            context.log.warning("%s", messages[-1])
        if requests:
            return SensorResult(run_requests=requests, cursor=heartbeats.cursor)
        reason = "\n".join(messages or ["No run was interrupted."])
        return SensorResult(skip_reason=reason, cursor=heartbeats.cursor)

    return interrupted_runs


class Heartbeats:
    """The heartbeats of runs whose processes cannot be seen, with the ticks since they changed.

    `cursor` keeps them from one tick to the next.
    """

    def __init__(self, cursor: str | None) -> None:
        self._previous: dict[str, tuple[str, int]] = json.loads(cursor or "{}")
        self._current: dict[str, tuple[str, int]] = {}

    @property
    def cursor(self) -> str:
        """The heartbeats of the runs that were looked at."""
        return json.dumps(self._current)

    def has_lost_process(self, run: DagsterRun) -> bool:
        """Return whether the process of a run has ended, or has given no sign of life for long."""
        process, heartbeat = find_process(run), find_heartbeat(run)
        if not heartbeat or (process is not None and process.is_visible):
            return has_lost_process(run)
        previous, ticks = self._previous.get(run.run_id, ("", 0))
        ticks = ticks + 1 if previous == heartbeat else 0
        self._current[run.run_id] = heartbeat, ticks
        return ticks >= SILENT_TICKS


def end_interrupted(
    instance: DagsterInstance, is_lost: Callable[[DagsterRun], bool] | None = None
) -> Iterator[DagsterRun]:
    """End the runs whose process is gone, with their places in pools; each as it stood then."""
    is_lost = is_lost or has_lost_process
    for candidate in instance.get_runs(RunsFilter(statuses=_UNDER_WAY)):
        if is_lost(candidate) and (run := _end(instance, candidate.run_id)) is not None:
            # Dagster frees them as well, some seconds later, where its daemon runs.
            instance.event_log_storage.free_concurrency_slots_for_run(run.run_id)
            yield run


def has_lost_process(run: DagsterRun) -> bool:
    """Return whether the process of a run under way has ended.

    Before it has one, it is that of the code server which was to start it.
    """
    process = find_process(run)
    if process is not None:
        return process.has_ended
    return run.status is _STARTING and _refuses(run)


def _refuses(run: DagsterRun) -> bool:
    """Return whether the socket of the run's code server, on this machine, refuses connections."""
    path = json.loads(run.tags.get(GRPC_INFO_TAG, "{}")).get("socket")
    if path is None:
        return False
    with socket.socket(socket.AF_UNIX) as probe:
        try:
            probe.connect(path)
        except ConnectionRefusedError:
            return True
        except OSError:
            return False
    return False


def _end(instance: DagsterInstance, run_id: str) -> DagsterRun | None:
    """End a run, and give it as it stood; None if it has ended by itself between two looks."""
    run = instance.get_run_by_id(run_id)
    if run is None or run.status not in _UNDER_WAY:
        return None
    if run.status is _CANCELING:
        instance.report_run_canceled(run, "Run: its process has ended.")
        return run
    instance.report_run_failed(
        run,
        "Run: its process is gone. It was killed, or its machine or container was restarted, or "
        "has not reached the instance's database for five minutes. What was finished "
        "is kept: materialize again, and only the rest is made.",
    )
    return run


def _is_done(instance: DagsterInstance, run: DagsterRun) -> bool:
    """Return whether all steps of a run succeeded before its process was killed."""
    if run.execution_plan_snapshot_id is None:
        return False
    plan = instance.get_execution_plan_snapshot(run.execution_plan_snapshot_id)
    successes = instance.get_records_for_run(run.run_id, of_type=DagsterEventType.STEP_SUCCESS)
    done = {record.event_log_entry.step_key for record in successes.records}
    return done >= {*plan.step_keys_to_execute}


def _is_automatic(run: DagsterRun) -> bool:
    return run.status is not _CANCELING and not run.tags.keys().isdisjoint(
        (SENSOR_NAME_TAG, SCHEDULE_NAME_TAG)
    )


def _find_turned_off(instance: DagsterInstance, run: DagsterRun) -> str | None:
    """The sensor or schedule that launched a run, where the user has turned it off since."""
    launchers = {run.tags.get(name) for name in (SENSOR_NAME_TAG, SCHEDULE_NAME_TAG)}
    return next((name for name in find_stopped_launchers(instance, run) if name in launchers), None)


def _build_retry(run: DagsterRun) -> RunRequest:
    """A run of the same, with the tags that say what it is for."""
    tags = {
        name: value
        for name, value in run.tags.items()
        if name.startswith(("counterfactory/", "dagster/partition"))
        and name not in (PROCESS_TAG, HEARTBEAT_TAG)
    }
    return RunRequest(
        run_key=f"again {run.run_id}",
        job_name=run.job_name,
        run_config=run.run_config,
        asset_selection=list(run.asset_selection) if run.asset_selection else None,
        partition_key=run.tags.get("dagster/partition"),
        tags={**tags, RELAUNCHED_TAG: run.run_id},
    )
