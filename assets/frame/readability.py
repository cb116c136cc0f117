"""Readable pictures: those in which code reads the same after a bias as before it.

Code can read schematics of `sketch`, and pictures of the drawn domains that a collection has with a
question about each. Of what text-to-image models paint it can say nothing.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TypeAlias

from assets.kit.pictures import compute_missing
from assets.kit.step_run import Row
from generators.fingerprint import fingerprint
from resources.storage.image_store import ImageStore
from resources.storage.work_cache import WorkCache, build_work_key

_Shown: TypeAlias = tuple[str, str]
"""The hash of a picture, and the question about it; empty for none."""


def add_readability(
    rows: Sequence[dict[str, Any]], images: ImageStore, work_cache: WorkCache
) -> list[dict[str, Any]]:
    """The rows of biased pictures with `readable`; None where code cannot read the original.

    Where a collection has an `answer`, that has to be read in the original. What was read before is
    not read again.
    """
    originals = {_show_original(row): row.get("answer") for row in rows if row["original"]}
    truths = {
        shown: read
        for shown, read in _read(originals, images, work_cache).items()
        if read is not None and _agrees(originals[shown], read)
    }
    checkable_rows = [
        row for row in rows if row["sha256"] and row["original"] and _show_original(row) in truths
    ]
    readings = _read(map(_show_biased, checkable_rows), images, work_cache)
    same = {
        _build_row_key(row): readings[_show_biased(row)] == truths[_show_original(row)]
        for row in checkable_rows
    }
    return [row | {"readable": same.get(_build_row_key(row))} for row in rows]


def _agrees(answer: str | None, read: str) -> bool:
    return answer is None or answer.strip(" {}.").lower() == read.lower()


def _show_original(row: Row) -> _Shown:
    return row["original"], row.get("question") or ""


def _show_biased(row: Row) -> _Shown:
    return row["sha256"], row.get("question") or ""


def _build_row_key(row: Row) -> tuple[str, str]:
    return row["image_id"], row["parameters"]


def _read(
    shown: Iterable[_Shown], images: ImageStore, work_cache: WorkCache
) -> Mapping[_Shown, str | None]:
    """Return the text that code reads in some pictures; None where it reads nothing."""
    from generators.pixel_answers import PixelQuery, describe_picture  # noqa: PLC0415 - slow, and seldom needed

    keys = {picture: _key(*picture) for picture in dict.fromkeys(shown)}
    return compute_missing(
        keys,
        lambda picture: PixelQuery(images.get(picture[0]), picture[1]),
        describe_picture,
        work_cache,
    )


def _key(digest: str, question: str) -> str:
    from generators.pixel_answers import match_drawn_domain  # noqa: PLC0415 - slow, and seldom needed

    match = match_drawn_domain(question)
    topic = match[0].fingerprint if match else None
    return build_work_key("seen", fingerprint("generators.pixel_answers"), topic, digest, question)
