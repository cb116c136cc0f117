"""The client of every model: stored answers are looked up, the rest is requested once."""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from datetime import UTC, datetime
from functools import partial
from logging import Logger
from threading import Lock
from typing import Any, NamedTuple

from dagster import ConfigurableResource, InitResourceContext
from pydantic import PrivateAttr

from resources.calls import CallStore, DamagedAnswers, StoredAnswer
from resources.calls.spending import Account
from resources.execution.run_watch import RunWatch
from resources.execution.workers import find_workers
from resources.faults import LostPictures, PendingInBatch, RunEnded, UnsupportedRequest
from resources.models.backend_pool import BackendPool
from resources.models.budget_gate import BudgetGate
from resources.models.catalog import Model, Role
from resources.models.dispatch import MAX_ATTEMPTS, Dispatch
from resources.models.image_checks import refuse_pictures
from resources.models.outcomes import MalformedOutcome, Outcome, build_repair_request, read_outcome
from resources.models.price_gaps import require_prices
from resources.models.pricing import (
    compute_cost,
    compute_cost_bound,
    explain_picture_cost,
    list_images,
    to_dollars,
)
from resources.models.replies import Usage
from resources.models.request_progress import RequestProgress
from resources.models.requests import Request, WriteRequest, compute_call_keys, get_request_kind
from resources.storage.image_store import ImageStore

MAX_REPAIRS = 1
ROLES: Mapping[str, set[Role]] = {
    "write": {"writer", "moderator"},
    "look": {"judge", "captioner", "detector"},
    "paint": {"painter"},
    "edit": {"editor"},
    "score": {"metric"},
}
"""The roles of which a model has to have one, by what it is asked to do."""
PICTURE_BYTES = 8_000_000
"""Room that is held for each picture on its way: twice a large PNG's."""
_PAINTING = ("paint", "edit")
_REQUESTS_PER_WORKER = 2
"""One that is drawn, and one that waits or is stored."""
_STARTING = Lock()
_NO_ACCOUNT = Account()
_NOTHING = Usage(0, 0, 0.0)


class AskResult(NamedTuple):
    """Outcomes of requests, in their order, and what they cost."""

    outcomes: list[Outcome]
    already_stored: int
    """Distinct requests whose answer was stored before."""
    sent: int
    """Requests sent now, retries included."""
    spent: float | None
    """Dollars for what was answered now; None where a price is unknown."""
    keys: list[tuple[str, ...]]
    """Keys of the stored calls behind each request's outcome; none if it failed."""
    possibly_spent: float = 0.0
    """Dollars that may have been paid beside, at most: time limits, broken connections."""


