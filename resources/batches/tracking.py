"""Tracking of submitted batches: found again, polled until they are over, cancelled."""

import asyncio
from collections.abc import Mapping
from logging import Logger
from uuid import uuid4

from resources.batches.lease import LEASE_S, release_batch
from resources.batches.providers import (
    BatchProviders,
    await_with_timeout,
    load_batch_model,
    raise_stopped,
)
from resources.calls import CallStore
from resources.calls.batch_rows import OPEN_STATES, Batch
from resources.faults import ModelError, RequestsStopped
from resources.models.backends.base import BatchBackend, BatchState
from resources.models.replies import RequestFault


def recover_lost(calls: CallStore, providers: BatchProviders, log: Logger) -> dict[str, str]:
    """Recover batches whose submission broke off: track those that exist, free the others.

    Batches that are being submitted are left alone. Returns, by tag, why a batch could not be
    looked up; that is tried again in some minutes.
    """
    owner, problems = uuid4().hex, {}
    for batch in calls.batches.list_by_state("submitting"):
        if not calls.batches.acquire_leases([batch.tag], owner, LEASE_S):
            continue
        try:
            backend = providers.get_batch_backend(load_batch_model(batch))
            provider_id = providers.run(await_with_timeout(backend.find(batch.tag)))
        except (RequestFault, ModelError) as fault:
            problems[batch.tag] = (
                f"whether it was created is not known ({fault}). Its {batch.requests:,} requests "
                "wait, and it is looked for again. If this stays, see at its provider whether a "
                "batch has this tag: if none has, give it up with `forget`."
            )
            continue
        if provider_id is None:
            release_batch(calls, batch.tag, owner)
            log.warning(
                "%s: the batch %s was never created; its %s requests can be submitted again.",
                *(batch.model, batch.tag, f"{batch.requests:,}"),
            )
        elif calls.batches.confirm_created(batch.tag, owner, provider_id):
            log.info("%s: the batch %s is found again, as %s.", batch.model, batch.tag, provider_id)
    return problems


def track(calls: CallStore, providers: BatchProviders) -> dict[str, str]:
    """Query the states of running batches, all at once; returns problems by tag."""
    requests: dict[str, tuple[Batch, BatchBackend]] = {}
    problems = {}
    for batch in calls.batches.list_by_state("running"):
        try:
            requests[batch.tag] = batch, providers.get_batch_backend(load_batch_model(batch))
        except ModelError as error:
            problems[batch.tag] = str(error)
    if requests:
        for tag, state in providers.run(_states(requests)).items():
            if isinstance(state, BatchState):
                calls.batches.update_state(tag, state.status, state.provider_status)
            else:
                problems[tag] = str(state)
    return problems


def cancel(calls: CallStore, providers: BatchProviders, tag: str) -> Batch:
    """Ask the provider to stop a batch.

    Raises `RequestsStopped` where it is not there or cannot be.
    """
    batch = find_batch(calls, tag)
    if batch.provider_id is None:
        raise RequestsStopped(
            f"Whether the batch {tag} of {batch.model} was created is not known yet. The sensor "
            "`batches` looks for it: cancel it some minutes later, if it is still there."
        )
    backend = providers.get_batch_backend(load_batch_model(batch))
    try:
        providers.run(await_with_timeout(backend.cancel(batch.provider_id)))
    except RequestFault as fault:
        raise_stopped(
            batch, "cancelled", fault, "If the provider has lost it, cancel it with `forget`."
        )
    track(calls, providers)
    return find_batch(calls, tag)


def forget(calls: CallStore, tag: str) -> Batch:
    """Give up a batch that its provider has lost; what it may have cost stays possibly paid."""
    batch = find_batch(calls, tag)
    calls.settle({pending.booking: None for pending in calls.batches.iterate_requests(tag)})
    calls.batches.mark_finished(tag, {"forgotten": batch.requests}, "closed")
    return find_batch(calls, tag, closed=True)


def find_batch(calls: CallStore, tag: str, *, closed: bool = False) -> Batch:
    """The batch of a tag.

    Raises `RequestsStopped` where there is none, or it is over, unless `closed`.
    """
    batch = calls.batches.find(tag)
    if batch is not None and (closed or batch.state in OPEN_STATES):
        return batch
    tags = (
        ", ".join(open_batch.tag for open_batch in calls.batches.list_by_state(*OPEN_STATES))
        or "none"
    )
    problem = "There is no batch with the tag" if batch is None else "Nothing waits any more in"
    raise RequestsStopped(f"{problem} {tag}. In progress: {tags}.")


async def _states(
    requests: Mapping[str, tuple[Batch, BatchBackend]],
) -> dict[str, BatchState | BaseException]:
    states = await asyncio.gather(
        *(
            await_with_timeout(backend.state(str(batch.provider_id)))
            for batch, backend in requests.values()
        ),
        return_exceptions=True,
    )
    return dict(zip(requests, states, strict=True))
