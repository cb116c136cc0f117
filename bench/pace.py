"""Images a second, with the very functions and workers that the assets use."""

import sys
from collections.abc import Iterator, Sequence
from time import perf_counter
from typing import NamedTuple

from generators.domains import domains
from generators.work import Drawing, Reading, draw_png, read_png
from resources.workers import spread

SIZES = (384, 768, 1152)


class Pace(NamedTuple):
    """Wall seconds for drawing and then for verifying a number of images, on all cores."""

    images: int
    drawing: float
    verifying: float


def benchmark(topic: str, sizes: Sequence[int], seed: int = 0) -> list[Drawing]:
    """The jobs for a topic's benchmark images at those sizes (the originals not among them)."""
    scenes = [s for s in domains()[topic].drawing.scenes(seed) if s.image_set == "benchmark"]
    return [Drawing(topic, scene, size) for scene in scenes for size in sizes]


def reading(job: Drawing, png: bytes) -> Reading:
    """The job of verifying a drawn image; marks and gaps are read at the smallest size alone."""
    return Reading(job.topic, png, tuple(job.scene.truths), job.size == min(SIZES))


def pace(jobs: Sequence[Drawing]) -> Pace:
    """Draw, then verify, with nothing stored."""
    started = perf_counter()
    pngs = list(spread(draw_png, jobs))
    drawn = perf_counter()
    readings = [reading(job, png) for job, png in zip(jobs, pngs, strict=True)]
    for found in spread(read_png, readings):
        if found.problem:
            sys.stderr.write(f"not read: {found.problem}\n")
    return Pace(len(jobs), drawn - started, perf_counter() - drawn)


def whole_benchmark() -> Pace:
    """All images of all topics, the start of the workers included if this is the first call."""
    return pace([job for topic in domains() for job in benchmark(topic, SIZES)])


def by_topic_and_size() -> Iterator[tuple[str, int, Pace]]:
    """The pace of each topic at each size, with the workers already running."""
    for topic in domains():
        for size in SIZES:
            yield topic, size, pace(benchmark(topic, [size]))
