"""Two machines, with a home each, that draw the whole benchmark at once into the same stores."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter

from assets.kit.pictures import draw_missing_pictures
from bench.drawing import benchmark
from bench.figure import Figure, Unmeasured, answer, in_a_process
from generators.domains import load_domains
from generators.worker_jobs import draw_png
from resources.storage.image_store import ImageStore
from resources.storage.work_cache import WorkCache, build_work_key
from tests.postgres import Postgres, installed

_SIZES = (384,)
_MOST_TOGETHER = 1.1
"""Most work of two machines together, in that of one."""


def figures() -> Iterator[Figure | Unmeasured]:
    """Draw on SQLite, on PostgreSQL, on PostgreSQL by two machines at once, and then by a third."""
    if not installed():
        yield Unmeasured("drawing by two machines", "there is no PostgreSQL server to start")
        return
    with TemporaryDirectory() as folder, Postgres() as server:
        alone, seconds = _draw_at_once(Path(folder, "file"), "", ["one"])
        yield Figure(f"drawing {sum(alone)} pictures, recorded in SQLite", seconds, "s")
        single, seconds = _draw_at_once(Path(folder, "server"), server.database(), ["one"])
        yield Figure(f"drawing {sum(single)} pictures, recorded in PostgreSQL", seconds, "s")
        url, shared = server.database(), Path(folder, "shared")
        both, seconds = _draw_at_once(shared, url, ["one", "two"])
        yield Figure("the same by two homes at once on these cores", seconds, "s")
        share = sum(both) / sum(single)
        note = " and ".join(map(str, both))
        yield Figure("pictures drawn by both, of those by one", share, "", _MOST_TOGETHER, note)
        (third,), seconds = _draw_at_once(shared, url, ["three"])
        yield Figure("pictures drawn by a third home", third, "", 0, f"{seconds:.1f} s")


def _draw_at_once(folder: Path, url: str, homes: list[str]) -> tuple[list[int], float]:
    """Draw by a process for each home; returns the pictures that each drew, and seconds."""
    started = perf_counter()
    with ThreadPoolExecutor() as threads:
        drawn = threads.map(
            lambda home: int(in_a_process("bench.two_homes", folder, home, url)), homes
        )
        return list(drawn), perf_counter() - started


def draw(folder: str, home: str, url: str) -> int:
    """Draw the benchmark of all topics that is not recorded; returns the number of pictures."""
    jobs = {
        build_work_key("bench", topic, job.scene.base_id, job.size): job
        for topic in load_domains()
        for job in benchmark(topic, _SIZES)
    }
    images, works = ImageStore(root=folder), {key: key for key in jobs}
    with closing(WorkCache(root=f"{folder}/{home}", calls_url=url)) as work_cache:
        return draw_missing_pictures(works, jobs.__getitem__, draw_png, images, work_cache).done


if __name__ == "__main__":
    answer(draw)
