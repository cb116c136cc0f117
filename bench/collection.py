"""A collection of 1,000 and 10,000 rows through FRAME: seconds, and the memory of each asset.

Each picture is small, and gets two biases; a stand-in judge scores them. What is measured is ours:
reading the table and its pictures, perturbing, storing, tables, checks and the search.
"""

import csv
import json
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import Any

from dagster import materialize

from assets.kit.collections import collection_asset, collection_key
from bench.client import picture
from bench.figure import Figure, answer, in_a_process
from bench.machine import peak_megabytes
from resources.collections import Collection
from resources.storage.data_root import DataRoot
from resources.storage.image_store import ImageStore
from resources.storage.parquet_tables import ParquetTables
from resources.storage.work_cache import WorkCache

_SIDE = 96
_NAME = "mine"
_TABLE = "pictures.csv"
_BIASED = {"configurations": "single", "biases": ["brightness", "instruction"]}
_RUNS: tuple[tuple[str, str, dict[str, Any]], ...] = (
    ("collection", "taking the pictures of", {}),
    ("collection", "taking them again for", {}),
    ("images", "listing them for FRAME:", {}),
    ("biased_images", "two biases of each of", _BIASED),
    ("scores_gullible", "scoring", _BIASED),
    ("search_gullible", "searching", {}),
)
_MOST = 5
"""KB of memory for each further row of the collection."""


def figures(few: int = 1_000, many: int = 10_000) -> Iterator[Figure]:
    """Each asset of few rows and of many, then what a further row of each costs in memory."""
    peaks: dict[str, list[float]] = {what: [] for _, what, _ in _RUNS}
    for number in (few, many):
        with TemporaryDirectory() as root:
            write_collection(Path(root), number)
            for name, what, config in _RUNS:
                module = "bench.collection" if name == "collection" else "bench.frame"
                rows, seconds, peak = in_a_process(
                    *(module, root, name, json.dumps(config)), environment={"DAGSTER_HOME": ""}
                )
                peaks[what].append(peak)
                told = f"{rows:,} rows, {peak:.0f} MB"
                yield Figure(f"{what} {number:,} rows", seconds, "s", None, told)
    for what, (low, high) in peaks.items():
        grown = 1000 * (high - low) / (many - few)
        yield Figure(f"memory of {what} one more row", grown, "KB", _MOST)


def write_collection(root: Path, number: int) -> None:
    """Write so many pictures with a CSV file that names them."""
    with (root / _TABLE).open("w", newline="") as file:
        table = csv.writer(file)
        table.writerow(["image", "text"])
        for place in range(number):
            (root / f"{place}.png").write_bytes(picture(_SIDE, place))
            table.writerow([f"{place}.png", f"Create an image of {place} penguins on a beach."])


def take(root: str, name: str, config: str) -> tuple[int, float, float]:
    """Materialize the collection here: its rows, seconds, and the process's peak in MB."""
    path = str(Path(root) / _TABLE)
    entry = {"name": _NAME, "path": path, "columns": {"text": "text"}}
    started = perf_counter()
    result = materialize(
        [collection_asset(Collection.model_validate(entry))],
        run_config={"loggers": {"console": {"config": {"log_level": "CRITICAL"}}}},
        resources={
            "io_manager": ParquetTables(root=root),
            "images": ImageStore(root=root),
            "work_cache": WorkCache(root=root),
        },
    )
    seconds = perf_counter() - started
    assert result.success
    rows = len(DataRoot(root=root).table(collection_key(_NAME), None, ["row"]))
    return rows, seconds, peak_megabytes()


if __name__ == "__main__":
    answer(take)
