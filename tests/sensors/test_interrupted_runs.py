"""A run whose process was killed ends, and what automation had launched goes on, once."""

import errno
import os
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest
from dagster import (
    DagsterEvent,
    DagsterEventType,
    DagsterRun,
    DagsterRunStatus,
    DefaultSensorStatus,
    build_sensor_context,
    materialize,
)
from dagster._core.definitions.run_request import InstigatorType
from dagster._core.events import EngineEventData
from dagster._core.remote_origin import InProcessCodeLocationOrigin, RemoteRepositoryOrigin
from dagster._core.scheduler.instigation import (
    InstigatorState,
    InstigatorStatus,
    SensorInstigatorData,
)
from dagster._core.storage.schedules import SqliteScheduleStorage
from dagster._core.types.loadable_target_origin import LoadableTargetOrigin
from dagster._core.utils import make_new_run_id
from dagster._utils.error import SerializableErrorInfo

from assets.kit.benchmarks import build_job_specs
from assets.kit.jobs import build_jobs
from assets.kit.partitions import partition_tags
from assets.vlmbias.common import photographs
from resources.execution.executors import PROCESS_TAG
from resources.execution.process_identity import identify_process, identify_this_process
from resources.execution.run_heartbeat import beat, build_heartbeat, find_heartbeat
from sensors.interrupted_runs import RELAUNCHED_TAG, SILENT_TICKS, interrupted_runs_sensor
from sensors.painter_backlog import PAINTER_TAG
from tests.sensors.bench import ASSETS, IMAGE_PAIRS, REPORT, SKETCH
from tests.waiting import wait_for

pytestmark = pytest.mark.filterwarnings("ignore:Non-compliant tag keys:DeprecationWarning")
# Those are Dagster's own, of a partition in two dimensions.

STARTING, STARTED = DagsterRunStatus.STARTING, DagsterRunStatus.STARTED
CANCELING, CANCELED = DagsterRunStatus.CANCELING, DagsterRunStatus.CANCELED
FAILURE, SUCCESS = DagsterRunStatus.FAILURE, DagsterRunStatus.SUCCESS
QUEUED = DagsterRunStatus.QUEUED
QUIET = {"loggers": {"console": {"config": {"log_level": "CRITICAL"}}}}


@pytest.fixture(scope="module")
def killed():
    """A process as it was written down, and that was killed since."""
    child = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    written = identify_process(child.pid)
    assert not written.has_ended
    child.kill()
    until = time.monotonic() + 60
    while not written.has_ended and time.monotonic() < until:
        time.sleep(0.01)
    # It is gone before its parent has asked how it ended, and afterwards.
    assert written.has_ended
    child.communicate()
    assert written.has_ended
    return written


def repository_at(location):
    target = LoadableTargetOrigin(module_name="definitions")
    return RemoteRepositoryOrigin(
        InProcessCodeLocationOrigin(target, location_name=location), "repository"
    )


def begun(bench, written, status=STARTED, job="__ASSET_JOB", **tags):
    run_id = make_new_run_id()
    run = DagsterRun(
        job,
        run_id,
        status=status,
        tags={PROCESS_TAG: f"{run_id} {written}"} | tags if written else tags,
        asset_selection=frozenset([IMAGE_PAIRS]),
        remote_job_origin=repository_at("here").get_job_origin(job),
        run_config={"resources": {"budget": {"config": {"per_run_usd": 1.0}}}},
    )
    bench.instance.add_run(run)
    return run.run_id


@pytest.fixture
def tick(bench):
    """What a tick launches, and what it says."""
    sensor = interrupted_runs_sensor(build_jobs(build_job_specs(ASSETS), ASSETS).all, bench.files)
    bench.models()
    assert sensor.default_status is DefaultSensorStatus.RUNNING

    cursor = None

    def tick():
        nonlocal cursor
        with build_sensor_context(instance=bench.instance, cursor=cursor) as context:
            said = sensor(context)
        cursor = said.cursor
        return said.run_requests or [], said.skip_reason.skip_message if said.skip_reason else ""

    return tick


