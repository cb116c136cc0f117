"""Runs of which two are made at once, each once there is what it starts from."""

import os
import signal
import sys
import threading
import warnings
from concurrent.futures import ThreadPoolExecutor
from types import SimpleNamespace

import pytest
from dagster import (
    AssetCheckResult,
    AssetCheckSeverity,
    AssetCheckSpec,
    AssetKey,
    Definitions,
    MaterializeResult,
    StaticPartitionsDefinition,
    asset,
    materialize,
)
from dagster._core.execution.plan import instance_concurrency_context

from assets.kit.benchmarks import StandInRun
from commands import demo_runs as stand_in_runs
from commands.demo_runs import AssetGroup, DemoRunner, RunFailed, describe_failure
from commands.storage import open_instance
from resources.settings.image_design import ImageDesign

KINDS = StaticPartitionsDefinition(["red", "blue"])
WAIT_S = 60


COLOURS, SHAPES = AssetGroup("colours", "Colours"), AssetGroup("shapes", "Shapes")


@pytest.fixture
def make(tmp_path, monkeypatch):
    """Makes runs of assets that note when they begin and end, and do what `doing` says between."""
    (tmp_path / "dagster.yaml").touch()
    noted = []

    def make(*runs, **doing):
        def made(group, name, deps=(), partitions=None):
            def body(context):
                what = f"{name} {context.partition_key}" if partitions else name
                noted.append(f"{what} begins")
                doing.get(name, lambda context: None)(context)
                noted.append(f"{what} ends")

            key, above = AssetKey([group, name]), [AssetKey(each) for each in deps]
            return asset(key=key, deps=above, partitions_def=partitions)(body)

        assets = [
            made("colours", "drawn", partitions=KINDS),
            made("colours", "read", [["colours", "drawn"]], partitions=KINDS),
            made("colours", "report", [["colours", "read"]]),
            made("shapes", "drawn_shapes"),
        ]
        code = SimpleNamespace(
            defs=Definitions(assets, resources={"design": ImageDesign()}),
        )
        monkeypatch.setitem(sys.modules, "definitions", code)
        monkeypatch.setenv("COUNTERFACTORY_HOME", str(tmp_path / "data"))
        monkeypatch.setenv("COUNTERFACTORY_MODELS", str(tmp_path / "models.yaml"))
        with open_instance() as instance:
            return DemoRunner(instance, {}).run(runs), noted

    return make


RED, BLUE = ((COLOURS, StandInRun(("drawn", "read"), kind)) for kind in ("red", "blue"))
REPORT, SHAPE = (COLOURS, StandInRun(("report",))), (SHAPES, StandInRun(("drawn_shapes",)))


def test_deprecations_stay_hidden_where_two_threads_showed_them_at_once(make):
    def draw(context):
        one, other = warnings.catch_warnings(), warnings.catch_warnings()
        one.__enter__()
        warnings.simplefilter("always")
        other.__enter__()
        one.__exit__()
        other.__exit__()
        warnings.warn("will be removed", DeprecationWarning, stacklevel=1)
        warnings.warn("is of use", UserWarning, stacklevel=1)

    with pytest.warns(UserWarning, match="is of use") as shown:
        make(SHAPE, drawn_shapes=draw)
    ours = ("will be removed", "is of use")
    assert [str(each.message) for each in shown if str(each.message) in ours] == ["is of use"]


def test_two_runs_are_under_way_at_once(make):
    both = threading.Barrier(2, timeout=WAIT_S)
    made, noted = make(RED, BLUE, drawn=lambda context: both.wait())
    assert made == 2
    assert set(noted[:2]) == {"drawn red begins", "drawn blue begins"}


def test_benchmarks_take_turns(make):
    both = threading.Barrier(2, timeout=WAIT_S)
    meet = {"drawn_shapes": lambda context: both.wait()}
    meet["drawn"] = lambda context: context.partition_key == "red" and both.wait()
    assert make(RED, BLUE, SHAPE, **meet)[0] == 3


def test_a_run_waits_for_those_that_make_what_it_starts_from(make):
    made, noted = make(REPORT, RED, BLUE)
    assert made == 3
    assert noted[-2:] == ["report begins", "report ends"]
    assert len(noted) == 10


def test_one_that_fails_is_told_once_the_other_is_over(make):
    failed = threading.Event()

    def fail(context):
        failed.set()
        raise ValueError("No room.")

    def drawn(context):
        assert failed.wait(WAIT_S)

    read = []
    with pytest.raises(RunFailed, match=r"(?s)Shapes failed:.*No room"):
        make(SHAPE, RED, drawn_shapes=fail, drawn=drawn, read=read.append)
    assert len(read) == 1


@pytest.mark.parametrize("noted", [True, False])
def test_an_interrupt_ends_it_at_once_and_its_runs_are_cancelled(make, monkeypatch, noted):
    """Whether who starts runs has noted by then that one is under way, or not yet."""
    over, said = threading.Event(), []

    class Starting(ThreadPoolExecutor):
        def submit(self, *work):
            run = super().submit(*work)
            assert noted or over.wait(WAIT_S)
            return run

    class Ended(BaseException):
        """Instead of the end of this process."""

    def end(code):
        with open_instance() as instance:
            said.append((code, [run.status.value for run in instance.get_runs()]))
        over.set()
        raise Ended

    def interrupted(context):
        os.kill(os.getpid(), signal.SIGINT)
        assert over.wait(WAIT_S)

    monkeypatch.setattr(os, "_exit", end)
    monkeypatch.setattr(stand_in_runs, "ThreadPoolExecutor", Starting)
    # What a shell starts in the background ignores interrupts.
    former = signal.signal(signal.SIGINT, signal.default_int_handler)
    with pytest.raises(Ended):
        make(SHAPE, drawn_shapes=interrupted)
    signal.signal(signal.SIGINT, former)
    assert said == [(130, ["CANCELED"])]


def test_a_warning_beside_a_failure_needs_no_list_of_faults():
    @asset(check_specs=[AssetCheckSpec("usable_share", asset="pairs")])
    def pairs():
        warns = {"severity": AssetCheckSeverity.WARN, "description": "1 of 9 can be used."}
        return MaterializeResult(check_results=[AssetCheckResult(passed=False, **warns)])

    @asset
    def report():
        raise ValueError("No room.")

    told = describe_failure(materialize([pairs, report], raise_on_error=False), "Colours")
    assert told.startswith("Colours failed:\n- report: ValueError: No room.\n")
    assert "usable_share: 1 of 9 can be used." in told


def test_the_cause_of_a_failure_outside_of_steps_is_named(monkeypatch):
    def claim(*_):
        raise RuntimeError("current transaction is aborted")

    monkeypatch.setattr(instance_concurrency_context.InstanceConcurrencyContext, "claim", claim)

    @asset(pool="painters")
    def pairs(): ...

    told = describe_failure(materialize([pairs], raise_on_error=False), "Colours")
    cause = "RuntimeError: current transaction is aborted"
    assert told.startswith(f"Colours failed:\n- {cause}\nThe run")
