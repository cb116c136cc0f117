"""The demo from nothing and a second time, in folders of its own, with its memory watched."""

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter, time

from dagster import AssetKey, AssetRecordsFilter, DagsterInstance

from bench.figure import Figure
from bench.machine import peak_of
from generators.domains import load_domains

_ROOT = Path(__file__).parent.parent
_COMMAND = [sys.executable, "-m", "commands.app", "demo"]
_DRAWN = ("drawn_images", "original_images")


def figures() -> Iterator[Figure]:
    """Seconds, work and peak memory of both runs on one fresh data root and Dagster instance.

    Raises `subprocess.CalledProcessError` where one fails.
    """
    with TemporaryDirectory(prefix="counterfactory-bench-") as folder:
        home = Path(folder) / "dagster"
        home.mkdir()
        shutil.copy(_ROOT / "dagster.yaml.example", home / "dagster.yaml")
        for which, seconds, megabytes in (("first", 90, 900), ("second", 10, None)):
            started, since = perf_counter(), time()
            places = {"DAGSTER_HOME": str(home), "COUNTERFACTORY_HOME": f"{folder}/data"}
            with (
                subprocess.Popen(
                    _COMMAND, cwd=_ROOT, env=os.environ | places, stdout=subprocess.DEVNULL
                ) as demo,
                peak_of(demo.pid) as peak,
            ):
                demo.wait()
            if demo.returncode:
                raise subprocess.CalledProcessError(demo.returncode, _COMMAND)
            yield Figure(f"the {which} demo", perf_counter() - started, "s", seconds)
            note = f"{peak.resident / 1e6:.0f} MB RSS, {peak.processes} processes"
            yield Figure("peak memory of its processes", peak.megabytes, "MB", megabytes, note)
            with DagsterInstance.from_config(str(home)) as instance:
                drawn = _sum(instance, "drawn_now", *_DRAWN, since=since)
                verified = _sum(instance, "images", "measurements")
                verified -= _sum(instance, "unreadable", "measurements")
                yield Figure("its drawing", _sum(instance, "seconds", *_DRAWN, since=since), "s")
                yield Figure(
                    "its verifying", _sum(instance, "seconds", "measurements", since=since), "s"
                )
            yield Figure("images that it drew", drawn, "", 0 if which == "second" else None)
            yield Figure("images that are verified after it", verified, "")


def _sum(instance: DagsterInstance, number: str, *assets: str, since: float = 0.0) -> float:
    """A number from the latest materialization, since then, of each topic of assets, summed."""
    total = 0.0
    for asset in assets:
        for topic in load_domains():
            records = AssetRecordsFilter(AssetKey(["vlmbias", asset]), asset_partitions=[topic])
            latest = instance.fetch_materializations(records, limit=1).records[0]
            assert latest.asset_materialization is not None
            if latest.timestamp >= since:
                total += float(str(latest.asset_materialization.metadata[number].value))
    return total