@pytest.fixture(scope="module")
def storage(tmp_path_factory):
    return SqliteScheduleStorage.from_local(str(tmp_path_factory.mktemp("schedules")))


@pytest.fixture
def schedules(bench, storage):
    """Which sensors and schedules were turned on and off: instances in memory do not keep that."""
    storage.wipe()
    bench.instance._schedule_storage = storage


def status(bench, run):
    return bench.instance.get_run_by_id(run).status


@pytest.mark.parametrize(("under_way", "then"), [(STARTED, FAILURE), (CANCELING, CANCELED)])
def test_a_run_whose_process_is_gone_ends_and_says_what_to_do(bench, tick, killed, under_way, then):
    run = begun(bench, killed, under_way)
    runs, said = tick()
    assert runs == []
    assert run in said
    assert status(bench, run) is then
    assert tick() == ([], "No run was interrupted.")
    logged = "".join(entry.dagster_event.message for entry in bench.instance.all_logs(run))
    assert ("materialize again" in logged) == (then is FAILURE)


def test_no_run_ends_that_goes_on_or_that_nothing_can_be_said_of(bench, tick, killed):
    """A process on another machine is none of ours, whether its number is alive here or not."""
    alive = identify_this_process()
    left = [
        begun(bench, alive),
        begun(bench, killed._replace(host="elsewhere")),
        begun(bench, None),
        begun(bench, "who knows"),
        begun(bench, killed, SUCCESS),
    ]
    before = [status(bench, run) for run in left]
    assert tick() == ([], "No run was interrupted.")
    assert [status(bench, run) for run in left] == before


@pytest.mark.parametrize("now", [STARTING, STARTED])
def test_a_run_that_is_executed_again_does_not_end_with_the_one_before(bench, tick, killed, now):
    """Dagster hands all tags on to it."""
    before = bench.instance.get_run_by_id(begun(bench, killed, FAILURE))
    again = begun(bench, None, now, **before.tags)
    assert tick() == ([], "No run was interrupted.")
    assert status(bench, again) is now


def test_no_run_ends_while_processes_cannot_be_looked_up(bench, tick, monkeypatch):
    run = begun(bench, identify_this_process())
    with monkeypatch.context() as patch:
        patch.setattr(Path, "read_text", _too_many_open_files)
        with pytest.raises(OSError, match="Too many open files"):
            tick()
    assert status(bench, run) is STARTED


def _too_many_open_files(*_args, **_options):
    raise OSError(errno.EMFILE, os.strerror(errno.EMFILE))


@pytest.mark.parametrize("other", [{"started": 1}, {"boot": "before"}])
def test_another_process_that_has_its_number_now_is_not_taken_for_it(bench, tick, other):
    run = begun(bench, identify_this_process()._replace(**other))
    tick()
    assert status(bench, run) is FAILURE


def test_a_run_that_no_process_had_begun_ends_with_the_server_that_was_to_start_it(
    bench, tick, tmp_path
):
    path = str(tmp_path / "server")
    run = begun(bench, None, STARTING, **{".dagster/grpc_info": f'{{"socket": "{path}"}}'})
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(path)
        server.listen()
        tick()
        assert status(bench, run) is STARTING
    tick()
    assert status(bench, run) is FAILURE


ELSEWHERE = """
from resources.execution.process_identity import identify_this_process
print(identify_this_process(), flush=True)
input()
"""


