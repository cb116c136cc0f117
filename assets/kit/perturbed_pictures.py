"""Perturbed pictures: made by code once, and known by what they are made of."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, TypeAlias

from assets.kit.forecast import PENDING
from generators.perturbation_jobs import try_to_perturb
from generators.perturbations.pipeline import PerturbJob
from generators.perturbations.registry import fingerprint_perturbations, from_json
from generators.perturbations.subject import EMPTY_SUBJECT, Subject
from resources.execution.work_loop import WorkKind, finish_work
from resources.storage.image_store import ImageStore
from resources.storage.work_cache import WorkCache, build_work_key
from resources.untrusted_input.png_check import read_png_size


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
    kind: WorkKind[int, PerturbJob, bytes | str] = WorkKind(
        load=lambda place: _build_job(works[place], images),
        work=try_to_perturb,
        store=lambda output: _store(output, images),
        find_lost=lambda results: _find_lost(results, images),
    )
    finished = finish_work(kind, keys, work_cache)
    ended = [
        row | PerturbedPicture(*finished.results[place]).to_columns(done) if place in keys else row
        for place, row in enumerate(rows)
    ]
    return ended, finished.done


def _build_job(request: PerturbationRequest, images: ImageStore) -> PerturbJob:
    return PerturbJob(
        image=images.get(request.original),
        perturbations=from_json(request.parameters),
        subject=request.subject,
        seed=request.seed,
    )


def _store(output: bytes | str, images: ImageStore) -> list[Any]:
    """Store a perturbed picture; returns the fields of a `PerturbedPicture`."""
    if isinstance(output, str):
        return list(PerturbedPicture(sha256=None, width=None, height=None, reason=output))
    return list(PerturbedPicture(images.put(output), *read_png_size(output)))


def _find_lost(results: Mapping[str, Any], images: ImageStore) -> list[str]:
    digests = {key: PerturbedPicture(*cells).sha256 for key, cells in results.items()}
    damaged = images.find_damaged({digest for digest in digests.values() if digest is not None})
    return [key for key, digest in digests.items() if digest in damaged]


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
