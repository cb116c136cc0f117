"""Cost of an image over seeds, which should neither depend on the seed nor grow with them."""

import os
from collections.abc import Iterator
from statistics import median
from time import process_time

from bench.drawing import benchmark, reading
from bench.figure import Figure
from bench.machine import tree_memory
from generators.domains import load_domains
from generators.worker_jobs import DrawJob, draw_png, read_png
from resources.execution.workers import map_in_workers

_SEEDS, _SIZE = 10, 768


def figures() -> Iterator[Figure]:
    """Processor time of all benchmark scenes, drawn and verified in memory, seed by seed."""
    for seed in range(_SEEDS):
        jobs = [job for topic in load_domains() for job in benchmark(topic, [_SIZE], seed)]
        job_costs = [costs for _, costs in map_in_workers(core_milliseconds, enumerate(jobs))]
        costs = zip(*job_costs, strict=True)
        for what, spent in zip(("drawing", "verifying"), costs, strict=True):
            name = f"{what} an image of {_SIZE} px with seed {seed}"
            least_and_most = f"{min(spent):.1f} to {max(spent):.1f}"
            yield Figure(name, median(spent), "ms of a core", note=least_and_most)
        yield Figure(f"memory after seed {seed}", tree_memory(os.getpid()).megabytes, "MB")


def core_milliseconds(job: DrawJob) -> tuple[float, float]:
    """Time of one core for drawing an image and for verifying it."""
    started = process_time()
    png = draw_png(job)
    drawn = process_time()
    read_png(reading(job, png))
    return 1000 * (drawn - started), 1000 * (process_time() - drawn)