def test_a_process_of_another_pid_namespace_goes_on(bench, tick):
    """As in a container with the host name of this one, where each counts from 1."""
    command = ["unshare", "--map-root-user", "--pid", "--fork", "--mount-proc", sys.executable]
    with subprocess.Popen(
        [*command, "-c", ELSEWHERE], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        written = process.stdout.readline().strip()
        assert written.split()[0] == socket.gethostname()
        run = begun(bench, written)
        assert tick() == ([], "No run was interrupted.")
        assert status(bench, run) is STARTED
        process.communicate("\n")
    # After a restart of the machine, nothing of it is left anywhere.
    restarted = written.replace(identify_this_process().boot, "before")
    assert restarted != written
    run = begun(bench, restarted)
    tick()
    assert status(bench, run) is FAILURE


def test_a_run_that_cannot_be_seen_ends_after_five_minutes_without_a_heartbeat(bench, tick, killed):
    """As those of a container that was restarted."""
    silent, alive, older = (begun(bench, killed._replace(namespace=1)) for _ in range(3))
    again = begun(bench, None, **build_heartbeat(older, 3))
    bench.instance.add_run_tags(silent, build_heartbeat(silent, 7))
    for count in range(2 * SILENT_TICKS):
        bench.instance.add_run_tags(alive, build_heartbeat(alive, count // SILENT_TICKS))
        runs, said = tick()
        assert runs == []
        assert (silent in said) == (count == SILENT_TICKS)
        assert (status(bench, silent) is FAILURE) == (count >= SILENT_TICKS)
    assert [status(bench, run) for run in (alive, older, again)] == [STARTED] * 3
    [told] = {entry.dagster_event.message for entry in bench.instance.all_logs(silent)}
    assert "or container was restarted" in told


def test_a_run_gives_signs_of_life_until_it_ends(monkeypatch):
    monkeypatch.setattr("resources.execution.run_heartbeat.INTERVAL_S", 0.01)
    written = []

    class Instance:
        def add_run_tags(self, run_id, tags):
            run = DagsterRun("job", run_id, tags=tags)
            written.append(find_heartbeat(run))
            if len(written) == 2:
                raise OSError("the database is away")

    with beat(Instance(), "one"):
        wait_for(lambda: len(written) > 3)
    assert written[:4] == ["one 1", "one 2", "one 3", "one 4"]
    ended = len(written)
    time.sleep(0.05)
    assert len(written) == ended


@pytest.mark.usefixtures("schedules")
@pytest.mark.parametrize("launcher", ["dagster/sensor_name", "dagster/schedule_name"])
def test_what_automation_had_launched_is_launched_again_once(bench, tick, killed, launcher):
    tags = {**partition_tags("new|animals", photographs), PAINTER_TAG: "new", launcher: "some"}
    run = begun(bench, killed, job="painter_pairs", **tags)
    [request], _ = tick()
    assert status(bench, run) is FAILURE
    assert (request.job_name, request.partition_key) == ("painter_pairs", "new|animals")
    assert request.asset_selection == [IMAGE_PAIRS]
    assert request.run_config == bench.instance.get_run_by_id(run).run_config
    kept = {**partition_tags("new|animals", photographs), PAINTER_TAG: "new", RELAUNCHED_TAG: run}
    assert kept.items() <= request.tags.items()
    assert PROCESS_TAG not in request.tags
    begun(bench, killed, job="painter_pairs", **{**request.tags, launcher: "interrupted_runs"})
    runs, said = tick()
    assert runs == []
    assert "is gone" in said


SENSOR = "dagster/sensor_name"


def test_one_that_is_terminated_between_two_looks_is_not_launched_again(bench, tick, killed):
    """The process ends of it, which was under way at the first look."""
    tags = partition_tags("new|animals", photographs)
    run = begun(bench, killed, job="painter_pairs", **tags, **{SENSOR: "some"})
    with pytest.MonkeyPatch.context() as patch:

        def terminated(run_id):
            patch.undo()
            bench.instance.report_run_canceling(bench.instance.get_run_by_id(run_id))
            return bench.instance.get_run_by_id(run_id)

        patch.setattr(bench.instance, "get_run_by_id", terminated)
        runs, said = tick()
    assert runs == []
    assert run in said
    assert status(bench, run) is CANCELED


@pytest.mark.usefixtures("schedules")
@pytest.mark.parametrize(
    ("turned", "where"),
    [
        (InstigatorStatus.STOPPED, "here"),
        (InstigatorStatus.RUNNING, "here"),
        (InstigatorStatus.STOPPED, "elsewhere"),
    ],
)
def test_nothing_is_launched_again_of_a_sensor_that_is_turned_off(
    bench, tick, killed, turned, where
):
    """One of the same name elsewhere is another, as that of the same file by `dg dev`."""
    origin = repository_at(where).get_instigator_origin("spender")
    state = InstigatorState(origin, InstigatorType.SENSOR, turned, SensorInstigatorData())
    bench.instance.add_instigator_state(state)
    tags = partition_tags("new|animals", photographs)
    run = begun(bench, killed, job="painter_pairs", **tags, **{SENSOR: "spender"})
    runs, said = tick()
    assert status(bench, run) is FAILURE
    assert bool(runs) is ((turned, where) != (InstigatorStatus.STOPPED, "here"))
    assert runs or "not launched again, since spender is turned off by now" in said


def test_what_a_person_had_launched_is_left_to_them(bench, tick, killed):
    begun(bench, killed, job="painter_pairs", **partition_tags("new|animals", photographs))
    runs, said = tick()
    assert runs == []
    assert "is gone" in said


@pytest.mark.usefixtures("schedules")
@pytest.mark.parametrize("is_done", [True, False])
def test_what_had_finished_its_last_step_is_not_launched_again(bench, tick, killed, is_done):
    tags = {**partition_tags("new|animals", photographs), SENSOR: "some"}
    made = materialize([ASSETS[REPORT]], instance=bench.instance, run_config=QUIET)
    plan = bench.instance.get_run_by_id(made.run_id).execution_plan_snapshot_id
    run_id = begun(bench, killed, job="painter_pairs", **tags)
    run = bench.instance.get_run_by_id(run_id)
    bench.instance.delete_run(run_id)
    bench.instance.add_run(run._replace(execution_plan_snapshot_id=plan))
    if is_done:
        for entry in bench.instance.all_logs(made.run_id, DagsterEventType.STEP_SUCCESS):
            bench.instance.store_event(entry._replace(run_id=run_id))
    runs, said = tick()
    assert status(bench, run_id) is FAILURE
    assert bool(runs) is not is_done
    assert ("All of its tables are there" in said) is is_done


def failed_at_loading(bench, **changes):
    """A run of a person's that Dagster took from its queue, and whose code could not be loaded."""
    run_id = begun(bench, None, STARTING)
    run = bench.instance.get_run_by_id(run_id)
    if changes:
        bench.instance.delete_run(run_id)
        run = run._replace(**changes)
        bench.instance.add_run(run)
    error = SerializableErrorInfo("not to be read", [], "CatalogError")
    bench.instance.report_engine_event("Loading", run, EngineEventData.engine_error(error))
    bench.instance.report_run_failed(run)
    return run_id


def test_what_ended_before_it_began_is_queued_again_once_for_each_content_of_the_file(bench, tick):
    bench.files.models.write_text("- {name: gpt, backend: opena}")
    run = failed_at_loading(bench)
    assert tick() == ([], "No run was interrupted.")
    assert status(bench, run) is FAILURE, "the file cannot be read yet"
    for entries in ([], [SKETCH]):
        bench.models(*entries)
        assert tick() == ([], f"The run {run} ended before it began: it is launched again.")
        assert status(bench, run) is QUEUED
        bench.instance.report_run_failed(bench.instance.get_run_by_id(run))
        assert tick() == ([], "No run was interrupted."), "it was tried with this content"


def test_what_was_begun_or_was_not_queued_by_dagster_is_not_queued_again(bench, tick):
    command = failed_at_loading(bench, remote_job_origin=None)
    begun_before = failed_at_loading(bench)
    bench.instance.run_storage.handle_run_event(
        begun_before, DagsterEvent(DagsterEventType.RUN_START.value, "__ASSET_JOB")
    )
    bench.instance.report_run_failed(bench.instance.get_run_by_id(begun_before))
    ended_by_user = begun(bench, None, STARTING)
    bench.instance.report_run_failed(bench.instance.get_run_by_id(ended_by_user))
    assert tick() == ([], "No run was interrupted.")
    for run in (command, begun_before, ended_by_user):
        assert status(bench, run) is FAILURE