class ModelClient(ConfigurableResource[None]):
    """Asks models, through the call store, at their pace; for any number of threads.

    Every answer is stored before it is given, so that a run that is broken off loses at most what
    was on its way, and the next one asks for just the rest.
    """

    calls: CallStore
    images: ImageStore
    _clock: Callable[[], datetime] = PrivateAttr(default_factory=lambda: partial(datetime.now, UTC))
    _pool: BackendPool = PrivateAttr(default_factory=BackendPool)
    _watch: RunWatch | None = PrivateAttr(default=None)

    def ask(
        self,
        model: Model,
        requests: Sequence[Request],
        log: Logger,
        account: Account = _NO_ACCOUNT,
        max_attempts: int = MAX_ATTEMPTS,
    ) -> AskResult:
        """Ask `model` what is not answered yet; progress goes to `log` every ten seconds.

        Text that misses its schema is sent back once with what is wrong with it. What requests
        cost is booked on `account`, and nothing is sent that would cross one of its budgets.

        Raises `PendingInBatch` where some of it waits in a batch, `KeyNotSet` before the first
        request, `UnsupportedRequest` where the model lacks the role for a kind of request or its
        backend lacks the kind, `MissingPrice` where there is a budget and no price, `LostPictures`
        where answers name pictures that are gone, `DamagedAnswers` where answers are not what was
        stored, `OverBudget`, and `RequestsStopped` where the provider takes no more or cannot be
        reached, and `RunEnded` where the run was cancelled or its process killed.
        """
        result = self._ask(model, requests, log, account, max_attempts)
        for _ in range(MAX_REPAIRS):
            repairs = {
                place: build_repair_request(request, outcome)
                for place, (request, outcome) in enumerate(
                    zip(requests, result.outcomes, strict=True)
                )
                if isinstance(outcome, MalformedOutcome)
                and not outcome.is_unreadable
                and isinstance(request, WriteRequest)
            }
            if not repairs:
                break
            repaired = self._ask(
                model, list(repairs.values()), log, account, max_attempts, answered=True
            )
            repaired_outcomes = dict(zip(repairs, repaired.outcomes, strict=True))
            repair_keys = dict(zip(repairs, repaired.keys, strict=True))
            result = AskResult(
                outcomes=[
                    repaired_outcomes.get(place, outcome)
                    for place, outcome in enumerate(result.outcomes)
                ],
                already_stored=result.already_stored + repaired.already_stored,
                sent=result.sent + repaired.sent,
                spent=_sum(result.spent, repaired.spent),
                keys=[keys + repair_keys.get(place, ()) for place, keys in enumerate(result.keys)],
                possibly_spent=result.possibly_spent + repaired.possibly_spent,
            )
        return result

    def close(self) -> None:
        """Close connections and let go of local models."""
        self._pool.close()

    def setup_for_execution(self, context: InitResourceContext) -> None:
        """Watch the run, unless it is in an instance of this process that nobody else can see."""
        if context.instance is not None and context.run and not context.instance.is_ephemeral:
            self._watch = RunWatch(context.instance, context.run.run_id)

    def teardown_after_execution(self, context: InitResourceContext) -> None:
        """Close what the run opened."""
        self.close()

    def _ask(
        self,
        model: Model,
        requests: Sequence[Request],
        log: Logger,
        account: Account,
        max_attempts: int,
        *,
        answered: bool = False,
    ) -> AskResult:
        keys = compute_call_keys(model, requests)
        distinct = dict(zip(keys, requests, strict=True))
        calls = self._load_answers(distinct, account)
        missing = {key: request for key, request in distinct.items() if key not in calls}
        sizes = self.images.sizes(
            {image for request in missing.values() for image in list_images(request)}
        )
        refused = refuse_pictures(model, missing, sizes, self.images, log)
        missing = {key: request for key, request in missing.items() if key not in refused}
        bounds = {
            k: compute_cost_bound(model, request, sizes=sizes) for k, request in missing.items()
        }
        priced = all(compute_cost(model, request, _NOTHING) is not None for request in requests[:1])
        progress = RequestProgress(
            model=model.name,
            total=len(distinct) - len(refused),
            already_stored=len(calls),
            log=log,
            has_price=priced,
        )
        why = explain_picture_cost(model, missing.values(), sizes)
        gate = BudgetGate(
            model=model,
            account=account,
            store=self.calls,
            progress=progress,
            bounds=bounds,
            clock=self._clock,
            pictures_note=why,
        )
        has_answers = answered or bool(calls) or model.may_lack_answers
        is_painting = any(get_request_kind(request) in _PAINTING for request in missing.values())
        dispatch = Dispatch(
            model=_fill_workers(model) if model.is_stand_in and is_painting else model,
            store=self.calls,
            images=self.images,
            missing=missing,
            progress=progress,
            gate=gate,
            has_answers=has_answers,
            max_attempts=max_attempts,
        )
        dispatch.find_stop_reason = self._watch.find_stop_reason if self._watch else None
        if missing:
            self._require_active_run()
            self._require_no_batch(model, missing)
            if account.has_budget:
                require_prices(model, missing, bounds)
            with _STARTING:
                backend = self._pool.get_backend(model, self.images.get)
                require_abilities(backend, model, missing.values())
                loop = self._pool.start()
            if model.devices:
                loop.run(backend.ready(log))
            if is_painting:
                dispatch.reserve = self.images.reserve(model.concurrency * PICTURE_BYTES)
            try:
                loop.run(dispatch.run(backend), dispatch.interrupt)
            finally:
                dispatch.reserve.release()
            calls |= dispatch.calls
        failures = refused | dispatch.failures
        return AskResult(
            outcomes=[
                failures.get(key) or read_outcome(calls[key], request)
                for key, request in zip(keys, requests, strict=True)
            ],
            already_stored=progress.already_stored,
            sent=0 if model.is_imported else progress.sent,
            spent=None if progress.unpriced else to_dollars(progress.spent),
            keys=[() if key in failures else (key,) for key in keys],
            possibly_spent=to_dollars(progress.possibly_spent),
        )

    def _load_answers(
        self, requests: Mapping[str, Request], account: Account
    ) -> dict[str, StoredAnswer]:
        """Load the stored answers of requests by key, without malformed ones to be replaced.

        Raises `LostPictures` and `DamagedAnswers` unless the account has them asked for again.
        """
        try:
            answers = self.calls.find_answers(requests)
        except DamagedAnswers as damaged:
            if not account.replace_damaged_answers:
                raise
            self.calls.forget(damaged.keys)
            answers = self.calls.find_answers(requests)
        pictures = {key: answer.answer.get("images", ()) for key, answer in answers.items()}
        lost = self.images.find_missing(
            {digest for digests in pictures.values() for digest in digests}
        )
        unusable = [key for key, digests in pictures.items() if not lost.isdisjoint(digests)]
        if unusable and not account.remake_lost_pictures:
            raise LostPictures(
                f"Of {len(answers):,} answers that were paid for, {len(unusable):,} name pictures "
                f"that are not in {self.images.root}. Correct COUNTERFACTORY_IMAGES if they lie "
                "elsewhere, restore them, or import the cassette that has them. To have them made "
                "and pay for them again, set in the run config: resources: {budget: {config: "
                "{remake_lost_pictures: true}}}. Nothing was sent."
            )
        if account.replace_malformed_answers:
            unusable += [
                key for key, call in answers.items() if _is_unreadable(call, requests[key])
            ]
        if unusable:
            self.calls.forget(unusable)
        return {key: call for key, call in answers.items() if key not in unusable}

    def _require_active_run(self) -> None:
        """Raise `RunEnded` where the run was cancelled meanwhile, or its process killed."""
        if self._watch is not None and (reason := self._watch.find_stop_reason()):
            raise RunEnded(f"{reason} Nothing was sent.")

    def _require_no_batch(self, model: Model, keys: Collection[str]) -> None:
        waiting = self.calls.batches.find_waiting_tags(keys)
        batch = self.calls.batches.find(next(iter(waiting.values()))) if waiting else None
        if batch is not None:
            raise PendingInBatch(
                f"{len(waiting):,} of {len(keys):,} requests to {model.name} wait in a batch "
                f"already: {batch.tag}, submitted on {batch.submitted_at:%Y-%m-%d at %H:%M} UTC "
                f"for {batch.place}. Turn on the sensor `batches`, which collects it when it is "
                f"over, or have it stopped (job cancel_batch, tag: {batch.tag}). Nothing was sent."
            )


