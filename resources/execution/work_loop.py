"""The loop over slow work: what is recorded is taken, the rest is spread over workers, once.

Drawing, measuring, perturbing and attacking all go through `finish_work`. Machines that share a
record divide the work by claims, and take each other's results.
"""

import time
from collections.abc import Callable, Collection, Generator, Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass
from itertools import islice
from typing import Any, ClassVar, Generic, TypeVar

from dagster import get_dagster_logger

from resources.execution.workers import find_workers, map_in_threads, map_in_workers
from resources.storage.work_cache import WorkCache
from resources.storage.work_claims import WorkClaims

T = TypeVar("T")
Job = TypeVar("Job")
Output = TypeVar("Output")

_FIRST_CHUNK, _LARGEST_CHUNK = 50, 1000
"""Items that are claimed, or recorded, at once; at first, at least one for each worker."""
_QUICK_S = 1.0
"""A chunk that takes less is followed by one twice as large, since commits wait for the disk; one
that takes longer is recorded before it is full."""
_FIRST_POLL_S, _POLL_S = 0.05, 1.0
_LOG_EVERY_S = 10.0


@dataclass(frozen=True, slots=True, kw_only=True)
class FinishedWork(Generic[T]):
    """Results by item."""

    results: dict[T, Any]
    done: int
    """Pieces of work that were done here and now, not recorded before or by another process."""
    lost: int
    """Pieces of work that were recorded, but whose result was lost."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkKind(Generic[T, Job, Output]):
    """How one kind of work is done."""

    load: Callable[[T], Job]
    """Loads what a worker needs; called in threads, a few items ahead."""
    work: Callable[[Job], Output]
    """Does it, in a worker: a function of a module."""
    store: Callable[[Output], Any] = lambda output: output
    """Stores the output and returns the result to record; called in threads."""
    find_lost: Callable[[Mapping[str, Any]], Collection[str]] = lambda results: ()
    """Finds, of recorded results by key, those that cannot be used."""

    is_recorded_by_batch: ClassVar = False

    def choose_chunk(self, total: int) -> int:
        """Choose how many of so many items are claimed at once at first."""
        # For few items there may be no need of workers.
        count = find_workers().count if total > _FIRST_CHUNK else 1
        return max(_FIRST_CHUNK, min(count, _LARGEST_CHUNK))

    def finish(
        self, jobs: Iterator[tuple[str, Job]], errors: list[Exception]
    ) -> Generator[dict[str, Any], None, None]:
        """Do jobs, and iterate over their results by key, those that end together at once."""
        outputs = map_in_workers(self.work, jobs)
        results = map_in_threads(
            lambda entry: {entry[0]: self.store(entry[1])}, _iterate_until_error(outputs, errors)
        )
        return _iterate_until_error(results, errors)


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchedWorkKind(Generic[T, Job, Output]):
    """How one kind of work is done where it is done by the batch, as on devices."""

    load: Callable[[T], Job]
    """Loads what a worker needs; called in threads, a few items ahead."""
    work: Callable[[Iterator[tuple[str, Job]]], Iterator[Mapping[str, Output]]]
    """Does jobs by key, and gives the outputs of each batch."""
    at_once: int
    """Items that are worked on at once, and claimed at once at first."""
    store: Callable[[Output], Any]
    """Stores the output and returns the result to record."""
    find_lost: Callable[[Mapping[str, Any]], Collection[str]]
    """Finds, of recorded results by key, those that cannot be used."""

    is_recorded_by_batch: ClassVar = True

    def choose_chunk(self, _total: int) -> int:
        """Choose how many items are claimed at once at first."""
        return self.at_once

    def finish(
        self, jobs: Iterator[tuple[str, Job]], errors: list[Exception]
    ) -> Generator[dict[str, Any], None, None]:
        """Do jobs, and iterate over their results by key, a batch at once."""
        for outputs in _iterate_until_error(self.work(jobs), errors):
            yield {key: self.store(output) for key, output in outputs.items()}


def finish_work(
    kind: WorkKind[T, Job, Output] | BatchedWorkKind[T, Job, Output],
    works: Mapping[T, str],
    work_cache: WorkCache,
) -> FinishedWork[T]:
    """Do the work of all items that is not recorded; `works` maps items to keys of work.

    Results are recorded in chunks, in the order of the items, as they come. An error is raised once
    what came before it is recorded. What another process is working on is waited for, and done here
    if that process is gone. The memory that this takes does not grow with the number of items,
    results apart.
    """
    results = work_cache.find_results(works.values())
    lost = set(kind.find_lost(results))
    results = {key: result for key, result in results.items() if key not in lost}
    missing = {key: item for item, key in works.items() if key not in results}
    done = 0
    if missing:
        with closing(work_cache.open_claims()) as claims:
            loop = _WorkLoop(kind, claims, len(missing))
            loop.finish(missing)
        results |= loop.results
        done = loop.done
    return FinishedWork(
        results={item: results[key] for item, key in works.items()}, done=done, lost=len(lost)
    )


class _WorkLoop(Generic[T, Job, Output]):
    """Missing work in progress."""

    def __init__(
        self,
        kind: WorkKind[T, Job, Output] | BatchedWorkKind[T, Job, Output],
        claims: WorkClaims,
        total: int,
    ) -> None:
        self.results: dict[str, Any] = {}
        self.done = 0
        self._kind, self._claims, self._total = kind, claims, total
        self._chunk_size = kind.choose_chunk(total)
        self._last_record = self._last_log = time.monotonic()

    def finish(self, missing: dict[str, T]) -> None:
        """Do all that is missing, or take the results of others, item by key."""
        wait = _FIRST_POLL_S
        while elsewhere := self._do_unclaimed(missing):
            # Nothing is claimed while it waits: two that wait for each other cannot come about.
            wait = min(2 * wait, _POLL_S) if len(elsewhere) == len(missing) else _FIRST_POLL_S
            self._log("waiting for %d that other processes are working on", len(elsewhere))
            time.sleep(wait)
            missing = elsewhere

    def _do_unclaimed(self, missing: dict[str, T]) -> dict[str, T]:
        """Do what no other process is working on; return the rest."""
        elsewhere: dict[str, T] = {}
        errors: list[Exception] = []
        load = self._kind.load
        claimed = self._claim(missing, elsewhere)
        jobs = map_in_threads(lambda entry: (entry[0], load(entry[1])), claimed, self._chunk_size)
        with closing(self._kind.finish(_iterate_until_error(jobs, errors), errors)) as results:
            self._record(results)
        if errors:
            # A later stage fails at an earlier item.
            raise errors[-1]
        return elsewhere

    def _claim(self, missing: dict[str, T], elsewhere: dict[str, T]) -> Iterator[tuple[str, T]]:
        """Claim what is missing, a chunk at a time, and iterate over what is to be done here."""
        remaining = iter(missing.items())
        while chunk := dict(islice(remaining, self._chunk_size)):
            keys, recorded = self._claims.take(chunk)
            lost = self._kind.find_lost(recorded)
            self.results |= {key: recorded[key] for key in recorded if key not in lost}
            for key, item in chunk.items():
                if key not in self.results:
                    if key in keys:
                        yield key, item
                    else:
                        elsewhere[key] = item

    def _record(self, groups: Iterator[dict[str, Any]]) -> None:
        """Record results as they come; after an error, or an interruption, what there is."""
        chunk, begun = dict[str, Any](), 0.0
        try:
            for results in groups:
                begun = begun if chunk else time.monotonic()
                chunk |= results
                is_due = self._kind.is_recorded_by_batch or time.monotonic() - begun >= _QUICK_S
                if is_due or len(chunk) >= self._chunk_size:
                    self._record_chunk(chunk)
                    chunk = {}
        finally:
            self._record_chunk(chunk)

    def _record_chunk(self, chunk: dict[str, Any]) -> None:
        self._claims.record(chunk)
        self.results |= chunk
        self.done += len(chunk)
        current_time = time.monotonic()
        if current_time - self._last_record < _QUICK_S:
            self._chunk_size = min(2 * self._chunk_size, _LARGEST_CHUNK)
        self._last_record = current_time
        self._log("%d of %d done", len(self.results), self._total)

    def _log(self, message: str, *numbers: int) -> None:
        """Log progress now and then."""
        current_time = time.monotonic()
        if current_time - self._last_log >= _LOG_EVERY_S:
            self._last_log = current_time
            get_dagster_logger().info(message, *numbers)


def _iterate_until_error(items: Iterator[T], errors: list[Exception]) -> Generator[T, None, None]:
    """Iterate over items up to an error, which is kept: what came before it goes on."""
    try:
        yield from items
    except Exception as error:  # noqa: BLE001 - raised once what came before it is recorded
        errors.append(error)
