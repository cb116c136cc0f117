"""Requests that a partition still lacks once its batches are collected."""

from collections import Counter
from collections.abc import Sequence

from dagster import AssetKey

from assets.kit.plan import Plan, PlanContext, Planners
from resources.calls.batch_rows import Batch
from resources.models.requests import build_canonical_request, compute_call_key
from resources.storage.chunks import split_into_chunks


class StillWaiting(Exception):
    """Error for requests of a partition that still wait in other batches: nothing is known yet."""


def find_unanswered(
    planners: Planners, sources: PlanContext, batches: Sequence[Batch]
) -> str | None:
    """Describe the requests still unanswered in these batches' partition; None if there are none.

    The last of the batches says with which config it was submitted. Raises `StillWaiting`.
    """
    last = batches[-1]
    planner = planners.get(AssetKey.from_user_string(last.asset))
    if planner is None:
        return (
            "the asset is not there any more. What it was answered is stored: put the entry of "
            f"{last.model} back into models.yaml, and its table can be made of that."
        )
    missing = later = 0
    for plan in planner(sources, last.partition, last.config):
        if plan.missing_asset is not None:
            return f"{plan.missing_asset} has to be materialized first."
        missing += _missing(sources, plan)
        later += sum(1 for _ in plan.possible_requests)
    if not missing and not later:
        return None
    ended = Counter[str]()
    for batch in batches:
        ended.update(batch.endings)
    why = ", ".join(
        f"{number:,} {how}" for how, number in ended.items() if how not in ("answered", "refused")
    )
    parts = [f"{missing:,} requests have no answer"] if missing else []
    parts += [f"up to {later:,} more depend on answers that are not there"] if later else []
    return (
        f"{' and '.join(parts)} (of those in batches: {why or 'all are answered'}). Submit them in "
        "a batch again, by the job submit_batch, or materialize the partition, which asks them at "
        "the full price."
    )


def _missing(sources: PlanContext, plan: Plan) -> int:
    missing = 0
    for chunk in split_into_chunks(plan.requests):
        keys = {compute_call_key(build_canonical_request(plan.model, request)) for request in chunk}
        keys -= sources.calls.holds(keys)
        if waiting := sources.calls.batches.find_waiting_tags(keys):
            raise StillWaiting(f"{len(waiting):,} requests wait in batches of others.")
        missing += len(keys)
    return missing
