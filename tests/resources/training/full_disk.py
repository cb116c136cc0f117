"""A disk that fills up, after kills: `python -m tests.resources.training.full_disk BASE DISK`.

It prints what `kills` does, and then "whole". The rest are places to kill at.
"""

import os
import shutil
import sys
from pathlib import Path

from resources.faults import Full
from resources.training import launch, worker
from resources.training.checkpoints import last_whole
from resources.training.recipe import RankingRecipe
from tests.resources.training import kills
from tests.resources.training.kills import FEW, adapter_of, elsewhere
from tests.resources.training.small import job, pairs


def main(base, disk, *places):
    """Train with room for one checkpoint, and again once there is room for more."""
    kills.main(base, disk, *places)
    shutil.rmtree(Path(disk, "training"))
    recipe = RankingRecipe(base=base, steps=5, checkpoint_every=2, **FEW)
    small = job(disk, base, pairs(disk, 4), recipe=recipe)
    whole = elsewhere(small, "whole")
    worker.train(whole)
    wanted = adapter_of(whole)
    checkpoint = size_of(Path(whole.folder) / "checkpoint-4")
    shutil.rmtree(whole.folder)
    again = elsewhere(small, "again")
    filler = leave(Path(disk), 3 * checkpoint // 2)
    error = fails(again)
    assert isinstance(error, Full), error
    assert "The last whole checkpoint is kept: free some space" in str(error)
    assert last_whole(Path(again.folder)).name == "checkpoint-2"
    filler.unlink()
    worker.train(again)
    assert adapter_of(again) == wanted
    sys.stdout.write("\nwhole")


def fails(done):
    """What a run says whose process ends so."""
    try:
        worker.train(done)
    except Exception as error:  # noqa: BLE001 - in whichever class a library says it
        worker.note(done, error)
    return launch.what_went_wrong(done, 1)


def size_of(folder):
    blocks = (path.stat().st_blocks * 512 for path in folder.rglob("*") if path.is_file())
    return sum(blocks)


def leave(disk, number):
    """Fill all but so many bytes of a disk."""
    filler = disk / "filler"
    with filler.open("wb") as file:
        os.posix_fallocate(file.fileno(), 0, shutil.disk_usage(disk).free - number)
    return filler


if __name__ == "__main__":
    main(*sys.argv[1:])
