"""Labels read back from the pixels by code that never saw them."""

from collections.abc import Mapping
from hashlib import sha256
from time import perf_counter
from typing import Any, NamedTuple

import pandas as pd
import pyarrow as pa
from dagster import AssetExecutionContext, AssetIn, MaterializeResult

from assets.columns import REAL, TEXT, WHOLE, Columns, materialized, records
from assets.vlmbias.common import GROUP, table_asset
from generators.canvas import pixels_of
from generators.domains import domain
from generators.reading import Unreadable
from resources.images import ImageStore
from resources.ledger import WorkLedger, work_key
from resources.workers import spread

MEASUREMENTS = Columns(
    image_id=(TEXT, "The image that was opened"),
    sha256=(TEXT, "Name of its PNG in the image store"),
    pixels_sha256=(TEXT, "sha256 of its width, height and RGB values"),
    size=(WHOLE, "The longer side in px"),
    target=(TEXT, "What was read"),
    measured=(REAL, "The reading; empty where the pixels do not show it"),
    problem=(TEXT, "Why there is no reading; empty where there is one"),
    mark=(REAL, "Narrowest mark in px that the count rests on; read at the smallest size only"),
    gap=(REAL, "Narrowest gap in px that the count rests on; read at the smallest size only"),
    measure_version=(TEXT, "Version of the topic's measuring code"),
)

SEEN = ["image_id", "sha256", "size", "targets"]
"""All that measuring is given of an image's row: what to open and what to read, never a truth."""


class _Job(NamedTuple):
    topic: str
    png: bytes
    targets: tuple[str, ...]
    legibility: bool


def read_png(job: _Job) -> dict[str, Any]:
    """Open one image and read every target from its pixels."""
    measuring, pixels = domain(job.topic).measuring, pixels_of(job.png)
    shape = f"{pixels.shape[1]}x{pixels.shape[0]}:".encode()
    found: dict[str, Any] = {
        "pixels_sha256": sha256(shape + pixels.tobytes()).hexdigest(),
        "readings": None,
        "problem": "",
        "mark": None,
        "gap": None,
    }
    try:
        found["readings"] = [float(reading) for reading in measuring.measure(pixels, job.targets)]
        if job.legibility:
            found["mark"], found["gap"] = map(float, measuring.legibility(pixels))
    except Unreadable as why:
        found["problem"] = str(why)
    return found


@table_asset(
    columns=MEASUREMENTS,
    ins={
        name: AssetIn([GROUP, name], metadata={"columns": SEEN})
        for name in ("drawn_images", "original_images")
    },
    description="What the pixels of every stored image say, read without any label at hand.",
)
def measurements(
    context: AssetExecutionContext,
    drawn_images: pd.DataFrame,
    original_images: pd.DataFrame,
    images: ImageStore,
    ledger: WorkLedger,
) -> MaterializeResult[pa.Table]:
    """Open the stored images, and measure those that were not measured before."""
    topic, started = domain(context.partition_key), perf_counter()
    seen = pd.concat([drawn_images, original_images], ignore_index=True)[SEEN]
    smallest = seen["size"].min()
    version = topic.measuring.VERSION
    jobs, keys = [], []
    for row in records(seen):
        png, targets = images.get(row["sha256"]), tuple(row["targets"])
        job = _Job(topic.name, png, targets, bool(row["size"] == smallest))
        jobs.append(job)
        keys.append(work_key("measure", topic.name, version, row["sha256"], *job[2:]))
    known = ledger.known(keys)
    missing = [(key, job) for key, job in zip(keys, jobs, strict=True) if key not in known]
    readings = spread(read_png, [job for _, job in missing])
    measured = {key: found for (key, _), found in zip(missing, readings, strict=True)}
    ledger.record(measured)
    known |= measured
    rows = [
        entry
        for row, key in zip(records(seen), keys, strict=True)
        for entry in _rows(row, known[key], version)
    ]
    return materialized(
        MEASUREMENTS.table(rows),
        images=len(seen),
        readings=len(rows),
        measured_now=len(missing),
        unreadable=sum(bool(row["problem"]) for row in rows),
        seconds=round(perf_counter() - started, 2),
    )


def _rows(row: Mapping[str, Any], found: dict[str, Any], version: str) -> list[dict[str, Any]]:
    readings = found["readings"] or [None] * len(row["targets"])
    return [
        {
            "image_id": row["image_id"],
            "sha256": row["sha256"],
            "pixels_sha256": found["pixels_sha256"],
            "size": row["size"],
            "target": target,
            "measured": reading,
            "problem": found["problem"],
            "mark": found["mark"],
            "gap": found["gap"],
            "measure_version": version,
        }
        for target, reading in zip(row["targets"], readings, strict=True)
    ]
