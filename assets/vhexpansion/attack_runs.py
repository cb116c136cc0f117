"""Attacks on the pictures of cases: those that were made before, and those that are missing."""

from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import accumulate
from logging import Logger
from queue import SimpleQueue
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
from resources.attacks.device_attack import DeviceAttack
from resources.attacks.gradient_search import Watch
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
    outcomes = {key: AttackOutcome(*values) for key, values in recorded.items()}
    missing = images.find_missing(
        {outcome.sha256 for outcome in outcomes.values() if outcome.sha256}
    )
    outcomes = {key: outcome for key, outcome in outcomes.items() if outcome.sha256 not in missing}
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

    Batches are the same on any number of devices. Each is recorded before the next one of its
    device, so that a kill costs one a device at most. Cases that an encoder cannot tell apart, as
    questions about one picture, are attacked once.
    """
    keys = {
        place: attacking.key(row) for place, row in enumerate(rows) if row["outcome"] == PENDING
    }
    rows_by_key = {key: rows[place] for place, key in keys.items()}
    # Those that take as many steps go together: none of a batch waits for the others.
    order = sorted(rows_by_key, key=lambda key: _count_steps(rows_by_key[key]))
    batches = [
        order[start : start + attacking.batch] for start in range(0, len(order), attacking.batch)
    ]
    finished: dict[str, AttackOutcome] = {}
    row_batches = [[rows_by_key[key] for key in batch_keys] for batch_keys in batches]
    for batch_keys, batch_outcomes in zip(
        batches, attacking.attack_batches(row_batches, images), strict=True
    ):
        outcomes = dict(zip(batch_keys, batch_outcomes, strict=True))
        work_cache.record(
            {
                key: list(outcome)
                for key, outcome in outcomes.items()
                if outcome.similarity is not None
            }
        )
        finished |= outcomes
    return [
        row | finished[keys[place]]._asdict() if place in keys else row
        for place, row in enumerate(rows)
    ]


class AttackRun:
    """The encoder of an entry at work, with a log of how far it is; raises `ModelUnavailable`.

    It is in this process, or where the entry names devices in a process for each; `close` ends
    them.
    """

    def __init__(self, encoder: Model, key: str | None, batch: int | None, log: Logger) -> None:
        self._model, self._log = encoder, log
        self._processes = [
            DeviceAttack(encoder.on_device(device), key) for device in encoder.devices
        ]
        self._attackers: Sequence[EncoderAttack | DeviceAttack] = self._processes or [
            EncoderAttack(encoder, key)
        ]
        self.batch = batch or parse_settings(encoder).batch or 1

    def close(self) -> None:
        """End the processes of devices, whatever they are doing."""
        for process in self._processes:
            process.close()

    def key(self, row: Row) -> str:
        """The key of the work that a row takes."""
        alone, with_question = work_keys(self._model, row)
        return with_question if self._attackers[0].sees_question else alone

    def attack_batches(
        self, batches: Sequence[Sequence[Row]], images: ImageStore
    ) -> Iterator[list[AttackOutcome]]:
        """Attack the pictures of each batch together, keeping those that are better than noise.

        Outcomes come in the order of the batches, of which each device works on one at a time.
        """
        total = sum(map(len, batches))
        free = SimpleQueue[EncoderAttack | DeviceAttack]()
        for attacker in self._attackers:
            free.put(attacker)

        def attack(rows: Sequence[Row], count: int) -> list[AttackOutcome]:
            attacker = free.get()
            try:
                return self._attack(attacker, rows, images, count, total)
            finally:
                free.put(attacker)

        counts = list(accumulate(map(len, batches)))
        if not self._processes:
            yield from map(attack, batches, counts)
            return
        threads = ThreadPoolExecutor(len(self._processes))
        try:
            yield from threads.map(attack, batches, counts)
        finally:
            # Without their processes, threads that still wait for them end at once.
            self.close()
            threads.shutdown(cancel_futures=True)

    def _attack(
        self,
        attacker: EncoderAttack | DeviceAttack,
        rows: Sequence[Row],
        images: ImageStore,
        count: int,
        total: int,
    ) -> list[AttackOutcome]:
        """Attack the pictures of a batch, with which `count` of all are attacked."""
        works = [_work(row, images) for row in rows]
        results = self._attack_together(
            attacker, works, f"{count - len(rows) + 1:,} to {count:,} of {total:,}"
        )
        outcomes = [_build_outcome(result, images) for result in results]
        attack_similarities = [
            outcome.similarity for outcome in outcomes if outcome.similarity is not None
        ]
        noise_similarities = [
            outcome.noise_similarity for outcome in outcomes if outcome.noise_similarity is not None
        ]
        if attack_similarities:
            self._log.info(
                "%s: %d of %d attacked; the last ones reached a similarity of %.3f on average, "
                "where noise has %.3f; %d failed",
                *(
                    self._model.name,
                    count,
                    total,
                    fmean(attack_similarities),
                    fmean(noise_similarities),
                ),
                sum(outcome.outcome == "failed" for outcome in outcomes),
            )
        return outcomes

    def _attack_together(
        self, attacker: EncoderAttack | DeviceAttack, works: Sequence[AttackJob], progress: str
    ) -> list[AttackResult]:
        """Attack pictures together; where one cannot be taken, each by itself."""
        try:
            return attacker.attack(works, self._watch(progress))
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
                for result in self._attack_together(attacker, [work], progress)
            ]

    def _watch(self, progress: str) -> Watch:
        logged_at = monotonic()

        def watch(step: int, similarities: Sequence[float]) -> None:
            nonlocal logged_at
            if monotonic() - logged_at >= LOG_INTERVAL_S:
                logged_at = monotonic()
                message = "%s: attacks %s at step %d: a similarity of %.3f on average"
                self._log.info(message, self._model.name, progress, step, fmean(similarities))

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
