"""Plans of steps: the requests that they would send now, by the code that sends them.

A plan follows each conversation through the stored answers. Where an upstream step is planned as
well, its table is foreseen in the same way: rows without an answer yet are `PENDING` in it.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from logging import getLogger
from typing import Any, NamedTuple

import pandas as pd
from dagster import AssetKey

from assets.kit.conversations import Conversations, build_repair, iterate_longest_follow_ups
from assets.kit.forecast import PENDING, PLACEHOLDER_SHA256, NotCountable
from assets.kit.partitions import split_partition_key
from assets.kit.plan import Plan, PlanContext, Planners
from assets.kit.step import Step, StepReply, Steps, UnfitAnswers
from assets.kit.step_run import Input, Row, StepRun
from resources.calls import CallStore
from resources.models.catalog import Model
from resources.models.outcomes import read_outcome
from resources.models.requests import Request, compute_call_keys
from resources.storage.chunks import split_into_chunks
from resources.storage.streamed_tables import StoredTable

_LOG = getLogger(__name__)


def build_step_planners(steps: Steps) -> Planners:
    """The planner of each step that asks models."""
    return {
        key: partial(_plans, steps, step)
        for key, step in steps.items()
        if step.example_request is not None
    }


def planned_table(
    steps: Steps, sources: PlanContext, asset: AssetKey, partition: str, by_default: bool = False
) -> pd.DataFrame | None:
    """An asset's table once all that is planned is materialized; None where there is none.

    An asset that is no step is read as it is stored. See `Input` for `uses_default_config`.
    """
    config, step = sources.planned_configs.get((asset, partition)), steps.get(asset)
    if config is None or step is None:
        stored = sources.home.find(asset, partition or None)
        if stored is not None or step is None or not by_default:
            return stored
        config = {}
    table = sources.planned_tables.get((asset, partition))
    if table is None:
        work = _work(steps, step, sources, partition, config)
        step.require(work)
        rows = list(_followed(step, work, sources.calls))
        try:
            table = step.build_table(step.finish(work, rows)).to_pandas()
        except UnfitAnswers:
            raise NotCountable(asset.to_user_string()) from None
        sources.planned_tables[asset, partition] = table
    return table


class _Followed(NamedTuple):
    """A conversation as far as it is stored."""

    row: Row
    requests: Sequence[Request]
    """Certain requests, in their order."""
    columns: Mapping[str, Any] | None
    """Columns that it returned; None while it waits for the reply to the last request."""


def _plans(
    steps: Steps, step: Step[Any], sources: PlanContext, partition: str, config: Mapping[str, Any]
) -> Iterator[Plan]:
    model = step.model(partition, step.config(**config))
    if model is None:
        return
    try:
        work = _work(steps, step, sources, partition, config)
        step.require(work)
        rows = list(step.rows(work))
    except NotCountable as missing:
        yield Plan(model, missing_asset=str(missing))
        return
    certain = [row for row in rows if row.get(step.table.outcome_column) != PENDING]
    yield Plan(
        model,
        requests=_certain(step, work, sources.calls, certain),
        possible_requests=_later(step, work, sources.calls, rows),
        paper_sample=step.forecast.estimate_paper_sample(work, rows),
        warning=step.forecast.warn(partition, work.config),
    )


def _certain(
    step: Step[Any], work: StepRun[Any], calls: CallStore, rows: Sequence[Row]
) -> Iterator[Request]:
    for chunk in split_into_chunks(rows):
        for followed in _follow(step, work, calls, chunk, to_the_end=False):
            yield from followed.requests


def _later(
    step: Step[Any], work: StepRun[Any], calls: CallStore, rows: Sequence[Row]
) -> Iterator[Request]:
    """Iterate over follow-ups of unanswered requests, and requests about rows pending upstream."""
    pending = [row for row in rows if row.get(step.table.outcome_column) == PENDING]
    certain = (row for row in rows if row.get(step.table.outcome_column) != PENDING)
    for chunk in split_into_chunks(filter(step.forecast.may_have_follow_up, certain)):
        for followed in _follow(step, work, calls, chunk, to_the_end=False):
            if followed.columns is None:
                yield from _follow_ups(step, work, followed.row, followed.requests[-1])
    for row in pending:
        first = next(step.converse(work, row), None)
        if first is not None:
            yield first
            yield from _follow_ups(step, work, row, first)
    yield from step.forecast.max_requests(work, rows)


def _follow_ups(
    step: Step[Any], work: StepRun[Any], row: Row, request: Request
) -> Iterable[Request]:
    """The worst-case follow-ups of a request that has no reply yet."""
    if step.forecast.follow_up_requests is not None:
        return step.forecast.follow_up_requests(work, row, request)
    model = step.model(work.partition, work.config)
    if model is None or not step.forecast.may_have_follow_up(row):
        return ()
    return iterate_longest_follow_ups(model, step.converse(work, row), request)


def _followed(step: Step[Any], work: StepRun[Any], calls: CallStore) -> Iterator[dict[str, Any]]:
    """The rows of a table that is foreseen."""
    for chunk in split_into_chunks(step.rows(work)):
        certain_rows = [row for row in chunk if row.get(step.table.outcome_column) != PENDING]
        followed = iter(_follow(step, work, calls, certain_rows, to_the_end=True))
        for row in chunk:
            pending = row.get(step.table.outcome_column) == PENDING
            columns = None if pending else next(followed).columns
            yield {**row, **(_pending(step) if columns is None else columns)}


def _pending(step: Step[Any]) -> dict[str, Any]:
    """The columns of a row without an answer yet; what reads it takes it for some picture."""
    picture = {"sha256": PLACEHOLDER_SHA256} if "sha256" in step.table.columns.columns else {}
    return {step.table.outcome_column: PENDING, **picture}


def _follow(
    step: Step[Any], work: StepRun[Any], calls: CallStore, rows: Sequence[Row], *, to_the_end: bool
) -> list[_Followed]:
    """Follow conversations through the stored answers.

    Unless `to_the_end`, those that ask once are followed to their request alone: no reply is read.
    """
    model = step.model(work.partition, work.config)
    talks = Conversations(step.converse(work, row) for row in rows)
    sent: list[list[Request]] = [[] for _ in rows]
    latest = talks.pending_requests
    while latest and model is not None:
        for place, request in latest.items():
            sent[place].append(request)
        followed = {
            place: request
            for place, request in latest.items()
            if to_the_end or step.forecast.may_have_follow_up(rows[place])
        }
        replies = dict(
            zip(followed, _replies(step, model, calls, [*followed.values()]), strict=True)
        )
        for place, reply in replies.items():
            if reply is not None:
                talks.resume(place, reply)
        latest = {
            place: r
            for place, r in talks.pending_requests.items()
            if replies.get(place) is not None
        }
    return [_Followed(row, sent[place], talks.over.get(place)) for place, row in enumerate(rows)]


def _replies(
    step: Step[Any], model: Model, calls: CallStore, requests: Sequence[Request]
) -> list[StepReply | None]:
    """The reply to each request, repaired where it has been; None where nobody can know it yet."""
    replies = _stored(model, calls, requests)
    repairs = {
        place: repair
        for place, (request, reply) in enumerate(zip(requests, replies, strict=True))
        if reply is not None and (repair := build_repair(request, reply.outcome)) is not None
    }
    for place, better in zip(repairs, _stored(model, calls, [*repairs.values()]), strict=True):
        first = replies[place]
        # Where it is not repaired yet, a run has it repaired first.
        replies[place] = (
            better and first and StepReply(better.outcome, (*first.calls, *better.calls))
        )
    for place, request in enumerate(requests):
        certain = step.forecast.answer_locally(model, request)
        if certain is not None and replies[place] is None and place not in repairs:
            replies[place] = StepReply(certain, ())
    return replies


def _stored(model: Model, calls: CallStore, requests: Sequence[Request]) -> list[StepReply | None]:
    keys = compute_call_keys(model, requests)
    answers = calls.find_answers(keys)
    return [
        StepReply(read_outcome(answers[key], request), (key,)) if key in answers else None
        for key, request in zip(keys, requests, strict=True)
    ]


def _work(
    steps: Steps, step: Step[Any], sources: PlanContext, partition: str, config: Mapping[str, Any]
) -> StepRun[Any]:
    """Build a step's run on its inputs as the plan leaves them. Raises `NotCountable`."""
    tables, stored = {}, {}
    for name, input_spec in step.inputs.items():
        input_partition_key = input_partition(step, input_spec, partition)
        table = planned_table(
            steps, sources, input_spec.asset, input_partition_key, input_spec.uses_default_config
        )
        if table is None and input_spec.is_optional:
            table = pd.DataFrame(columns=list(input_spec.selected_columns or ()))
        elif table is None:
            raise NotCountable(input_spec.asset.to_user_string())
        else:
            input_spec.require(table)
        if input_spec.streamed_columns:
            columns = input_spec.streamed_columns
            stored[name] = StoredTable.from_arrow(columns.build_table(table[[*columns.columns]]))
        else:
            chosen = input_spec.selected_columns
            tables[name] = table if chosen is None else table[list(chosen)]
    return StepRun(
        partition,
        step.config(**config),
        tables,
        step.inputs,
        sources.home,
        sources.images,
        sources.work_cache,
        _LOG,
        partial(planned_table, steps, sources),
        stored,
    )


def input_partition(step: Step[Any], input_spec: Input, partition: str) -> str:
    """The partition of an input that goes with a step's."""
    return split_partition_key(partition, step.asset.partitions).get(
        input_spec.dimension or "", partition
    )
