"""Launching a training in a process of its own, and telling how it goes."""

import fcntl
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from errno import EDQUOT, ENOSPC
from logging import Logger
from pathlib import Path
from typing import Any

from resources.faults import DiskFull, StoreBusy
from resources.training.job import TrainingJob
from resources.training.processes import is_without_launcher, read_process_count
from resources.training.training_errors import TrainingError
from resources.training.training_progress import format_progress, read_progress
from resources.training.worker import ERROR, TRAINED

_LOOK_EVERY_S = 0.5
_TOLD_EVERY = 10
"""Steps between two reports; the first steps are all reported."""
_LITTLE = 1 << 20
_TAIL = 2000
_SAY_ALL = ("NoSpread", "NoGradient", "Diverged", "TornPair", "TrainingError", "ModelUnavailable")
"""The errors of a training whose messages need nothing of what it printed."""
_PROJECT = Path(__file__).parents[2]


def run_training(job: TrainingJob, log: Logger, accelerate_config: str | None = None) -> None:
    """Train until the adapter is in the job's folder; one that was killed goes on where it was.

    The folder is on this machine, and so is its lock.

    Raises `TrainingError`, `DiskFull` where a checkpoint found no room, and `StoreBusy` where
    another run trains the same.
    """
    folder = Path(job.folder)
    folder.mkdir(parents=True, exist_ok=True)
    with _lock_folder(folder):
        if (folder / TRAINED).exists():
            return
        (folder / ERROR).unlink(missing_ok=True)
        if done := read_progress(folder):
            log.info("Goes on after step %d or a little before.", done[-1]["step"])
        code = _wait(_start(job, accelerate_config), folder, log)
        if code:
            raise build_failure(job, code)


def _start(job: TrainingJob, accelerate_config: str | None) -> subprocess.Popen[bytes]:
    with Path(job.folder, "output.log").open("ab") as output:
        return subprocess.Popen(
            build_command(job.write(), accelerate_config),
            # It ends with us: nobody writes there, and it closes when we are gone.
            stdin=subprocess.PIPE,
            stdout=output,
            stderr=subprocess.STDOUT,
            # It stays where we are, so that relative paths mean the same there.
            env={**os.environ, "PYTHONSAFEPATH": "1", "PYTHONPATH": _importable()},
        )


def build_command(job: Path, accelerate_config: str | None) -> list[str]:
    """Build the command that trains a job's file, in as many processes as configured."""
    command = [sys.executable, "-m"]
    if accelerate_config is not None:
        command += ["accelerate.commands.launch", "--config_file", accelerate_config]
        # Said of another kind as DeepSpeed's, it would take the place of that.
        if read_process_count(accelerate_config) > 1 and is_without_launcher(accelerate_config):
            command += ["--multi_gpu"]
        command += ["-m"]
    return [*command, "resources.training.worker", str(job)]


def _importable() -> str:
    """Build the path of modules: the project's own first."""
    return os.pathsep.join(filter(None, (str(_PROJECT), os.environ.get("PYTHONPATH"))))


def _wait(process: "subprocess.Popen[bytes]", folder: Path, log: Logger) -> int:
    """The exit code, once it has ended; until then each step is reported as it comes."""
    logged_count = len(read_progress(folder))
    try:
        while True:
            with suppress(subprocess.TimeoutExpired):
                process.wait(_LOOK_EVERY_S)
            steps = read_progress(folder)
            for line in steps[logged_count:]:
                if line["step"] <= _TOLD_EVERY or line["step"] % _TOLD_EVERY == 0:
                    log.info("%s", format_progress(line))
            logged_count = max(logged_count, len(steps))
            if process.returncode is not None:
                return process.returncode
    finally:
        process.kill()
        process.wait()
        assert process.stdin is not None
        process.stdin.close()


@contextmanager
def _lock_folder(folder: Path) -> Iterator[None]:
    with (folder / "lock").open("ab") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise StoreBusy(
                f"Another run trains in {folder}. Wait until it has ended, and materialize again: "
                "what it has trained is then taken."
            ) from None
        yield


def _read_note(path: Path) -> dict[str, Any]:
    """Read the process's note; empty where it could not write it, or only a part."""
    try:
        return dict(json.loads(path.read_text()))
    except (OSError, ValueError):
        return {}


def build_failure(job: TrainingJob, code: int) -> Exception:
    """Build the error of an ended training, by what its process noted, printed and left."""
    folder = Path(job.folder)
    error = _read_note(folder / ERROR)
    free = shutil.disk_usage(folder).free
    if error.get("errno") in (ENOSPC, EDQUOT) or free < _LITTLE:
        return DiskFull(
            f"No space is left to write {folder}. The last whole checkpoint is kept: free some "
            "space, or set COUNTERFACTORY_HOME, or TMPDIR where that is an address, to a larger "
            "disk, and materialize again."
        )
    if error.get("kind") in _SAY_ALL:
        return TrainingError(error["message"])
    tail = (folder / "output.log").read_text(errors="replace")[-_TAIL:]
    words = f"{error['kind']}: {error['message']}" if error else f"it ended with code {code}"
    return TrainingError(
        f"The training {job.name} stopped: {words}. Its last whole checkpoint is kept, and the "
        f"next run goes on there. What it printed last ({folder / 'output.log'}):\n{tail}"
    )
