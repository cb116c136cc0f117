"""Cost of an image over seeds: it should not depend on the seed, nor grow from one to the next."""

import os
from collections.abc import Iterator
from statistics import median
from time import process_time
from typing import NamedTuple

from bench.memory import Memory, tree_memory
from bench.pace import benchmark, reading
from generators.domains import domains
from generators.work import Drawing, draw_png, read_png
from resources.workers import spread

_SIZE = 768


class Spread(NamedTuple):
    """Milliseconds of one core for an image: the least, the middle and the most."""

    least: float
    middle: float
    most: float


class SeedCost(NamedTuple):
    """What the images of one seed cost, and what the workers hold after them."""

    seed: int
    images: int
    drawing: Spread
    verifying: Spread
    memory: Memory


def by_seed(seeds: int) -> Iterator[SeedCost]:
    """All benchmark scenes at 768 px, drawn and verified in memory, for seeds 0, 1, 2 and on."""
    for seed in range(seeds):
        jobs = [job for topic in domains() for job in benchmark(topic, [_SIZE], seed)]
        drawing, verifying = zip(*spread(core_milliseconds, jobs), strict=True)
        yield SeedCost(
            seed, len(jobs), _spread(drawing), _spread(verifying), tree_memory(os.getpid())
        )


def core_milliseconds(job: Drawing) -> tuple[float, float]:
    """Time of one core for drawing an image and for verifying it."""
    started = process_time()
    png = draw_png(job)
    drawn = process_time()
    read_png(reading(job, png))
    return 1000 * (drawn - started), 1000 * (process_time() - drawn)


def _spread(costs: tuple[float, ...]) -> Spread:
    return Spread(min(costs), median(costs), max(costs))
