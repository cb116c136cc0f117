"""Submission of batches: of what is neither stored nor waiting in another."""

import asyncio
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from logging import Logger
from typing import Any, NamedTuple
from uuid import uuid4

from resources.batches.chunking import KeyedRequest, split_requests
from resources.batches.lease import LEASE_S, hold_lease, release_batch
from resources.batches.providers import (
    BatchProviders,
    await_with_timeout,
    load_batch_model,
    raise_stopped,
)
from resources.calls import CallStore
from resources.calls.batch_rows import Batch, WaitingRequest
from resources.calls.spending import Account, Booking, format_month, generate_booking_id
from resources.faults import RequestsStopped
from resources.models.backends.base import BatchBackend
from resources.models.catalog import Model
from resources.models.client import require_abilities
from resources.models.image_checks import refuse_pictures
from resources.models.price_gaps import require_prices
from resources.models.pricing import compute_cost_bound, list_images
from resources.models.replies import Interrupted, Overloaded, RequestFault
from resources.models.requests import (
    Request,
    build_canonical_request,
    compute_call_key,
    parse_canonical_request,
)
from resources.storage.chunks import split_into_chunks

ATTEMPTS = 5
"""Attempts to submit a batch that the provider has certainly not taken."""
FIRST_WAIT_S, LONGEST_WAIT_S = 2.0, 60.0
LOOKS = 3
"""Look-ups of a batch whose creation was not confirmed."""
UPLOAD_S = 3600.0
"""Seconds for a whole file."""


class BatchOrder(NamedTuple):
    """Requests to one model, for the partition of the account; `config` is that of its op."""

    model: Model
    account: Account
    config: Mapping[str, Any]
    requests: Iterable[Request]


class SubmissionResult(NamedTuple):
    """The batches that were created, and the distinct requests that are in none of them."""

    batches: list[Batch]
    answered: int
    """Answered before."""
    waiting: int
    """Waiting in another batch."""


class _Unsure(Exception):
    """Raised when it is unknown whether a batch was created."""


def submit(
    calls: CallStore,
    providers: BatchProviders,
    orders: Iterable[BatchOrder],
    log: Logger,
    require_idle: Callable[[], None],
) -> SubmissionResult:
    """Create batches of all that is not answered and waits in no other batch.

    The most that they can cost is reserved before the first is created: all of them fit into the
    budget, or none is created. `require_idle` raises where somebody asks the same alone. It is
    called once all is put down: who begins later finds that it waits. Raises `OverBudget` or
    `MissingPrice`, `KeyNotSet`, `UnsupportedRequest` where a model or its provider does not do what
    is asked, and `RequestsStopped` where a provider does not take a batch; those before it stay.
    """
    submission = _Submission(calls, providers, log)
    with hold_lease(calls.batches, submission.owner, submission.held_tags):
        try:
            for order in orders:
                submission.record_order(order)
            calls.reserve(submission.bookings)
            require_idle()
            for batch in list(submission.unmade.values()):
                submission.create_batch(batch)
        finally:
            submission.drop_the_rest()
    return SubmissionResult(submission.created, submission.answered, submission.waiting)


