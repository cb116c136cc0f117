"""The process that trains: what it ends by, and that it ends with whoever waits for it."""

import dataclasses
import json
import logging
from importlib import import_module
from pathlib import Path

import pytest

from resources.faults import DiskFull
from resources.training import launch, worker
from resources.training.training_errors import TrainingError
from resources.training.training_progress import NoSpread
from tests.resources.training.small import accelerate_config, job, pairs

pytestmark = pytest.mark.slow

LOG = logging.getLogger("test")


@pytest.fixture
def begun(base, tmp_path):
    """A job with its folder."""
    found = job(tmp_path, base, pairs(tmp_path, 2))
    Path(found.folder).mkdir(parents=True)
    return found


def test_a_process_that_fails_is_told_with_what_it_printed_last(begun):
    lost = dataclasses.replace(begun, rows_file=f"{begun.folder}/lost.parquet")
    with pytest.raises(TrainingError) as failed:
        launch.run_training(lost, LOG)
    said = str(failed.value)
    assert said.startswith("The training small stopped: FileNotFoundError: ")
    assert "the next run goes on there. What it printed last" in said
    assert "Traceback (most recent call last)" in said


def test_what_ends_a_training_with_a_remedy_is_said_as_it_is(begun):
    worker.write_error(begun, NoSpread("Raise temperature."))
    found = launch.build_failure(begun, 1)
    assert (type(found), str(found)) == (TrainingError, "Raise temperature.")


def test_a_full_disk_is_one_in_whatever_it_was_wrapped(begun):
    try:
        try:
            raise OSError(28, "No space left on device")
        except OSError as error:
            raise RuntimeError("unexpected pos 64 vs 0") from error
    except RuntimeError as error:
        worker.write_error(begun, error)
    assert isinstance(launch.build_failure(begun, 1), DiskFull)


def test_a_process_that_was_killed_has_noted_nothing_and_its_code_is_told(begun):
    Path(begun.folder, "output.log").write_text("step 1")
    said = str(launch.build_failure(begun, -9))
    assert said.startswith("The training small stopped: it ended with code -9. Its last whole")


def test_it_ends_once_nobody_waits_for_it(begun):
    """Whoever does is gone, as after a kill, when the pipe to it is closed."""
    process = launch._start(begun, None)
    process.stdin.close()
    assert process.wait(600) == 1
    assert not Path(begun.folder, worker.TRAINED).exists()
    assert not Path(begun.folder, worker.ERROR).exists()
    assert json.loads(Path(begun.folder, "job.json").read_text())["name"] == "small"


def taken_by_accelerate(config):
    """What accelerate makes of the command that trains by a configuration."""
    accelerate = import_module("accelerate.commands.launch")
    _, _, module, *told = launch.build_command(Path("job.json"), str(config))
    assert module == accelerate.__name__
    found, *_ = accelerate._validate_launch_command(
        accelerate.launch_command_parser().parse_args(told)
    )
    return found


@pytest.mark.parametrize("number", [1, 2])
def test_accelerate_starts_as_many_processes_as_its_configuration_is_for(tmp_path, number):
    """As it takes the command itself; without a GPU it would start one. `make bench` runs them."""
    found = taken_by_accelerate(accelerate_config(tmp_path, number))
    assert (found.multi_gpu, found.num_processes, found.cpu) == (number > 1, number, False)
    assert (found.module, found.training_script) == (True, "resources.training.worker")


@pytest.mark.parametrize(
    ("kind", "launcher"),
    [
        ("MULTI_GPU", "multi_gpu"),
        ("DEEPSPEED", "use_deepspeed"),
        ("FSDP", "use_fsdp"),
        ("MULTI_CPU", None),
    ],
)
def test_what_starts_processes_by_a_configuration_stays_what_that_says(tmp_path, kind, launcher):
    """Also where MPI does."""
    config = Path(accelerate_config(tmp_path, 2))
    said = config.read_text().replace("MULTI_CPU", kind)
    said += "" if launcher else "mpirun_config:\n  mpirun_ccl: '1'\n  mpirun_hostfile: hosts\n"
    config.write_text(said)
    found = taken_by_accelerate(config)
    launchers = ("multi_gpu", "use_deepspeed", "use_fsdp")
    assert [each for each in launchers if getattr(found, each)] == [launcher] * bool(launcher)
    assert (found.num_processes, found.mpirun_hostfile) == (2, None if launcher else "hosts")
