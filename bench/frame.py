"""FRAME with 500 and 5,000 pictures: seconds, and the peak memory of each asset's own process.

The pictures are small, with one configuration of each bias, and a stand-in judge scores them, so
that what is measured is ours: perturbing, storing, tables and the search, through the assets.
"""

import json
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import Any

import pyarrow.parquet as pq
from dagster import AssetSpec, DagsterInstance, materialize

from assets.frame.biased_images import BiasedImages
from assets.frame.common import GROUP, asset_key, by_source, frame_domains
from assets.frame.images import IMAGES, FrameImages
from assets.frame.scores import FrameScores
from assets.frame.search import ConfigurationSearch
from assets.kit.partitions import partition_tags, sources
from assets.kit.step import Step
from assets.kit.step_asset import build_step_asset
from bench.client import client_in, model_named, picture
from bench.figure import Figure, answer, in_a_process
from bench.machine import peak_megabytes
from resources.models.catalog import Catalog
from resources.settings.budget import Budget
from resources.storage.data_root import DataRoot
from resources.storage.image_store import ImageStore
from resources.storage.parquet_tables import ParquetTables
from resources.storage.work_cache import WorkCache

_SIDE = 96
_MOST = 5
"""KB of memory for each further picture, of which there are 8 rows."""
_PARTITION = "animals|mine"
_JUDGE = "gullible"
_SINGLE = {"configurations": "single"}
_RUNS: tuple[tuple[str, str, dict[str, Any]], ...] = (
    ("biased_images", "making the biased images of", _SINGLE),
    ("biased_images", "finding them again for", _SINGLE),
    (f"scores_{_JUDGE}", "scoring them for", _SINGLE),
    (f"search_{_JUDGE}", "searching", {}),
)


def figures(few: int = 500, many: int = 5_000) -> Iterator[Figure]:
    """Each asset of few pictures and of many, then what a further row of each costs in memory."""
    peaks: dict[str, list[float]] = {what: [] for _, what, _ in _RUNS}
    for number in (few, many):
        with TemporaryDirectory() as root:
            write_images(Path(root), number)
            for name, what, config in _RUNS:
                rows, seconds, peak = in_a_process(
                    *("bench.frame", root, name, json.dumps(config)),
                    environment={"DAGSTER_HOME": ""},
                )
                peaks[what].append(peak)
                told = f"{rows:,} rows, {peak:.0f} MB"
                yield Figure(f"{what} {number:,} pictures", seconds, "s", None, told)
    for what, (low, high) in peaks.items():
        grown = 1000 * (high - low) / (many - few)
        yield Figure(f"memory of {what} one more picture", grown, "KB", _MOST)


def write_images(root: Path, number: int) -> None:
    """Store so many pictures of a collection, as `frame/images` keeps them."""
    images = ImageStore(root=str(root))
    rows: list[dict[str, Any]] = [
        {
            **dict.fromkeys(IMAGES.columns),
            "item_id": f"item-{place}",
            "domain": "animals",
            "source": "mine",
            "image_id": f"mine/item-{place}/0",
            "instruction": f"Create an image of {place} penguins on a beach at sunset.",
            "keyword": "penguin",
            "sample": 0,
            "outcome": "taken",
            "sha256": images.put(picture(_SIDE, place)),
            "width": _SIDE,
            "height": _SIDE,
            "is_stand_in": False,
            "calls": [],
        }
        for place in range(number)
    ]
    path = root / "frame" / "images" / "animals" / "mine.parquet"
    path.parent.mkdir(parents=True)
    pq.write_table(IMAGES.build_table(rows), path)


def make(root: str, name: str, config: str) -> tuple[int, float, float]:
    """Materialize an asset here: its rows, seconds, and the process's peak in MB."""
    judge = model_named(_JUDGE, "stand_in", "judge", model=_JUDGE, family="stand_in")
    catalog = Catalog((judge,))
    steps: list[Step[Any]] = [FrameImages(catalog), BiasedImages(catalog)]
    steps += [FrameScores(catalog, judge), ConfigurationSearch(catalog, judge)]
    (step,) = (step for step in steps if step.key.path[-1] == name)
    upstream = [
        AssetSpec(
            of.asset,
            group_name=GROUP,
            partitions_def=frame_domains if of.dimension else by_source,
        )
        for of in step.inputs.values()
    ]
    with client_in(root) as client, DagsterInstance.ephemeral() as instance:
        instance.add_dynamic_partitions(str(sources.name), ["mine"])
        started = perf_counter()
        result = materialize(
            [build_step_asset(step), *upstream],
            instance=instance,
            partition_key=_PARTITION,
            tags=partition_tags(_PARTITION, by_source),
            run_config={
                "loggers": {"console": {"config": {"log_level": "CRITICAL"}}},
                "ops": {f"frame__{name}": {"config": json.loads(config)}},
            },
            resources={
                "io_manager": ParquetTables(root=root),
                "home": DataRoot(root=root),
                "images": client.images,
                "models": client,
                "work_cache": WorkCache(root=root),
                "budget": Budget.from_environment({}),
            },
        )
        seconds = perf_counter() - started
    assert result.success
    rows = pq.read_metadata(
        Path(root, *asset_key(name).path, *_PARTITION.split("|")).with_suffix(".parquet")
    ).num_rows
    return rows, seconds, peak_megabytes()


if __name__ == "__main__":
    answer(make)
