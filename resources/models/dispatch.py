"""Dispatch of requests that have no stored answer: claims, attempts and deadlines."""

import asyncio
import math
import random
from collections import Counter, deque
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from time import monotonic
from typing import Any

from resources.calls import Call, CallStore, StoredAnswer
from resources.calls.spending import Purchase
from resources.faults import OverBudget, StoreError
from resources.models.budget_gate import BudgetGate, ReservationQueue
from resources.models.catalog import Model
from resources.models.fault_explanations import explain_fault
from resources.models.outcomes import FailedOutcome, FailureKind
from resources.models.recording import (
    HOLD_S,
    build_call,
    record_answer,
    record_answer_with_retries,
)
from resources.models.replies import (
    Interrupted,
    ModelReply,
    ModelUnavailable,
    NoAnswer,
    Overloaded,
    RequestFault,
    UnacceptableRequest,
    UnparsableReply,
)
from resources.models.request_progress import RequestProgress, format_duration
from resources.models.requests import Request, compute_call_keys, get_request_kind
from resources.models.stop_rule import StopRule, to_sentence
from resources.models.turns import Turns
from resources.storage.disk_reserve import DiskReserve
from resources.storage.image_store import ImageStore

MAX_ATTEMPTS = 8
MAX_BY_FAILURE: Mapping[FailureKind, int] = {"deadline": 2, "unreadable": 3}
"""Maximum attempts by kind of failure: each one was paid for, or may have been."""
FIRST_WAIT_S, MAX_WAIT_S = 0.5, 60.0
MAX_PAUSE_S = 3600.0
"""Longest pause that a provider may ask for before the run gives up."""
FIRST_POLL_S, POLL_INTERVAL_S = 0.05, 1.0
"""First and longest interval at which to look for another process's answer."""
WATCH_INTERVAL_S = 2.0
"""Interval at which to check that the run was not cancelled or killed."""
STORING_SHARE = 0.5
"""Share of additional requests that may be claimed or stored while others are sent."""


class _GaveUp(Exception):
    """A request failed for good."""

    def __init__(self, failed: FailedOutcome) -> None:
        super().__init__(failed.error)
        self.failed = failed


