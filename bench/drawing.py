"""Images drawn and verified, with the very functions and workers that the assets use."""

from collections.abc import Iterator, Sequence
from time import perf_counter

from bench.figure import Figure
from generators.domains import load_domains
from generators.worker_jobs import DrawJob, ReadJob, draw_png, read_png
from resources.execution.workers import map_in_workers

SIZES = (384, 768, 1152)


def figures() -> Iterator[Figure]:
    """The whole benchmark with the start of the workers, then each topic and size in memory."""
    jobs = [job for topic in load_domains() for job in benchmark(topic, SIZES)]
    drawing, verifying = seconds(jobs)
    yield Figure(f"drawing all {len(jobs)} images, workers started first", drawing, "s", 20)
    yield Figure(f"verifying all {len(jobs)} images", verifying, "s", 15)
    for topic in load_domains():
        for size in SIZES:
            jobs = benchmark(topic, [size])
            drawing, verifying = (len(jobs) / spent for spent in seconds(jobs))
            yield Figure(f"drawing {topic} at {size} px", drawing, "images per second")
            yield Figure(f"verifying {topic} at {size} px", verifying, "images per second")


def benchmark(topic: str, sizes: Sequence[int], seed: int = 0) -> list[DrawJob]:
    """The jobs for a topic's benchmark images at those sizes (the originals not among them)."""
    scenes = [
        s for s in load_domains()[topic].draw_module.list_scenes(seed) if s.image_set == "benchmark"
    ]
    return [DrawJob(topic, scene, size) for scene in scenes for size in sizes]


def reading(job: DrawJob, png: bytes) -> ReadJob:
    """The job of verifying a drawn image; marks and gaps are read at the smallest size alone."""
    return ReadJob(job.topic, png, tuple(job.scene.truths), job.size == min(SIZES))


def seconds(jobs: Sequence[DrawJob]) -> tuple[float, float]:
    """Draw, then verify, on all cores, with nothing stored."""
    started = perf_counter()
    pngs = list(map_in_workers(draw_png, ((job, job) for job in jobs)))
    drawn = perf_counter()
    readings = [(job, reading(job, png)) for job, png in pngs]
    assert not any(found.problem for _, found in map_in_workers(read_png, readings))
    return drawn - started, perf_counter() - drawn
