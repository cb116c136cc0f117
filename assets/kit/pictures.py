"""Outcomes of requested pictures, as columns of a table and as a contact sheet."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from typing import Any, TypeVar

from dagster import MarkdownMetadataValue

from assets.kit.columns import BOOLEAN, TEXT, TEXTS, WHOLE
from assets.kit.conversations import unanswered_columns
from assets.kit.previews import MAX_THUMBNAILS, contact_sheet, sample_evenly
from assets.kit.step import Step
from assets.kit.step_run import Row, StepRun
from resources.execution.workers import map_in_workers
from resources.models.outcomes import AnsweredOutcome, Outcome
from resources.storage.image_store import ImageStore
from resources.storage.work_cache import WorkCache
from resources.untrusted_input.png_check import read_png_size

T = TypeVar("T")
WorkT = TypeVar("WorkT")
_RECORDED_AT_ONCE = 50
_STORED_AT_ONCE = 4
"""A disk that is asked to flush several files at once takes hardly longer than for one."""

PICTURE_COLUMNS = {
    "refusal": (TEXT, "content filter, image safety, no image or model, if refused; else empty"),
    "reason": (TEXT, "Reason for a missing or unusable picture; else empty"),
    "sha256": (TEXT, "Name of the picture in the image store; empty where there is none"),
    "width": (WHOLE, "px"),
    "height": (WHOLE, "px"),
    "served_model": (TEXT, "Model that made it, as the provider names it; empty if unnamed"),
    "is_stand_in": (BOOLEAN, "True if a stand-in took part, so that it is no result"),
    "calls": (TEXTS, "Keys of the stored calls behind it, from the suggestion of subjects on"),
}
"""The columns that all tables of pictures have, after `outcome`."""


def picture_columns(outcome: Outcome, done: str, images: ImageStore) -> dict[str, Any]:
    """Build the columns of a reply; the outcome of an answered request is `done`."""
    return outcome_columns(
        outcome,
        done,
        lambda digest: images.sizes([digest]).get(digest) or read_png_size(images.get(digest)),
    )


def outcome_columns(
    outcome: Outcome, done: str, size_of: Callable[[str], tuple[int, int]]
) -> dict[str, Any]:
    """Build picture columns; `size_of` returns the size in px of a picture by its sha256."""
    if isinstance(outcome, AnsweredOutcome):
        (digest,) = outcome.images
        width, height = size_of(digest)
        picture = {"sha256": digest, "width": width, "height": height}
        return {"outcome": done, **picture, "served_model": outcome.served_model}
    return unanswered_columns(outcome)


def sample_contact_sheet(
    rows: Sequence[Row], caption: Callable[[Row], str], images: ImageStore
) -> MarkdownMetadataValue:
    """A contact sheet of some of the rows that have a picture, evenly chosen."""
    shown = [row for row in rows if row["sha256"] is not None]
    sample = sample_evenly(shown, MAX_THUMBNAILS)
    return contact_sheet([(caption(row), images.get(row["sha256"])) for row in sample])


def draw_missing_pictures(
    works: Mapping[T, str],
    work_of: Callable[[T], WorkT],
    draw: Callable[[WorkT], bytes],
    images: ImageStore,
    work_cache: WorkCache,
) -> dict[T, str]:
    """The sha256 of each picture that code makes, by what it is of; `works` are keys of work.

    What was made before is not made again, unless it is missing or damaged.
    """
    digests = work_cache.find_results(works.values())
    damaged = images.find_damaged({*digests.values()})
    missing = {
        key: item for item, key in works.items() if key not in digests or digests[key] in damaged
    }
    pngs = map_in_workers(draw, ((key, work_of(item)) for key, item in missing.items()))
    for stored in store_pictures(pngs, images, work_cache):
        digests |= stored
    return {item: digests[key] for item, key in works.items()}


def compute_missing(
    works: Mapping[T, str],
    work_of: Callable[[T], WorkT],
    find: Callable[[WorkT], Any],
    work_cache: WorkCache,
) -> dict[T, Any]:
    """Compute results that the cache lacks; return all by item. `works` maps items to work keys.

    New results are recorded in chunks, since a commit waits for the disk; an error leaves those
    before it recorded as well.
    """
    results = work_cache.find_results(works.values())
    missing = {key: item for item, key in works.items() if key not in results}
    founds = map_in_workers(find, ((key, work_of(item)) for key, item in missing.items()))
    new: dict[str, Any] = {}
    try:
        for key, result in founds:
            results[key] = new[key] = result
            if len(new) == _RECORDED_AT_ONCE:
                work_cache.record(new)
                new = {}
    finally:
        work_cache.record(new)
    return {item: results[key] for item, key in works.items()}


def store_pictures(
    pngs: Iterable[tuple[str, bytes]], images: ImageStore, work_cache: WorkCache
) -> Iterator[dict[str, str]]:
    """Store pictures by key of their work, and yield the sha256 of some once they are recorded.

    They are stored while the next ones are drawn, and recorded once they are on the disk. What is
    stored is recorded even if a later one cannot be drawn or stored; a kill loses a few.
    """
    under_way: dict[str, Future[str]] = {}

    def record() -> dict[str, str]:
        wait(under_way.values())
        ended = dict(under_way)
        under_way.clear()
        work_cache.record(
            {key: future.result() for key, future in ended.items() if not future.exception()}
        )
        return {key: future.result() for key, future in ended.items()}

    with ThreadPoolExecutor(_STORED_AT_ONCE) as threads:
        try:
            for key, png in pngs:
                under_way[key] = threads.submit(images.put, png)
                if len(under_way) == _RECORDED_AT_ONCE:
                    yield record()
        finally:
            last = record()
    yield last


def missing_pictures_metadata(step: Step[Any], work: StepRun[Any], failed: int) -> dict[str, str]:
    """Build the metadata on pictures that a folder of a painter lacks; empty for other painters."""
    model = step.model(work.partition, work.config)
    if not failed or model is None or not model.may_lack_answers:
        return {}
    how = prompts_command(step.key.to_user_string(), work.partition)
    return {"still_to_paint": f"{failed:,} pictures. {how}"}


def prompts_command(asset: str, partition: str) -> str:
    """The command that lists what is still to be painted."""
    partition_option = f" --partitions '{partition}'" if partition else ""
    command = f"counterfactory prompts {asset}{partition_option} --missing --to prompts.csv"
    return f"To list what is to be painted: {command}"


def unique_calls(rows: Sequence[Row]) -> list[str]:
    """The calls behind several rows, each once."""
    return list(dict.fromkeys(key for row in rows for key in row["calls"]))