@dataclass(slots=True)
class Dispatch:
    """A round of distinct requests, by key, to one model.

    Afterwards each is in `calls` or in `failures`, or `run` has raised.
    """

    model: Model
    store: CallStore
    images: ImageStore
    missing: dict[str, Request]
    progress: RequestProgress
    gate: BudgetGate
    has_answers: bool = False
    """Whether the model has answered any other request that goes with these."""
    max_attempts: int = MAX_ATTEMPTS
    reserve: DiskReserve = field(default_factory=partial(DiskReserve, None, 0))
    """Room for the pictures that are on their way."""
    find_stop_reason: Callable[[], str] | None = None
    """Tells why the run may send nothing more, if it may not."""
    calls: dict[str, StoredAnswer] = field(default_factory=dict)
    failures: dict[str, FailedOutcome] = field(default_factory=dict)
    _turns: Turns = field(init=False)
    _reservations: ReservationQueue = field(init=False, default_factory=ReservationQueue)
    _elsewhere: deque[tuple[str, float]] = field(init=False, default_factory=deque)
    _requested_keys: set[str] = field(init=False, default_factory=set)
    _stop_rule: StopRule = field(init=False)

    def __post_init__(self) -> None:
        self._turns = Turns(self.model, self.progress.log)
        self._stop_rule = StopRule(self.model, self.progress, self._release_waiting)

    async def run(self, backend: Any) -> None:
        """Send all that is missing.

        Raises `RequestsStopped`, `RunEnded`, or an error of the stores, once what was on its way
        has ended: an answer that is being paid for is still taken.
        """
        queue = iter(self.missing)
        reporting = asyncio.create_task(self.progress.log_periodically())
        watching = asyncio.create_task(self._watch_run())
        try:
            async with asyncio.TaskGroup() as workers:
                for _ in range(min(self._task_count, len(self.missing))):
                    workers.create_task(self._answer_queue(backend, queue))
        finally:
            reporting.cancel()
            watching.cancel()
            self.progress.log.info("%s", self.progress)
        if not self._stop_rule.has_stopped and not self._anything_answered:
            (*_, last) = self.failures.values()
            self._stop_rule.stop_for_outage(last.error)
        if self._stop_rule.has_stopped:
            stored_count = self.progress.total - len(self.missing) + len(self.calls)
            total = self.progress.total
            summary = f"Of {total:,} requests, {stored_count:,} are answered and kept."
            self._stop_rule.raise_reason(summary, self.gate.pictures_note)

    def interrupt(self) -> None:
        """Send nothing more, since the process was interrupted; called in the event loop."""
        self._stop_rule.end("The run was interrupted.")

    async def _watch_run(self) -> None:
        """Look at the run every two seconds, until it may send nothing more."""
        reason = ""
        while self.find_stop_reason is not None and not reason:
            await asyncio.sleep(WATCH_INTERVAL_S)
            try:
                reason = await asyncio.to_thread(self.find_stop_reason)
            except Exception as error:  # noqa: BLE001 - a busy instance ends no run
                self.progress.log.warning("The run's status cannot be read: %s", error)
        if reason:
            self._stop_rule.end(reason)

    def _release_waiting(self) -> None:
        self._turns.stop()
        self._reservations.close()

    @property
    def _task_count(self) -> int:
        """Requests that are claimed, sent or stored at once; the pace lets fewer be sent."""
        return math.ceil(self.model.concurrency * (1 + STORING_SHARE))

    @property
    def _anything_answered(self) -> bool:
        return self.has_answers or bool(self.calls)

    async def _answer_queue(self, backend: Any, queue: Iterator[str]) -> None:
        while (next_one := await self._choose_next(queue)) is not None:
            key, wait = next_one
            try:
                call = await self._claim_and_call(backend, key, self.missing[key])
                if call is None:
                    self._elsewhere.append((key, min(2 * wait, POLL_INTERVAL_S)))
                else:
                    self._take(call)
            except _GaveUp as gave_up:
                self._fail(key, gave_up.failed)
            except Exception as error:  # noqa: BLE001 - raised again once all has ended
                self._stop_rule.stop(error)

    async def _choose_next(self, queue: Iterator[str]) -> tuple[str, float] | None:
        """A key to ask for; once there is no other, one that another process was asking for."""
        key, wait = next(queue, None), FIRST_POLL_S
        if key is None and self._elsewhere:
            key, wait = self._elsewhere.popleft()
            await self._turns.sleep(wait)
        return None if key is None or self._stop_rule.has_stopped else (key, wait)

    async def _claim_and_call(self, backend: Any, key: str, request: Request) -> Call | None:
        """The call of a key; None where another process asks for it.

        Where a budget does not allow for it, the money is waited for that others have reserved.
        Raises `OverBudget` where there are none.
        """
        self._reservations.enter()
        while True:
            ended = self._reservations.ended_count
            # Who waits for money may wait past the end of a month: each try is of its own.
            purchase = self.gate.open_purchase(key)
            ask = partial(self._call, backend, key, request, purchase)
            try:
                call = await self.store.get_or_request(key, ask, purchase)
            except OverBudget:
                again = await self._reservations.wait_after_refusal(ended)
                if self._stop_rule.has_stopped or not again:
                    raise
            except BaseException:
                self._reservations.leave()
                raise
            else:
                self._reservations.leave()
                return call

    def _take(self, call: Call) -> None:
        self.calls[call.key] = call.to_stored_answer()
        if call.key in self._requested_keys:
            self.progress.record_outcome(call.answer["outcome"])
        else:
            # Another process has asked it meanwhile.
            self.progress.already_stored += 1
        if call.answer["outcome"] == "malformed":
            self._stop_rule.count_failure(call.answer["reason"])
        else:
            self._stop_rule.record_answer()

    def _fail(self, key: str, failed: FailedOutcome) -> None:
        self.failures[key] = failed
        self.progress.record_outcome("failed")
        if failed.kind != "unacceptable" or not self._anything_answered:
            self._stop_rule.count_failure(failed.error)

    async def _call(self, backend: Any, key: str, request: Request, purchase: Purchase) -> Call:
        """Send a request until it is answered, and make that a call; raises `_GaveUp`."""
        self._requested_keys.add(key)
        try:
            return await self._retry(backend, key, request, purchase)
        finally:
            self.gate.close_purchase(purchase)

    async def _retry(self, backend: Any, key: str, request: Request, purchase: Purchase) -> Call:
        kind: FailureKind
        ended: Counter[FailureKind] = Counter()
        for attempt in range(1, self.max_attempts + 1):
            try:
                reply, seconds = await self._attempt(backend, request, purchase)
                return await self._store(key, request, reply, seconds)
            except (UnacceptableRequest, ModelUnavailable) as fault:
                if isinstance(fault, ModelUnavailable):
                    reason = f"{to_sentence(str(fault))}{self._locate_key(str(fault))}"
                    self._stop_rule.stop(reason, str(fault))
                raise _GaveUp(FailedOutcome("unacceptable", str(fault), attempt)) from None
            except Overloaded as fault:
                failed = FailedOutcome("overloaded", str(fault), attempt)
            except Interrupted as fault:
                kind = "unreadable" if isinstance(fault, UnparsableReply) else "interrupted"
                failed = FailedOutcome(kind, str(fault), attempt)
            except TimeoutError:
                message = f"No whole reply within {self.model.deadline_s:g} s."
                failed = FailedOutcome("deadline", message, attempt)
            self._stop_rule.count_attempt(failed, has_answers=bool(self.calls))
            ended[failed.kind] += 1
            if attempt == self.max_attempts:
                break
            if ended[failed.kind] == MAX_BY_FAILURE.get(failed.kind):
                break
            wait = min(MAX_WAIT_S, FIRST_WAIT_S * 2 ** (attempt - 1))
            await self._turns.sleep(wait * random.uniform(0.5, 1.5))
            if purchase.paid and not await self._may_rebook(purchase):
                break
        raise _GaveUp(failed)

    async def _may_rebook(self, purchase: Purchase) -> bool:
        """Reserve money for another attempt; False where there is none."""
        try:
            await self.gate.rebook(purchase)
        except OverBudget as error:
            self._stop_rule.stop(error)
            return False
        return True

    async def _attempt(
        self, backend: Any, request: Request, purchase: Purchase
    ) -> tuple[ModelReply, float]:
        """Send a request once, at its turn: the reply and the seconds that it took."""
        async with self._turns.take(backend) as turn:
            if self._stop_rule.has_stopped:
                raise UnacceptableRequest("Not sent: the run was stopped.")
            self.progress.sent += 1
            purchase.paid = True
            try:
                async with asyncio.timeout(self.model.deadline_s):
                    reply = await getattr(turn.backend, get_request_kind(request))(request)
            except NoAnswer as fault:
                reply = fault.reply
            except RequestFault as fault:
                purchase.paid = fault.possibly_paid
                if not isinstance(fault, Overloaded):
                    raise
                if fault.retry_after is not None and fault.retry_after > MAX_PAUSE_S:
                    pause = format_duration(fault.retry_after)
                    raise ModelUnavailable(
                        f"{fault} It asks to wait for {pause}: wait so long."
                    ) from None
                self.progress.paused_until = self._turns.record_overload(turn, fault.retry_after)
                raise
            except StoreError:
                # A picture could not be read, before anything was sent.
                purchase.paid = False
                raise
            # Before this turn ends, so that nobody takes the next one.
            if beyond := self.gate.book_reply(purchase, request, reply):
                self._stop_rule.stop(beyond)
            self._turns.record_success(turn, reply.usage.total)
            return reply, monotonic() - turn.began

    async def _store(self, key: str, request: Request, reply: ModelReply, seconds: float) -> Call:
        """The call as it is stored; its pictures are in the image store before.

        Raises `UnacceptableRequest` for a picture of a folder whose file is no longer that of the
        key.
        """
        if self.model.may_lack_answers and compute_call_keys(self.model, [request]) != [key]:
            raise UnacceptableRequest(
                f"{self.model.name}: the picture was changed, or painted, while the run was under "
                "way. Materialize again: it is taken as it is then."
            )
        if reply.pictures:
            answer = await record_answer_with_retries(reply, self.images, self._stop_unstored)
        else:
            answer = record_answer(reply, self.images)
        return build_call(
            self.model, key, request, reply, answer, seconds, "online", self.gate.clock()
        )

    def _stop_unstored(self, error: StoreError) -> None:
        """A picture could not be stored: no more is sent, and it gets the room that was held."""
        if not self._stop_rule.has_stopped:
            self.progress.log.warning(
                "%s Paid pictures are held for %s, and stored as soon as possible.",
                error,
                format_duration(HOLD_S),
            )
        self._stop_rule.stop(error)
        self.reserve.release()

    def _locate_key(self, words: str) -> str:
        """Say where the key is read from; empty where an error is about something else."""
        is_about_key = explain_fault(self.model, words).cause in ("key", "permission")
        if self.model.key_variable is None or not is_about_key:
            return ""
        return (
            f" Its key is read from {self.model.key_variable}: after a change, start Dagster again."
        )
