"""Releases: pictures of 1 MB, a thousand and five thousand, and the drawn benchmark's folder."""

import os
import shutil
import subprocess
import sys
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import Any

import pyarrow as pa
from dagster import (
    AssetKey,
    DagsterInstance,
    Definitions,
    MaterializeResult,
    build_resources,
    materialize,
)

from assets.kit.benchmarks import Benchmark
from assets.kit.columns import TEXT, Columns, to_materialize_result
from assets.kit.licences import OWN
from assets.kit.release_tables import ReleaseInputs, ReleaseRow, ReleaseTable
from assets.kit.table_asset import table_asset
from assets.release import ReleaseOptions, ReleaseSources, write_release
from bench.client import picture
from bench.figure import Figure, answer, in_a_process
from bench.machine import peak_megabytes
from generators.domains import load_domains
from resources.execution.workers import map_in_workers
from resources.models.catalog import Catalog
from resources.settings.default_resources import build_default_resources
from resources.storage.image_store import ImageStore

_ROOT = Path(__file__).parent.parent
_SIDE = 660
"""Side in px of a picture of 1 MB."""
_RATE, _PEAK_MB = 200, 1_000
_KEY = AssetKey(["bench", "pictures"])
_STORED = Columns(sha256=(TEXT, "Picture"))
_LAYOUT = Columns(id=(TEXT, "Name"), image=(TEXT, "Picture"), sha256=(TEXT, "Its sha256"))
_DRAWN = ("drawn_images", "original_images", "measurements", "questions")


def figures(few: int = 1_000, many: int = 5_000) -> Iterator[Figure]:
    """MB a second and peaks of few pictures and of many; then the drawn benchmark."""
    peaks = list[float]()
    for number in (few, many):
        with TemporaryDirectory(prefix="counterfactory-bench-") as folder:
            in_a_process("bench.release", "store", folder, number)
            megabytes, seconds, peak = in_a_process("bench.release", "release", folder)
            peaks.append(peak)
            name, note = (
                f"a release of {number:,} pictures of 1 MB",
                f"{megabytes / seconds:.0f} MB/s",
            )
            yield Figure(name, seconds, "s", megabytes / _RATE, note)
            yield Figure("its peak of memory", peak, "MB", _PEAK_MB)
    grown = 1000 * (peaks[1] - peaks[0]) / (many - few)
    yield Figure("memory for each further picture", grown, "KB", 20)
    yield from _release_drawn()


def _release_drawn() -> Iterator[Figure]:
    with TemporaryDirectory(prefix="counterfactory-bench-") as folder:
        home = Path(folder, "dagster")
        home.mkdir()
        shutil.copy(_ROOT / "dagster.yaml.example", home / "dagster.yaml")
        places = {"DAGSTER_HOME": str(home), "COUNTERFACTORY_HOME": f"{folder}/data"}
        select = " or ".join(f'key:"vlmbias/{name}"' for name in _DRAWN)
        partitions = ("--partitions", ",".join(load_domains()))
        _run(places, "run", select, *partitions)
        started, released = perf_counter(), Path(folder, "released")
        _run(places, "release", "vlmbias", "--to", str(released), *partitions)
        seconds = perf_counter() - started
        size = sum(path.stat().st_size for path in released.rglob("*") if path.is_file())
        yield Figure("the drawn VLMBias released", seconds, "s", 15, f"{size / 1e6:.0f} MB")


def _run(places: dict[str, str], *arguments: str) -> None:
    command = [sys.executable, "-m", "commands.app", *arguments]
    environment = os.environ | places
    subprocess.run(command, cwd=_ROOT, env=environment, check=True, stdout=subprocess.DEVNULL)


def _store(root: str, number: str) -> int:
    """Store so many pictures, with random content, and list them."""
    images = ImageStore(root=f"{root}/data")
    jobs = ((each, each) for each in range(int(number)))
    digests = [images.put(png) for _, png in map_in_workers(_draw, jobs)]
    Path(root, "pictures.txt").write_text("\n".join(digests))
    return len(digests)


def _draw(number: int) -> bytes:
    return picture(_SIDE, number)


def _release(root: str) -> tuple[float, float, float]:
    """MB of the folder, seconds to write it, and this process's peak of memory in MB."""
    digests = Path(root, "pictures.txt").read_text().split()

    @table_asset("bench", key=_KEY, columns=_STORED, partitions=None, description="Pictures.")
    def pictures() -> MaterializeResult[pa.Table]:
        return to_materialize_result(_STORED.build_table([{"sha256": name} for name in digests]))

    resources: dict[str, Any] = build_default_resources(f"{root}/data")
    with warnings.catch_warnings(), DagsterInstance.ephemeral() as instance:
        warnings.filterwarnings("ignore", category=DeprecationWarning)
        materialize([pictures], instance=instance, resources=resources)
        with build_resources(resources, instance) as stores, closing(stores.models):
            sources = ReleaseSources(
                home=stores.home,
                images=stores.images,
                work_cache=stores.work_cache,
                calls=stores.models.calls,
                catalog=Catalog(()),
                instance=instance,
                graph=Definitions(assets=[pictures], resources=resources).resolve_asset_graph(),
            )
            started, folder = perf_counter(), Path(root, "released")
            write_release(folder, _BENCHMARK, sources, ReleaseOptions())
            seconds = perf_counter() - started
    size = sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())
    return size / 1e6, seconds, peak_megabytes()


def _read_rows(inputs: ReleaseInputs, split: str) -> Iterator[ReleaseRow]:
    for number, digest in enumerate(inputs.home.table(_KEY)["sha256"]):
        name = f"picture/{number}"
        cells = {"id": name, "image": digest, "sha256": digest}
        yield ReleaseRow(name, cells, name, "pixels", (OWN,))


_BENCHMARK = Benchmark(
    name="bench",
    title="Bench",
    question="How fast?",
    steps=lambda catalog: [],
    assets=lambda catalog: [],
    stand_in_runs=lambda catalog, painter: [],
    release_tables=[
        ReleaseTable(
            config="pictures",
            description="Pictures.",
            columns=_LAYOUT,
            sources={"image": _KEY},
            read_rows=_read_rows,
        )
    ],
)
_WORK: Mapping[str, Callable[..., Any]] = {"store": _store, "release": _release}


def _work(name: str, *arguments: str) -> Any:
    return _WORK[name](*arguments)


if __name__ == "__main__":
    answer(_work)
