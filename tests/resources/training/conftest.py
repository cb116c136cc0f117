import dataclasses
import logging
from contextlib import chdir

import pytest

from resources.training import launch
from resources.training.recipe import RankingRecipe
from tests.resources.training.small import QUICK, job, pairs, save_base

STEPS = 20


class Log(logging.Handler):
    """What was told."""

    def __init__(self):
        super().__init__()
        self.lines = []

    def emit(self, record):
        self.lines.append(record.getMessage())


@pytest.fixture(scope="session")
def base(tmp_path_factory):
    """A model that is adapted."""
    return save_base(tmp_path_factory.mktemp("base") / "llava")


@pytest.fixture(scope="session")
def trained(base, tmp_path_factory):
    """A job that was done by a process of its own, and what was told meanwhile."""
    root = tmp_path_factory.mktemp("trained")
    quicker = QUICK | {"learning_rate": 3e-2}
    recipe = RankingRecipe(base=str(base), steps=STEPS, save_steps=10, **quicker)
    done = job(root, base, pairs(root, 4 * STEPS), recipe=recipe)
    log, logger = Log(), logging.getLogger("trained")
    logger.setLevel(logging.INFO)
    logger.addHandler(log)
    # Relative paths mean the same to the process that trains.
    done = dataclasses.replace(done, rows_file="rows.parquet", images=".")
    with chdir(root):
        launch.run_training(done, logger)
    return done, log.lines
