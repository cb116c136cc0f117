"""`demo.py` from nothing and a second time, in folders of its own, with its memory watched."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import NamedTuple

from dagster import AssetKey, AssetRecordsFilter, DagsterInstance

from bench.memory import Memory, peak_of
from generators.domains import domains

_ROOT = Path(__file__).parent.parent


class DemoFailed(RuntimeError):
    """The demo ended with an error; the message is what it said."""


class DemoRun(NamedTuple):
    """One run of the demo: wall seconds, those of its steps, and what came of it."""

    seconds: float
    drawing: float
    verifying: float
    drawn: int
    verified: str
    peak: Memory


def demo_twice() -> tuple[DemoRun, DemoRun]:
    """Run the demo twice on one fresh data root and Dagster instance; raises `DemoFailed`."""
    with TemporaryDirectory(prefix="counterfactory-bench-") as folder:
        home = Path(folder) / "dagster"
        home.mkdir()
        shutil.copy(_ROOT / "dagster.yaml.example", home / "dagster.yaml")
        return _demo(home, Path(folder) / "data"), _demo(home, Path(folder) / "data")


def _demo(home: Path, data: Path) -> DemoRun:
    places = {"DAGSTER_HOME": str(home), "COUNTERFACTORY_HOME": str(data)}
    started = perf_counter()
    with subprocess.Popen(
        [sys.executable, "demo.py"],
        cwd=_ROOT,
        env=os.environ | places,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as demo:
        with peak_of(demo.pid) as peak:
            said, complaint = demo.communicate()
        seconds = perf_counter() - started
    if demo.returncode:
        raise DemoFailed(complaint)
    with DagsterInstance.from_config(str(home)) as instance:
        return DemoRun(
            seconds=seconds,
            drawing=_sum(instance, "seconds", "drawn_images", "original_images"),
            verifying=_sum(instance, "seconds", "measurements"),
            drawn=round(_sum(instance, "drawn_now", "drawn_images", "original_images")),
            verified=re.findall(r"^all +\d+ +\d+ +(\d+ of \d+)", said, re.MULTILINE)[0],
            peak=peak,
        )


def _sum(instance: DagsterInstance, number: str, *assets: str) -> float:
    """A number from the latest materialization of each topic of those assets, summed."""
    total = 0.0
    for asset in assets:
        for topic in domains():
            records = AssetRecordsFilter(AssetKey(["vlmbias", asset]), asset_partitions=[topic])
            latest = instance.fetch_materializations(records, limit=1).records[0]
            assert latest.asset_materialization is not None
            total += float(str(latest.asset_materialization.metadata[number].value))
    return total
