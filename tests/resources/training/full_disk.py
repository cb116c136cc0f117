"""A disk that fills up, after kills: what becomes of trainings on one of 64 MiB."""

import os
import shutil
from pathlib import Path

from resources.training import launch, worker
from resources.training.checkpoints import find_last_checkpoint
from tests.resources.training.kills import adapter_of, elsewhere, job_in, killed, whole


def troubled(base, disk, places):
    """What `killed` tells by kind, and of a training with room for one checkpoint: how it failed.

    Then its last whole checkpoint, and whether it ended with the same bytes once there was room.
    """
    small = job_in(disk, base)
    wanted = whole(small)
    training = Path(small.folder).parent
    checkpoint = size_of(training / "whole" / "checkpoint-4")
    kills = {"ranking": killed(small, wanted, places)}
    tuning = job_in(disk, base, "tuning")
    kills["tuning"] = killed(tuning, whole(tuning), places)
    shutil.rmtree(training)
    again = elsewhere(small, "again")
    filler = leave(Path(disk), 3 * checkpoint // 2)
    error = fails(again)
    last = find_last_checkpoint(Path(again.folder)).name
    filler.unlink()
    worker.train(again)
    kind = type(error).__name__
    same = adapter_of(again) == wanted
    return {"kills": kills, "fault": [kind, str(error)], "last": last, "same": same}


def fails(done):
    """What a run says whose process ends so."""
    try:
        worker.train(done)
    except Exception as error:  # noqa: BLE001 - in whichever class a library says it
        worker.write_error(done, error)
    return launch.build_failure(done, 1)


def size_of(folder):
    blocks = (path.stat().st_blocks * 512 for path in folder.rglob("*") if path.is_file())
    return sum(blocks)


def leave(disk, number):
    """Fill all but so many bytes of a disk."""
    filler = disk / "filler"
    with filler.open("wb") as file:
        os.posix_fallocate(file.fileno(), 0, shutil.disk_usage(disk).free - number)
    return filler