def _fill_workers(model: Model) -> Model:
    """The entry of a stand-in painter, with requests for all workers: many on a cluster."""
    at_once = _REQUESTS_PER_WORKER * find_workers().count
    return model.model_copy(update={"concurrency": max(model.concurrency, at_once)})


def _is_unreadable(call: StoredAnswer, request: Request) -> bool:
    """Return whether a stored reply has no answer at all; one that misses its schema has one."""
    outcome = read_outcome(call, request)
    return isinstance(outcome, MalformedOutcome) and outcome.is_unreadable


def _sum(first: float | None, second: float | None) -> float | None:
    return None if first is None or second is None else first + second


def require_abilities(backend: Any, model: Model, requests: Iterable[Request]) -> None:
    """Raise `UnsupportedRequest` where a model lacks the role, or its backend the method."""
    for kind in sorted({get_request_kind(request) for request in requests}):
        if not ROLES[kind] & set(model.roles):
            raise UnsupportedRequest(
                f"{model.name} is {', '.join(model.roles)} in models.yaml, and has to be "
                f"{' or '.join(sorted(ROLES[kind]))} to {kind}. Add that to its roles, or choose "
                "another model."
            )
        if not hasattr(backend, kind):
            raise UnsupportedRequest(
                f"{model.name} cannot {kind}: the backend {model.backend} does not offer that. "
                "Choose another model of models.yaml."
            )
