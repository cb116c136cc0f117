"""Work on a Ray cluster of this machine's cores: what Ray adds to each item, and to drawing."""

import os
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext
from importlib import import_module
from importlib.util import find_spec
from secrets import token_hex
from tempfile import TemporaryDirectory
from typing import Any

from bench import drawing
from bench.figure import Figure, Unmeasured, answer, in_a_process
from generators.domains import load_domains
from resources.execution.cores import count_cores
from resources.execution.ray_cluster import ADDRESS_VARIABLE
from resources.execution.workers import map_in_workers

_ITEMS = {0.0: 10_000, 0.006: 2_000, 0.06: 400}
"""Items by the seconds that each waits: nothing, as reading a sketch does, and as drawing does."""


def figures() -> Iterator[Figure | Unmeasured]:
    """What an item costs beyond processes of this machine, and the drawn benchmark on both."""
    if find_spec("ray") is None:
        yield Unmeasured("work on a Ray cluster", "Ray is not installed (the extra `ray`)")
        return
    here, on_ray = (in_a_process("bench.ray_tasks", place) for place in ("here", "ray"))
    for index, seconds in enumerate(_ITEMS):
        overhead = on_ray["items"][index] - here["items"][index]
        name = f"Ray on an item of {1000 * seconds:.0f} ms, beyond a process"
        yield Figure(name, overhead, "ms of a core", 1)
    for index, part in enumerate(("drawing", "verifying")):
        yield Figure(f"{part} all images by processes of this machine", here["images"][index], "s")
        yield Figure(f"{part} them by Ray on the same cores", on_ray["images"][index], "s")


def measure(place: str) -> dict[str, Sequence[float]]:
    """Milliseconds of a core by item and seconds for all images: here, or on a cluster."""
    jobs = [job for topic in load_domains() for job in drawing.benchmark(topic, drawing.SIZES)]
    with _start_ray() if place == "ray" else nullcontext():
        return {
            "items": [_measure_item(seconds, count) for seconds, count in _ITEMS.items()],
            "images": drawing.seconds(jobs),
        }


@contextmanager
def _start_ray() -> Iterator[None]:
    """Start a cluster on loopback, for which nobody else has the token."""
    os.environ["RAY_AUTH_MODE"] = "token"
    os.environ["RAY_AUTH_TOKEN"] = token_hex()
    os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
    ray: Any = import_module("ray")
    with TemporaryDirectory(prefix="ray") as folder:
        node = ray.init(
            num_cpus=count_cores(),
            include_dashboard=False,
            log_to_driver=False,
            logging_level="ERROR",
            _node_ip_address="127.0.0.1",
            _temp_dir=folder,
        )
        os.environ[ADDRESS_VARIABLE] = node.address_info["gcs_address"]
        yield
        ray.shutdown()


def _measure_item(seconds: float, count: int) -> float:
    """Milliseconds of a core that an item of a length takes, with workers that are warm."""
    items = [(number, seconds) for number in range(count)]
    for _ in map_in_workers(time.sleep, items[:100]):
        pass
    started = time.perf_counter()
    for _ in map_in_workers(time.sleep, items):
        pass
    return 1000 * (time.perf_counter() - started) * count_cores() / count


if __name__ == "__main__":
    answer(measure)
