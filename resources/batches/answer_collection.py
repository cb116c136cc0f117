"""Collection of batches: their answers become calls, as those of single requests do."""

import asyncio
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from logging import Logger
from typing import Any

from resources.batches.providers import (
    BatchProviders,
    await_with_timeout,
    load_batch_model,
    raise_stopped,
)
from resources.batches.tracking import find_batch, track
from resources.calls import CallStore
from resources.calls.batch_rows import ENDED_STATES, Batch
from resources.faults import RequestsStopped
from resources.models.backends.base import BatchBackend
from resources.models.catalog import Model
from resources.models.pricing import compute_cost
from resources.models.recording import build_call, record_answer
from resources.models.replies import (
    UNCOUNTED,
    Interrupted,
    ModelReply,
    NoAnswer,
    Overloaded,
    RequestFault,
    UnparsableReply,
)
from resources.models.requests import parse_canonical_request
from resources.storage.image_store import ImageStore
from resources.untrusted_input.json_text import redact_secrets

ATTEMPTS = 3
"""Attempts to fetch results whose transfer breaks off; stored ones are kept."""
WAIT_S = 5.0
DOWNLOAD_S = 3600.0
KEPT_AT_ONCE = 100
REASONS = 5
"""Reasons for failures that are counted separately."""
_LONGEST_REASON = 150


def collect(
    calls: CallStore, images: ImageStore, providers: BatchProviders, tag: str, log: Logger
) -> Batch:
    """Store the answers of a batch that is over; its other requests are free to be sent again.

    Answers and refusals are stored in the store's own words, at the price of a batch, and never for
    a request that does not wait in this one. One that is answered already stays as it is. A crash
    in between loses nothing: collect again. Raises `RequestsStopped` where the batch still runs, or
    its results cannot be had.
    """
    batch = find_batch(calls, tag, closed=True)
    if batch.state == "running":
        problem = track(calls, providers).get(tag)
        batch = find_batch(calls, tag, closed=True)
        if batch.state == "running":
            status = problem or f"its provider says that it is {batch.provider_status}"
            raise RequestsStopped(
                f"The batch {tag} of {batch.model} is not over: {status}. Collect it then."
            )
    if batch.state == "submitting":
        raise RequestsStopped(
            f"Whether the batch {tag} of {batch.model} was created is not known yet. The sensor "
            "`batches` looks for it and collects it when it is over."
        )
    if batch.state not in ENDED_STATES:
        log.info("%s: the batch %s was collected before.", batch.model, tag)
        return batch
    model = load_batch_model(batch)
    collecting = _Collecting(
        batch=batch,
        model=model,
        calls=calls,
        images=images,
        open={pending.key: pending.booking for pending in calls.batches.iterate_requests(tag)},
    )
    try:
        providers.run(collecting.run(providers.get_batch_backend(model)))
    except RequestFault as fault:
        raise_stopped(batch, "collected", fault, "What has come is kept: collect it again.")
    collecting.finish()
    return find_batch(calls, tag, closed=True)


@dataclass(slots=True)
class _Collecting:
    """A batch; `open` are its requests without a reply so far, each with its booking."""

    batch: Batch
    model: Model
    calls: CallStore
    images: ImageStore
    open: dict[str, str]
    _faults: dict[str, RequestFault] = field(default_factory=dict)
    _unsaved_replies: dict[str, tuple[ModelReply, Mapping[str, Any]]] = field(default_factory=dict)
    """Replies that are not stored yet, each with its answer."""
    _endings: Counter[str] = field(default_factory=Counter)
    _some_unreadable: bool = False

    async def run(self, backend: BatchBackend) -> None:
        """Take all results; raises the fault for which they cannot be had."""
        for attempt in range(1, ATTEMPTS + 1):
            try:
                await await_with_timeout(self._fetch_all(backend), DOWNLOAD_S)
                break
            except (Interrupted, Overloaded) as fault:
                if attempt < ATTEMPTS:
                    await asyncio.sleep(WAIT_S * attempt)
                elif isinstance(fault, UnparsableReply):
                    self._some_unreadable = True
                else:
                    raise
            finally:
                self._store_replies()

    def finish(self) -> None:
        """Settle the remaining requests, and close the batch."""
        costs: dict[str, int | None] = {}
        free = []
        for key, booking in self.open.items():
            fault = self._faults.get(key)
            if fault.possibly_paid if fault else self._some_unreadable:
                costs[booking] = None
            else:
                free.append(booking)
        self.calls.settle(costs)
        self.calls.release(free)
        reasons = Counter(self._describe_ending(key) for key in self.open)
        ending_counts = dict(reasons.most_common(REASONS))
        if others := reasons.total() - sum(ending_counts.values()):
            ending_counts["failed otherwise"] = others
        self.calls.batches.mark_finished(self.batch.tag, self._endings | ending_counts)

    async def _fetch_all(self, backend: BatchBackend) -> None:
        async for key, end in backend.results(str(self.batch.provider_id)):
            if key not in self.open:
                continue
            reply = end.reply if isinstance(end, NoAnswer) else end
            if isinstance(reply, RequestFault):
                self._faults[key] = reply
                continue
            answer = record_answer(reply, self.images)
            self._unsaved_replies[key] = replace(reply, pictures=()), answer
            if len(self._unsaved_replies) >= KEPT_AT_ONCE:
                self._store_replies()

    def _store_replies(self) -> None:
        """Store what was taken, with its cost, in one commit."""
        waiting = self.calls.batches.find_requests(self.batch.tag, self._unsaved_replies)
        finished_at = datetime.now(UTC)
        seconds = (finished_at - self.batch.submitted_at).total_seconds()
        calls, costs = [], dict[str, int | None]()
        for key, pending in waiting.items():
            (reply, answer), request = (
                self._unsaved_replies[key],
                parse_canonical_request(pending.request),
            )
            calls.append(
                build_call(self.model, key, request, reply, answer, seconds, "batch", finished_at)
            )
            # The cost of a refusal without token counts is unknown.
            counted = reply.refusal is None or reply.usage != UNCOUNTED
            cost = compute_cost(self.model, request, reply.usage, "batch") if counted else None
            costs[pending.booking] = cost
        self.calls.keep(calls, costs)
        self._endings.update(call.answer["outcome"] for call in calls)
        for key in self._unsaved_replies:
            self.open.pop(key, None)
        self._unsaved_replies.clear()

    def _describe_ending(self, key: str) -> str:
        """The ending of a request without a reply."""
        fault, state = self._faults.get(key), self.batch.state
        never_run = isinstance(fault, Interrupted) and not fault.possibly_paid
        if fault is not None and not (never_run and state in ("expired", "cancelled")):
            return f"failed: {redact_secrets(str(fault))[:_LONGEST_REASON]}"
        if self._some_unreadable:
            return "unreadable"
        if state == "failed":
            return f"failed: {self.batch.provider_status[:_LONGEST_REASON]}"
        return "no answer" if state == "ended" else state
