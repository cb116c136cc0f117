"""Every run says which process it is; none begins with a config of names that are not there.

Runs are executed as a code server does it, in a process of their own, which is forked here.
"""

import multiprocessing
import os
import sys
import time
from multiprocessing import forkserver
from pathlib import Path

import dagster as dg
import pytest
from dagster._core.definitions.reconstruct import ReconstructableRepository
from dagster._core.executor.init import InitExecutorContext
from dagster._core.remote_origin import (
    InProcessCodeLocationOrigin,
    RemoteJobOrigin,
    RemoteRepositoryOrigin,
)
from dagster._core.storage.tags import GRPC_INFO_TAG
from dagster._core.types.loadable_target_origin import LoadableTargetOrigin
from dagster._grpc.impl import start_run_in_subprocess
from dagster._grpc.types import ExecuteExternalJobArgs
from dagster._serdes import serialize_value

from resources.execution import executors
from resources.execution.executors import build_executor, find_process
from resources.execution.process_identity import identify_this_process
from tests.waiting import wait_for

WITHIN_S = 240
POOL = "one_at_a_time"
CLOSED = "closed"


@dg.resource
def store(context):
    yield
    context.log.info(CLOSED)


@dg.asset(required_resource_keys={"store", "other_store"})
def concepts(context: dg.AssetExecutionContext) -> dg.MaterializeResult:
    sys.stdout.write("drawn by hand\n")
    context.log.info("drawn")
    return dg.MaterializeResult(
        metadata={"pid": os.getpid(), "process": str(identify_this_process())}
    )


@dg.asset(deps=[concepts])
def others() -> dg.MaterializeResult:
    return dg.MaterializeResult(metadata={"pid": os.getpid()})


class Wait(dg.Config):
    file: str


@dg.asset(pool=POOL)
def pooled() -> dg.MaterializeResult:
    return dg.MaterializeResult(metadata={"pid": os.getpid()})


@dg.asset(pool=POOL)
def endless(config: Wait) -> None:
    Path(config.file).touch()
    time.sleep(10 * WITHIN_S)


@dg.asset(required_resource_keys={"store", "other_store"})
def endless_without_pool(config: Wait) -> None:
    Path(config.file).touch()
    time.sleep(10 * WITHIN_S)


@dg.asset(pool=POOL)
def failing() -> None:
    raise ValueError("no ink is left")


preloaded = ["dagster._core.storage.sqlite_storage", "pytest", "resources.execution.executors"]
made = [concepts, others, pooled, endless, endless_without_pool, failing]
location = dg.Definitions(
    made,
    resources={"home": 1, "store": store, "other_store": store},
    executor=build_executor(
        lambda: {"ops": {each.op.name for each in made}, "resources": {"home", "store"}},
        preloaded,
    ),
)


@pytest.fixture(scope="module")
def instance(tmp_path_factory):
    folder = tmp_path_factory.mktemp("instance")
    (folder / "dagster.yaml").write_text("concurrency: {pools: {default_limit: 1}}\n")
    with dg.DagsterInstance.from_config(str(folder)) as instance:
        yield instance


def _start(*arguments):
    """Do what a code server's new process does, which knows of no fork server of this one's."""
    forkserver._forkserver.__init__()
    start_run_in_subprocess(*arguments)


class Launched:
    """A run, in a process that a code server would have started for it."""

    def __init__(self, instance, *names, config=None):
        self._instance = instance
        found = ReconstructableRepository.for_file(__file__, "location")
        job = found.get_reconstructable_job("__ASSET_JOB")
        selection = frozenset(map(dg.AssetKey, names))
        run = instance.create_run_for_job(
            job_def=job.get_definition(),
            asset_selection=selection,
            run_config=config or {},
            tags={GRPC_INFO_TAG: "{}"},
            status=dg.DagsterRunStatus.STARTING,
        )
        self.run_id = run.run_id
        origin = InProcessCodeLocationOrigin(LoadableTargetOrigin(python_file=__file__))
        origin = RemoteJobOrigin(RemoteRepositoryOrigin(origin, "__repository__"), "__ASSET_JOB")
        arguments = ExecuteExternalJobArgs(
            job_origin=origin, run_id=run.run_id, instance_ref=instance.get_ref()
        )
        context = multiprocessing.get_context("fork")
        self._terminated = context.Event()
        self.process = context.Process(
            target=_start,
            args=[serialize_value(arguments), job, context.Queue(), self._terminated],
        )
        self.process.start()

    @property
    def run(self):
        return self._instance.get_run_by_id(self.run_id)

    def terminate(self):
        """What the UI's button does."""
        self._instance.report_run_canceling(self.run)
        self._terminated.set()

    def ended(self):
        """Wait for the end; returns how the run ended."""
        self.process.join(WITHIN_S)
        assert not self.process.is_alive()
        return self.run.status.value

    def events(self, kind):
        """Its events of a kind."""
        logs = self._instance.all_logs(self.run_id)
        events = [log.dagster_event for log in logs if log.dagster_event]
        return [event for event in events if event.event_type_value == kind]

    def said(self):
        """What it has logged."""
        return [log.user_message for log in self._instance.all_logs(self.run_id)]

    def told(self, what):
        """What its assets say of the processes in which they were made."""
        records = self._instance.get_records_for_run(
            self.run_id, of_type=dg.DagsterEventType.ASSET_MATERIALIZATION
        ).records
        made = [each.asset_materialization for each in records if each.asset_materialization]
        return {each.metadata[what].value for each in made}


