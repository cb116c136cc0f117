"""Attacks on the pictures of cases: those that were made before, and those that are missing."""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from functools import partial
from itertools import islice
from logging import Logger
from statistics import fmean
from time import monotonic
from typing import Any, NamedTuple

from assets.kit.forecast import PENDING
from assets.kit.step_run import Row
from resources.attacks.attack import EncoderAttack
from resources.attacks.attack_parameters import (
    ATTACK_VERSION,
    AttackJob,
    AttackParameters,
    AttackResult,
)
from resources.attacks.device_attack import DeviceAttacks
from resources.attacks.gradient_search import Watch
from resources.execution.work_loop import BatchedWorkKind, finish_work
from resources.execution.workers import prefetch
from resources.models.backends.local_models import parse_settings
from resources.models.catalog import Model
from resources.models.replies import UnacceptableRequest
from resources.storage.image_store import ImageStore
from resources.storage.work_cache import WorkCache, build_work_key

LOG_INTERVAL_S = 30
"""Seconds between two progress messages of a batch."""


class AttackOutcome(NamedTuple):
    """Result of an attack, as the work cache and a table store it."""

    sha256: str | None
    similarity: float | None
    noise_similarity: float | None
    largest_change: int | None
    iterations: int | None
    outcome: str
    reason: str | None


_NOT_YET = AttackOutcome(
    sha256=None,
    similarity=None,
    noise_similarity=None,
    largest_change=None,
    iterations=None,
    outcome=PENDING,
    reason=None,
)


def find_finished_attacks(
    rows: Sequence[dict[str, Any]], encoder: Model, images: ImageStore, work_cache: WorkCache
) -> list[dict[str, Any]]:
    """The rows with those attacks that were made before; the others are pending.

    A row has the picture's `original`, its `question`, a `method`, `objective`, `parameters` and
    `seed`; one that has an outcome is left as it is.
    """
    keys = {
        place: work_keys(encoder, row) for place, row in enumerate(rows) if row["outcome"] is None
    }
    recorded = work_cache.find_results(key for row_keys in keys.values() for key in row_keys)
    lost = _find_lost(recorded, images.find_missing)
    outcomes = {key: AttackOutcome(*recorded[key]) for key in recorded if key not in lost}
    row_outcomes = {
        place: next((outcomes[key] for key in row_keys if key in outcomes), _NOT_YET)
        for place, row_keys in keys.items()
    }
    return [
        row | row_outcomes[place]._asdict() if place in row_outcomes else row
        for place, row in enumerate(rows)
    ]


def mark_damaged(rows: Sequence[dict[str, Any]], images: ImageStore) -> list[dict[str, Any]]:
    """Return the rows; those without a whole picture are pending."""
    bad = images.find_damaged({row["sha256"] for row in rows if row["sha256"]})
    return [row | _NOT_YET._asdict() if row["sha256"] in bad else row for row in rows]


def make_attacks(
    rows: Sequence[dict[str, Any]],
    attacking: "AttackRun",
    images: ImageStore,
    work_cache: WorkCache,
) -> list[dict[str, Any]]:
    """Make the pending attacks, a batch at a time; return all rows.

    Machines that share the work cache divide them by claims. Each batch is recorded as it ends,
    so that a kill costs those that were on a device. Cases that an encoder cannot tell apart, as
    questions about one picture, are attacked once.
    """
    keys = {
        place: attacking.key(row) for place, row in enumerate(rows) if row["outcome"] == PENDING
    }
    # Those that take as many steps go together: none of a batch waits for the others.
    order = sorted(keys, key=lambda place: _count_steps(rows[place]))
    kind: BatchedWorkKind[int, AttackJob, AttackResult] = BatchedWorkKind(
        load=lambda place: _work(rows[place], images),
        work=attacking.attack_batches,
        at_once=attacking.at_once,
        store=lambda result: list(_build_outcome(result, images)),
        find_lost=partial(_find_lost, find_bad=images.find_damaged),
    )
    finished = finish_work(kind, {place: keys[place] for place in order}, work_cache).results
    return [
        row | AttackOutcome(*finished[place])._asdict() if place in finished else row
        for place, row in enumerate(rows)
    ]


