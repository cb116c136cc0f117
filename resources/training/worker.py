"""The process that trains: `python -m resources.training.worker JOB.json`, or by accelerate."""

import json
import os
import sys
from contextlib import suppress
from pathlib import Path
from threading import Thread
from typing import Any

from resources.storage.atomic_writes import write_atomically
from resources.training.checkpoints import find_last_checkpoint, mark_complete
from resources.training.job import TrainingJob, read_job
from resources.training.processes import get_process_state, require_process_count
from resources.training.trainers import build_trainer
from resources.training.training_progress import build_callback

ADAPTER, TRAINED, ERROR = "adapter", "trained.json", "error.json"


def train(job: TrainingJob) -> None:
    """Train, from the last whole checkpoint on, and save the adapter into the job's folder."""
    folder = Path(job.folder)
    state = get_process_state()
    require_process_count(state.num_processes, job.recipe["accelerate_config"])
    if state.is_main_process:
        find_last_checkpoint(folder)
    state.wait_for_everyone()
    start = find_last_checkpoint(folder)
    setup = build_trainer(job)
    setup.trainer.add_callback(build_callback(folder, setup.meter))
    setup.trainer.train(resume_from_checkpoint=str(start) if start else None)
    setup.trainer.save_model(str(folder / ADAPTER))
    if state.is_main_process:
        mark_complete(folder / ADAPTER)
        record: dict[str, Any] = {"steps": setup.steps, "processes": setup.processes}
        record |= {"rows": setup.row_count, "rows_trained": setup.used_row_count}
        record |= {
            "device": str(setup.trainer.model.device),
            "dtype": str(setup.trainer.model.dtype),
        }
        # Whole, or a full disk would leave one that says that all is done.
        write_atomically(folder / TRAINED, json.dumps(record).encode())


def main(path: str) -> None:
    """Train the job in a file; what goes wrong is written beside it."""
    job = read_job(Path(path))
    Thread(target=_end_with_parent, daemon=True).start()
    try:
        train(job)
    except BaseException as error:
        write_error(job, error)
        raise


def write_error(job: TrainingJob, error: BaseException) -> None:
    """Write what ends a training beside its job, as far as there is room."""
    record = {"kind": type(error).__name__, "message": str(error), "errno": _find_errno(error)}
    with suppress(OSError):
        Path(job.folder, ERROR).write_text(json.dumps(record))


def _end_with_parent() -> None:
    """End once nobody waits: whoever does holds the other end of standard input."""
    while os.read(sys.stdin.fileno(), 1 << 10):
        pass
    os._exit(1)


def _find_errno(error: BaseException | None) -> int | None:
    """The system's number of what went wrong, if that is what it was."""
    while error is not None:
        if isinstance(error, OSError):
            return error.errno
        error = error.__cause__ or error.__context__
    return None


if __name__ == "__main__":
    main(sys.argv[1])
