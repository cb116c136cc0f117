"""The process that trains: `python -m resources.training.worker JOB.json`, or by accelerate."""

import json
import os
import sys
from contextlib import suppress
from pathlib import Path
from threading import Thread
from typing import Any

from upath import UPath

from resources.atomic_writes import write_whole
from resources.training.checkpoints import last_whole, mark_whole
from resources.training.job import Job, read
from resources.training.processes import processes, require_all
from resources.training.progress import callback
from resources.training.trainers import trainer_of

ADAPTER, TRAINED, ERROR = "adapter", "trained.json", "error.json"


def train(job: Job) -> None:
    """Train, from the last whole checkpoint on, and save the adapter into the job's folder."""
    folder = Path(job.folder)
    state = processes()
    require_all(state.num_processes, job.recipe["accelerate_config"])
    if state.is_main_process:
        last_whole(folder)
    state.wait_for_everyone()
    start = last_whole(folder)
    found = trainer_of(job)
    found.trainer.add_callback(callback(folder, found.meter))
    found.trainer.train(resume_from_checkpoint=str(start) if start else None)
    found.trainer.save_model(str(folder / ADAPTER))
    if state.is_main_process:
        mark_whole(folder / ADAPTER)
        told: dict[str, Any] = {"steps": found.steps, "processes": found.processes}
        told |= {"rows": found.rows, "rows_trained": found.given}
        told |= {"device": str(found.trainer.model.device), "dtype": str(found.trainer.model.dtype)}
        # Whole, or a full disk would leave one that says that all is done.
        write_whole(UPath(folder / TRAINED), json.dumps(told).encode())


def main(path: str) -> None:
    """Train the job in a file; what goes wrong is written beside it."""
    job = read(Path(path))
    Thread(target=_end_with_parent, daemon=True).start()
    try:
        train(job)
    except BaseException as error:
        note(job, error)
        raise


def note(job: Job, error: BaseException) -> None:
    """Write what ends a training beside its job, as far as there is room."""
    told = {"kind": type(error).__name__, "message": str(error), "errno": _errno_of(error)}
    with suppress(OSError):
        Path(job.folder, ERROR).write_text(json.dumps(told))


def _end_with_parent() -> None:
    """End once nobody waits: whoever does holds the other end of standard input."""
    while os.read(sys.stdin.fileno(), 1 << 10):
        pass
    os._exit(1)


def _errno_of(error: BaseException | None) -> int | None:
    """The system's number of what went wrong, if that is what it was."""
    while error is not None:
        if isinstance(error, OSError):
            return error.errno
        error = error.__cause__ or error.__context__
    return None


if __name__ == "__main__":
    main(sys.argv[1])