@pytest.fixture
def launch(instance):
    """Launches runs, which are over in the end, and which have left their places in pools."""
    launched = []

    def launch(*names, **more):
        launched.append(Launched(instance, *names, **more))
        return launched[-1]

    yield launch
    for each in launched:
        each.process.kill()
        each.process.join()
    assert slots(instance) == (0, 0)


def slots(instance):
    """How many have a place in the pool, and how many wait for one."""
    found = instance.event_log_storage.get_concurrency_info(POOL)
    return found.active_slot_count, found.pending_step_count


def test_a_run_of_one_step_is_one_process_and_keeps_its_output(instance, launch):
    run = launch("concepts")
    assert run.ended() == "SUCCESS"
    assert run.told("pid") == {run.process.pid}
    assert run.told("process") == {str(find_process(run.run))}
    [captured] = [event.logs_captured_data for event in run.events("LOGS_CAPTURED")]
    key = [run.run_id, "compute_logs", captured.file_key]
    assert b"drawn by hand" in instance.compute_log_manager.get_log_data(key).stdout
    assert captured.step_keys == ["concepts"]


def test_of_several_steps_each_has_a_process(launch):
    run = launch("concepts", "others")
    assert run.ended() == "SUCCESS"
    assert find_process(run.run).pid == run.process.pid
    assert len(run.told("pid") | {run.process.pid}) == 3


def test_the_only_step_of_a_run_that_may_wait_for_a_pool_has_a_process(launch):
    run = launch("pooled")
    assert run.ended() == "SUCCESS"
    assert run.process.pid not in run.told("pid")


def test_the_only_step_of_a_run_is_terminated(launch, tmp_path):
    begun = tmp_path / "begun"
    name = "endless_without_pool"
    run = launch(name, config={"ops": {name: {"config": {"file": str(begun)}}}})
    wait_for(begun.exists)
    run.terminate()
    assert run.ended() == "CANCELED"
    assert run.said().count(CLOSED) == 2


@pytest.mark.parametrize(("configured", "most"), [(None, 3), (2, 2)])
def test_steps_at_once_are_as_many_as_the_cores_that_may_be_used(
    instance, monkeypatch, configured, most
):
    monkeypatch.setenv(executors._MOST_STEPS, "")
    monkeypatch.delenv(executors._MOST_STEPS)
    monkeypatch.setattr(executors, "count_cores", lambda: 3)
    definition = build_executor(dict, [])
    context = InitExecutorContext(
        job=ReconstructableRepository.for_file(__file__, "location").get_reconstructable_job(
            "__ASSET_JOB"
        ),
        executor_def=definition,
        executor_config={"retries": {"enabled": {}}, "max_concurrent": configured},
        instance=instance,
    )
    assert definition.executor_creation_fn(context).executor._max_concurrent == most


def test_a_step_that_fails_fails_the_run_and_says_why(launch):
    run = launch("failing")
    assert run.ended() == "FAILURE"
    [failed] = run.events("STEP_FAILURE")
    assert "no ink is left" in failed.step_failure_data.error.cause.message
    [failed] = run.events("PIPELINE_FAILURE")
    assert failed.job_failure_data.first_step_failure_event.step_key == "failing"


def test_runs_are_terminated_while_they_work_and_wait_for_a_pool_where_the_next_goes_on(
    instance, launch, tmp_path
):
    begun = tmp_path / "begun"
    working = launch("endless", config={"ops": {"endless": {"config": {"file": str(begun)}}}})
    wait_for(begun.exists)
    waiting = launch("pooled")
    wait_for(lambda: slots(instance) == (1, 1))
    waiting.terminate()
    assert waiting.ended() == "CANCELED"
    assert slots(instance) == (1, 0)
    # A config may name what is not selected.
    next_one = launch("pooled", config={"ops": {"others": {}}, "resources": {"home": {}}})
    wait_for(lambda: slots(instance) == (1, 1))
    working.terminate()
    assert working.ended() == "CANCELED"
    assert next_one.ended() == "SUCCESS"


@pytest.mark.parametrize(
    ("config", "said"),
    [
        ({"ops": {"concept": {}}}, "`ops` has 'concept', which is not there, did you mean c"),
        ({"resources": {"hone": {}}}, "`resources` has 'hone', which is not there, did you mean h"),
    ],
)
def test_a_misspelt_name_stops_the_run_of_an_asset_that_asks_nothing(launch, config, said):
    """Dagster passes over such a name when assets are materialized."""
    run = launch("concepts", config=config)
    assert run.ended() == "FAILURE"
    [failed] = run.events("PIPELINE_FAILURE")
    assert said in failed.job_failure_data.error.message
    assert run.events("STEP_START") == []