@dataclass(slots=True)
class _Submission:
    calls: CallStore
    providers: BatchProviders
    log: Logger
    owner: str = field(default_factory=lambda: uuid4().hex)
    bookings: list[Booking] = field(default_factory=list)
    unmade: dict[str, Batch] = field(default_factory=dict)
    """Batches by tag that are recorded and certainly not created."""
    held_tags: set[str] = field(default_factory=set)
    """The tags of batches whose lease this process holds."""
    created: list[Batch] = field(default_factory=list)
    answered: int = 0
    waiting: int = 0

    def record_order(self, order: BatchOrder) -> None:
        """Record the batches of an order, so that no other process submits their requests."""
        backend = self.providers.get_batch_backend(order.model)
        for piece in split_requests(order.model, backend, self._iterate_missing(order, backend)):
            self._open(order, piece)

    def create_batch(self, batch: Batch) -> None:
        """Have the provider create a batch."""
        backend = self.providers.get_batch_backend(load_batch_model(batch))
        requests = {
            pending.key: parse_canonical_request(pending.request)
            for pending in self.calls.batches.iterate_requests(batch.tag)
        }
        # Whatever ends this before the provider has answered, the batch may be there.
        del self.unmade[batch.tag]
        try:
            provider_id = self.providers.run(_create(backend, requests, batch.tag))
        except _Unsure as unsure:
            raise RequestsStopped(
                f"Whether the batch {batch.tag} of {batch.model} was created is not known "
                f"({unsure}). Its {batch.requests:,} requests are in no other one: the sensor "
                "`batches` looks for it, and so does submitting again in some minutes."
            ) from None
        except RequestFault as fault:
            self.unmade[batch.tag] = batch
            raise_stopped(batch, "created", fault, "Its requests are free: submit again.")
        if not self.calls.batches.confirm_created(batch.tag, self.owner, provider_id):
            consequence = f"is cancelled ({provider_id}). Submit again."
            try:
                self.providers.run(await_with_timeout(backend.cancel(provider_id)))
            except RequestFault as fault:
                consequence = (
                    f"cannot be cancelled ({fault}). Cancel {provider_id} at its provider."
                )
            raise RequestsStopped(
                f"The batch {batch.tag} of {batch.model} was created after others had given it up "
                f"(this process stood still), and {consequence}"
            )
        self.created.append(replace(batch, state="running", provider_id=provider_id))
        self.log.info(
            "%s: batch %s of %s requests created for %s, as %s there",
            *(batch.model, batch.tag, f"{batch.requests:,}", batch.place, provider_id),
        )

    def drop_the_rest(self) -> None:
        """Free the requests, and the money, of batches that were surely not created."""
        for tag in list(self.unmade):
            release_batch(self.calls, tag, self.owner)
            del self.unmade[tag]

    def _iterate_missing(self, order: BatchOrder, backend: BatchBackend) -> Iterator[KeyedRequest]:
        """The distinct requests that are neither stored nor waiting."""
        seen_keys: set[str] = set()
        for chunk in split_into_chunks(order.requests):
            require_abilities(backend, order.model, chunk)
            new_requests = {
                compute_call_key(build_canonical_request(order.model, request)): request
                for request in chunk
            }
            new_requests = {
                key: request for key, request in new_requests.items() if key not in seen_keys
            }
            seen_keys |= new_requests.keys()
            stored = self.calls.holds(new_requests)
            # Raises `DamagedAnswers` where one is there under a key that was damaged.
            self.calls.find_answers(new_requests.keys() - stored)
            waiting = self.calls.batches.find_waiting_tags(new_requests.keys() - stored)
            self.answered += len(stored)
            self.waiting += len(waiting)
            free = {
                key: request
                for key, request in new_requests.items()
                if key not in stored and key not in waiting
            }
            images = self.providers.images
            sizes = images.sizes({image for r in free.values() for image in list_images(r)})
            refused = refuse_pictures(order.model, free, sizes, images, self.log)
            for key, request in free.items():
                if key not in refused:
                    yield KeyedRequest(key, request)

    def _open(self, order: BatchOrder, piece: Sequence[KeyedRequest]) -> None:
        model, account, submitted_at = order.model, order.account, datetime.now(UTC)
        shown = {image for _, request in piece for image in list_images(request)}
        sizes = self.providers.images.sizes(shown)
        bookings = {
            key: Booking(
                id=generate_booking_id(),
                key=key,
                account=account,
                model=model.name,
                mode="batch",
                month=format_month(submitted_at),
                bound=compute_cost_bound(model, request, "batch", sizes),
            )
            for key, request in piece
        }
        if account.has_budget:
            bounds = {key: booking.bound for key, booking in bookings.items()}
            require_prices(model, dict(piece), bounds, "batch")
        batch = Batch(
            tag=str(uuid4()),
            model=model.name,
            entry=model.model_dump_json(),
            asset=account.asset,
            partition=account.partition,
            run=account.run,
            config=order.config,
            requests=len(piece),
            submitted_at=submitted_at,
        )
        waiting = [
            WaitingRequest(key, build_canonical_request(model, request), bookings[key].id)
            for key, request in piece
        ]
        got = self.calls.batches.create(batch, waiting, self.owner, LEASE_S)
        self.waiting += len(piece) - len(got)
        self.bookings += [bookings[key] for key in got]
        if got:
            self.unmade[batch.tag] = replace(batch, requests=len(got))
            self.held_tags.add(batch.tag)


async def _create(backend: BatchBackend, requests: Mapping[str, Request], tag: str) -> str:
    """The provider's id of a new batch; raises `_Unsure`, or the fault for which there is none."""
    attempt = 1
    while True:
        try:
            return await await_with_timeout(backend.submit(requests, tag), UPLOAD_S)
        except (Overloaded, Interrupted) as fault:
            if fault.possibly_paid:
                provider_id = await _find_create(backend, tag)
                if provider_id is None:
                    raise _Unsure(str(fault)) from None
                return provider_id
            retry_after_s = fault.retry_after or 0.0 if isinstance(fault, Overloaded) else 0.0
            if attempt == ATTEMPTS or retry_after_s > LONGEST_WAIT_S:
                raise
            await asyncio.sleep(
                max(retry_after_s, min(LONGEST_WAIT_S, FIRST_WAIT_S * 2 ** (attempt - 1)))
            )
            attempt += 1


async def _find_create(backend: BatchBackend, tag: str) -> str | None:
    """The id of a batch that may have been created just now, if it is there."""
    for look in range(LOOKS):
        await asyncio.sleep(FIRST_WAIT_S * 2**look)
        with suppress(RequestFault):
            provider_id = await await_with_timeout(backend.find(tag))
            if provider_id is not None:
                return provider_id
    return None