class AttackRun:
    """The encoder of an entry at work, with a log of how far it is; raises `ModelUnavailable`.

    It is in this process, or where the entry names devices in a worker on each; `close` ends them.
    """

    def __init__(self, encoder: Model, key: str | None, batch: int | None, log: Logger) -> None:
        self._model, self._log = encoder, log
        self._batch = batch or parse_settings(encoder).batch or 1
        self._attacker: EncoderAttack | DeviceAttacks = (
            DeviceAttacks(encoder, key, log) if encoder.devices else EncoderAttack(encoder, key)
        )

    @property
    def at_once(self) -> int:
        """Pictures that are attacked at once."""
        return self._batch * max(1, len(self._model.devices))

    def close(self) -> None:
        """End the workers of devices, whatever they are doing."""
        if isinstance(self._attacker, DeviceAttacks):
            self._attacker.close()

    def key(self, row: Row) -> str:
        """The key of the work that a row takes."""
        alone, with_question = work_keys(self._model, row)
        return with_question if self._attacker.sees_question else alone

    def attack_batches(
        self, jobs: Iterator[tuple[str, AttackJob]]
    ) -> Iterator[Mapping[str, AttackResult]]:
        """Attack pictures, a batch together, and give the results of each batch by key.

        Each device works on one batch at a time, and has the next one waiting.
        """
        batches = iter(lambda: dict(islice(jobs, self._batch)), {})
        attacker = self._attacker
        if isinstance(attacker, EncoderAttack):
            for batch in batches:
                works = [*batch.values()]
                attack = partial(attacker.attack, works, self._watch(len(works)))
                yield self._collect(batch, attack)
            return
        futures = prefetch(
            lambda batch: (batch, attacker.submit([*batch.values()])),
            batches,
            2 * len(self._model.devices),
        )
        for batch, future in futures:
            yield self._collect(batch, future.result)

    def _collect(
        self, batch: Mapping[str, AttackJob], attack: Callable[[], list[AttackResult]]
    ) -> Mapping[str, AttackResult]:
        """Wait for the results of a batch, by key, and log them."""
        results = dict(zip(batch, self._attack([*batch.values()], attack), strict=True))
        similarities = [
            (result.similarity, result.noise_similarity)
            for result in results.values()
            if result.similarity is not None and result.noise_similarity is not None
        ]
        if similarities:
            self._log.info(
                "%s: %d more attacked; they reached a similarity of %.3f on average, where noise "
                "has %.3f; %d failed",
                self._model.name,
                len(results),
                *map(fmean, zip(*similarities, strict=True)),
                sum(result.png is None for result in results.values()),
            )
        return results

    def _attack(
        self, works: Sequence[AttackJob], attack: Callable[[], list[AttackResult]]
    ) -> list[AttackResult]:
        """Attack pictures together; where one cannot be taken, each by itself."""
        try:
            return attack()
        except UnacceptableRequest as error:
            if len(works) == 1:
                return [
                    AttackResult(
                        png=None,
                        similarity=None,
                        noise_similarity=None,
                        largest_change=None,
                        iterations=0,
                        reason=str(error),
                    )
                ]
            return [
                result
                for work in works
                for result in self._attack(
                    [work], partial(self._attacker.attack, [work], self._watch(1))
                )
            ]

    def _watch(self, number: int) -> Watch:
        logged_at = monotonic()

        def watch(step: int, similarities: Sequence[float]) -> None:
            nonlocal logged_at
            if monotonic() - logged_at >= LOG_INTERVAL_S:
                logged_at = monotonic()
                message = "%s: %d attacks at step %d: a similarity of %.3f on average"
                self._log.info(message, self._model.name, number, step, fmean(similarities))

        return watch


def work_keys(encoder: Model, row: Row) -> tuple[str, str]:
    """The keys of a row's work: for an encoder that sees no question, and for one that does.

    Without loading it nobody knows which it is. Of the setting, what the objective uses counts.
    """
    terms = [encoder.model, *(encoder.parameters.get(name) for name in ("revision", "dtype"))]
    used = AttackParameters.model_validate_json(row["parameters"]).select_used(row["objective"])
    key_terms = [
        ATTACK_VERSION,
        *terms,
        row["original"],
        row["method"],
        row["objective"],
        used,
        row["seed"],
    ]
    return (
        build_work_key("attack", *key_terms, None),
        build_work_key("attack", *key_terms, row["question"]),
    )


def _find_lost(
    results: Mapping[str, Any], find_bad: Callable[[Collection[str]], set[str]]
) -> set[str]:
    """Find the recorded attacks whose picture is bad, or that could not even be tried."""
    outcomes = {key: AttackOutcome(*values) for key, values in results.items()}
    bad = find_bad({outcome.sha256 for outcome in outcomes.values() if outcome.sha256})
    return {
        key
        for key, outcome in outcomes.items()
        if outcome.sha256 in bad or outcome.similarity is None
    }


def _work(row: Row, images: ImageStore) -> AttackJob:
    setting = AttackParameters.model_validate_json(row["parameters"])
    return AttackJob(
        picture=images.get(row["original"]),
        question=row["question"],
        method=row["method"],
        objective=row["objective"],
        parameters=setting,
        seed=f"{row['seed']} {row['original']}",
    )


def _build_outcome(result: AttackResult, images: ImageStore) -> AttackOutcome:
    digest = None if result.png is None else images.put(result.png)
    return AttackOutcome(
        *(digest, result.similarity, result.noise_similarity, result.largest_change),
        *(result.iterations, "failed" if digest is None else "attacked", result.reason),
    )


def _count_steps(row: Row) -> int:
    return AttackParameters.model_validate_json(row["parameters"]).get_max_steps(row["objective"])
