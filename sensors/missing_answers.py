"""What a partition still lacks once its batches are collected."""

from collections import Counter
from collections.abc import Sequence

from dagster import AssetKey

from assets.kit.plan import PlanContext, Planners
from assets.planning import Task, quote
from resources.calls.batches import Batch


class StillWaiting(Exception):
    """Some of what a partition would ask waits in batches of others; nothing can be said yet."""


def lacking(planners: Planners, sources: PlanContext, batches: Sequence[Batch]) -> str | None:
    """What would still be sent, were the partition of these batches materialized; None if nothing.

    The last of the batches says with which config it was submitted. Raises `StillWaiting`.
    """
    last = batches[-1]
    task = Task(AssetKey.from_user_string(last.asset), last.partition, last.config)
    if task.asset not in planners:
        return "the asset is not there any more."
    lines = quote(planners, sources, [task]).lines
    if first := next((line.missing for line in lines if line.missing), None):
        return f"{first} has to be materialized first."
    if waiting := sum(line.waiting for line in lines):
        raise StillWaiting(f"{waiting:,} requests wait in batches of others.")
    missing, later = sum(line.to_send for line in lines), sum(line.later for line in lines)
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
