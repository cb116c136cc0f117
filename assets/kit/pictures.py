"""Outcomes of requested pictures, as columns of a table and as a contact sheet."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

from dagster import MarkdownMetadataValue, get_dagster_logger

from assets.kit.columns import BOOLEAN, TEXT, TEXTS, WHOLE
from assets.kit.conversations import unanswered_columns
from assets.kit.previews import MAX_THUMBNAILS, contact_sheet, sample_evenly
from assets.kit.step import Step
from assets.kit.step_run import Row, StepRun
from resources.execution.work_loop import FinishedWork, WorkKind, finish_work
from resources.models.outcomes import AnsweredOutcome, Outcome
from resources.storage.image_store import ImageStore
from resources.storage.work_cache import WorkCache
from resources.untrusted_input.png_check import read_png_size

T = TypeVar("T")
JobT = TypeVar("JobT")

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
    load: Callable[[T], JobT],
    draw: Callable[[JobT], bytes],
    images: ImageStore,
    work_cache: WorkCache,
) -> FinishedWork[T]:
    """The sha256 of each picture that code makes, by what it is of; `works` are keys of work.

    What was made before is not made again, unless it is missing or damaged.
    """

    def find_lost(digests: Mapping[str, str]) -> list[str]:
        damaged = images.find_damaged({*digests.values()})
        for digest in damaged:
            get_dagster_logger().warning(
                "%s is missing or damaged: drawn again", images.path(digest)
            )
        return [key for key, digest in digests.items() if digest in damaged]

    kind = WorkKind(load=load, work=draw, store=images.put, find_lost=find_lost)
    return finish_work(kind, works, work_cache)


def compute_missing(
    works: Mapping[T, str],
    load: Callable[[T], JobT],
    compute: Callable[[JobT], Any],
    work_cache: WorkCache,
) -> dict[T, Any]:
    """Compute results that the cache lacks; return all by item. `works` maps items to work keys."""
    return finish_work(WorkKind(load=load, work=compute), works, work_cache).results


def missing_pictures_metadata(step: Step[Any], work: StepRun[Any], failed: int) -> dict[str, str]:
    """Build the metadata on pictures that a folder of a painter lacks; empty for other painters."""
    model = step.model(work.partition, work.config)
    if not failed or model is None or "painter" not in model.roles or not model.may_lack_answers:
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
