"""Labels read back from the pixels by code that never saw them."""

from collections.abc import Mapping
from dataclasses import asdict
from time import perf_counter
from typing import Any, NamedTuple, TypeVar

import pandas as pd
import pyarrow as pa
from dagster import AssetExecutionContext, AssetIn, MaterializeResult

from assets.kit.columns import REAL, TEXT, WHOLE, Columns, to_materialize_result, to_records
from assets.vlmbias.common import GROUP, drawn_topics, isolated_topics, table_asset
from generators.domains import load_domain
from generators.isolation import SUFFIX
from generators.worker_jobs import ReadJob, read_png
from resources.execution.work_loop import FinishedWork, WorkKind, finish_work
from resources.storage.image_store import ImageStore
from resources.storage.work_cache import WorkCache, build_work_key

T = TypeVar("T")

MEASUREMENTS = Columns(
    image_id=(TEXT, "Measured image"),
    sha256=(TEXT, "Name of its PNG in the image store"),
    pixels_sha256=(TEXT, "sha256 of its width, height and RGB values"),
    size=(WHOLE, "The longer side in px"),
    target=(TEXT, "Target that was read"),
    measured=(REAL, "Reading; empty if the pixels do not show it"),
    problem=(TEXT, "Reason for a missing reading; else empty"),
    mark=(REAL, "Narrowest mark in px that the count rests on; read at the smallest size only"),
    gap=(REAL, "Narrowest gap in px that the count rests on; read at the smallest size only"),
    measure_version=(TEXT, "Version of the topic's measuring code"),
)

MEASURED_COLUMNS = ["image_id", "sha256", "size", "targets"]
"""Columns of an image that measuring reads: what to open and to read, never a truth."""


@table_asset(
    columns=MEASUREMENTS,
    partitions=drawn_topics,
    ins={
        name: AssetIn([GROUP, name], metadata={"columns": MEASURED_COLUMNS})
        for name in ("drawn_images", "original_images")
    },
    description="Readings of the pixels of every stored image, made without its labels.",
)
def measurements(
    context: AssetExecutionContext,
    drawn_images: pd.DataFrame,
    original_images: pd.DataFrame,
    images: ImageStore,
    work_cache: WorkCache,
) -> MaterializeResult[pa.Table]:
    """Open the stored images, and measure those that were not measured before."""
    stored_images = pd.concat([drawn_images, original_images], ignore_index=True)
    return _tabulate_readings(context.partition_key, stored_images, images, work_cache)


@table_asset(
    columns=MEASUREMENTS,
    partitions=isolated_topics,
    ins={
        "isolated_images": AssetIn(
            [GROUP, "isolated_images"], metadata={"columns": MEASURED_COLUMNS}
        )
    },
    description="Readings of the pixels of every isolated image, made without its labels.",
)
def isolated_measurements(
    context: AssetExecutionContext,
    isolated_images: pd.DataFrame,
    images: ImageStore,
    work_cache: WorkCache,
) -> MaterializeResult[pa.Table]:
    """Open the stored images, and measure those that were not measured before."""
    topic = f"{context.partition_key}{SUFFIX}"
    return _tabulate_readings(topic, isolated_images, images, work_cache)


def _tabulate_readings(
    topic: str, image_table: pd.DataFrame, images: ImageStore, work_cache: WorkCache
) -> MaterializeResult[pa.Table]:
    started = perf_counter()
    stored_images = image_table[MEASURED_COLUMNS]
    rows, measured = measure_images(topic, stored_images, images, work_cache)
    return to_materialize_result(
        MEASUREMENTS.build_table(rows),
        images=len(stored_images),
        readings=len(rows),
        measured_now=measured.done,
        unreadable=sum(bool(row["problem"]) for row in rows),
        seconds=round(perf_counter() - started, 2),
    )


def measure_images(
    topic: str, stored_images: pd.DataFrame, images: ImageStore, work_cache: WorkCache
) -> tuple[list[dict[str, Any]], FinishedWork[str]]:
    """Measure a topic's images; return the rows of `MEASUREMENTS` of all.

    `stored_images` has `MEASURED_COLUMNS`; legibility is read of those of the smallest size.
    """
    smallest = stored_images["size"].min()
    image_rows = {row["image_id"]: row for row in to_records(stored_images)}
    pictures = {
        image_id: MeasuredPicture(
            sha256=row["sha256"],
            targets=tuple(row["targets"]),
            is_legibility_read=bool(row["size"] == smallest),
        )
        for image_id, row in image_rows.items()
    }
    measured = measure_pictures(topic, pictures, images, work_cache)
    version = load_domain(topic).measure_module.VERSION
    rows = [
        entry
        for image_id, row in image_rows.items()
        for entry in _rows(row, measured.results[image_id], version)
    ]
    return rows, measured


class MeasuredPicture(NamedTuple):
    """A picture, and what is read from it."""

    sha256: str
    targets: tuple[str, ...]
    is_legibility_read: bool


def measure_pictures(
    topic: str, pictures: Mapping[T, MeasuredPicture], images: ImageStore, work_cache: WorkCache
) -> FinishedWork[T]:
    """Measure pictures that were not measured before: the fields of `ImageReadings`, by item.

    Those that were measured before are read as well: raises `MissingItem` or `CorruptItem` where
    one is gone or damaged.
    """
    domain = load_domain(topic)
    code = (domain.measure_module.VERSION, domain.fingerprint)

    def load(item: T) -> ReadJob:
        picture = pictures[item]
        return ReadJob(topic, images.get(picture.sha256), *picture[1:])

    works = {item: build_work_key("measure", code, *picture) for item, picture in pictures.items()}
    digests = {key: pictures[item].sha256 for item, key in works.items()}

    def find_lost(results: Mapping[str, Any]) -> tuple[()]:
        images.require_intact({digests[key] for key in results})
        return ()

    kind = WorkKind(load=load, work=read_png, store=asdict, find_lost=find_lost)
    return finish_work(kind, works, work_cache)


def _rows(row: Mapping[str, Any], result: dict[str, Any], version: str) -> list[dict[str, Any]]:
    readings = result["readings"] or [None] * len(row["targets"])
    mark, gap = result["legibility"] or (None, None)
    return [
        {
            **{name: row[name] for name in ("image_id", "sha256", "size")},
            **{name: result[name] for name in ("pixels_sha256", "problem")},
            "target": target,
            "measured": reading,
            "mark": mark,
            "gap": gap,
            "measure_version": version,
        }
        for target, reading in zip(row["targets"], readings, strict=True)
    ]
