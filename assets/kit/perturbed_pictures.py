"""Perturbed pictures: made by code once, and known by what they are made of."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any, NamedTuple, TypeAlias

from assets.kit.forecast import PENDING
from generators.perturbations.pipeline import PerturbJob, perturb_png
from generators.perturbations.registry import fingerprint_perturbations, from_json
from generators.perturbations.subject import EMPTY_SUBJECT, Inapplicable, Subject
from resources.execution.workers import map_in_workers
from resources.storage.image_store import ImageStore
from resources.storage.work_cache import WorkCache, build_work_key
from resources.untrusted_input.png_check import read_png_size

_BATCH_SIZE = 50


class PerturbedPicture(NamedTuple):
    """A perturbed picture, or why there is none."""

    sha256: str | None
    width: int | None
    height: int | None
    reason: str | None = None

    def to_columns(self, done: str) -> dict[str, Any]:
        """The columns of a row; one that has a picture ended as `done`, another inapplicable."""
        return {**self._asdict(), "outcome": "inapplicable" if self.sha256 is None else done}


class PerturbationRequest(NamedTuple):
    """Inputs of a perturbed picture."""

    original: str
    """The sha256 of the picture."""
    parameters: str
    """The perturbations as JSON."""
    subject: Subject = EMPTY_SUBJECT
    seed: int = 0


PerturbationRequests: TypeAlias = Mapping[int, PerturbationRequest]
"""Request of each row by place; a row without a picture to make has none."""


def find_perturbed_pictures(
    rows: Sequence[dict[str, Any]],
    works: PerturbationRequests,
    done: str,
    images: ImageStore,
    work_cache: WorkCache,
) -> list[dict[str, Any]]:
    """The rows with the pictures that were made before; those of others are pending."""
    keys = _keys(works)
    finished = {
        key: PerturbedPicture(*cells)
        for key, cells in work_cache.find_results(keys.values()).items()
    }
    lost = images.find_missing([picture.sha256 for picture in finished.values() if picture.sha256])
    return [
        row | finished[keys[place]].to_columns(done)
        if place in keys and keys[place] in finished and finished[keys[place]].sha256 not in lost
        else row | ({"outcome": PENDING} if place in keys else {})
        for place, row in enumerate(rows)
    ]


def make_perturbed_pictures(
    rows: Sequence[dict[str, Any]],
    works: PerturbationRequests,
    done: str,
    images: ImageStore,
    work_cache: WorkCache,
) -> tuple[list[dict[str, Any]], int]:
    """Make the pending pictures of rows; return the rows and the number of new pictures.

    A stored picture that is missing or damaged is made again.
    """
    lost = images.find_damaged({row["sha256"] for row in rows if row["outcome"] == done})
    keys = {
        place: key
        for place, key in _keys(works).items()
        if rows[place]["outcome"] == PENDING or rows[place]["sha256"] in lost
    }
    todo = iter({key: works[place] for place, key in keys.items()}.items())
    finished: dict[str, PerturbedPicture] = {}
    while chunk := list(islice(todo, _BATCH_SIZE)):
        chunk_results: dict[str, PerturbedPicture] = {}
        try:
            for key, picture in _perturb_all(chunk, images):
                chunk_results[key] = picture
        finally:
            work_cache.record({key: list(picture) for key, picture in chunk_results.items()})
        finished |= chunk_results
    ended = [
        row | finished[keys[place]].to_columns(done) if place in keys else row
        for place, row in enumerate(rows)
    ]
    return ended, len(finished)


def _perturb_all(
    requests: Iterable[tuple[str, PerturbationRequest]], images: ImageStore
) -> Iterator[tuple[str, PerturbedPicture]]:
    jobs = [
        (
            key,
            PerturbJob(
                image=images.get(request.original),
                perturbations=from_json(request.parameters),
                subject=request.subject,
                seed=request.seed,
            ),
        )
        for key, request in requests
    ]
    for key, result in map_in_workers(_perturb, jobs):
        if isinstance(result, str):
            yield key, PerturbedPicture(sha256=None, width=None, height=None, reason=result)
        else:
            yield key, PerturbedPicture(images.put(result), *read_png_size(result))


def _perturb(perturbing: PerturbJob) -> bytes | str:
    """The PNG, or why there is none."""
    try:
        return perturb_png(perturbing)
    except Inapplicable as why:
        return str(why)


def _keys(works: PerturbationRequests) -> dict[int, str]:
    """Build the work key of each request, by place."""
    codes = {
        parameters: fingerprint_perturbations(from_json(parameters))
        for parameters in {request.parameters for request in works.values()}
    }
    return {
        place: build_work_key(
            *("perturb", codes[request.parameters], request.original, request.parameters),
            *(_to_json(request.subject), *((request.seed,) if request.seed else ())),
        )
        for place, request in works.items()
    }


def _to_json(subject: Subject) -> list[Any]:
    boxes = [[b.left, b.top, b.width, b.height, b.label] for b in subject.boxes]
    return [subject.keyword, subject.instruction, boxes]
