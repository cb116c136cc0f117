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
    """Build the planner of each step that asks models."""
    return {
        key: partial(_iterate_plans, steps, step)
        for key, step in steps.items()
        if step.example_request is not None
    }


def planned_table(
    steps: Steps,
    sources: PlanContext,
    asset: AssetKey,
    partition: str,
    uses_default_config: bool = False,
) -> pd.DataFrame | None:
    """An asset's table once all that is planned is materialized; None where there is none.

    An asset that is no step is read as it is stored, or drafted. See `Input` for
    `uses_default_config`.
    """
    if (draft := sources.draft_tables.get((asset, partition))) is not None:
        return draft
    config, step = sources.planned_configs.get((asset, partition)), steps.get(asset)
    if config is None or step is None:
        stored = sources.home.find(asset, partition or None)
        if stored is not None or step is None or not uses_default_config:
            return stored
        config = {}
    table = sources.planned_tables.get((asset, partition))
    if table is None:
        work = _build_run(steps, step, sources, partition, config)
        step.require(work)
        rows = list(_foresee_rows(step, work, sources.calls))
        try:
            table = step.build_table(step.finish(work, rows)).to_pandas()
        except UnfitAnswers:
            raise NotCountable(asset.to_user_string()) from None
        sources.planned_tables[asset, partition] = table
    return table


class _FollowedConversation(NamedTuple):
    """A conversation as far as it is stored."""

    row: Row
    requests: Sequence[Request]
    """Certain requests, in their order."""
    columns: Mapping[str, Any] | None
    """Columns that it returned; None while it waits for the reply to the last request."""


def _iterate_plans(
    steps: Steps, step: Step[Any], sources: PlanContext, partition: str, config: Mapping[str, Any]
) -> Iterator[Plan]:
    model = step.model(partition, step.config(**config))
    if model is None or not step.may_send(partition):
        return
    try:
        work = _build_run(steps, step, sources, partition, config)
        step.require(work)
        rows = list(step.rows(work))
    except NotCountable as missing:
        yield Plan(model, missing_asset=str(missing))
        return
    certain = [row for row in rows if row.get(step.table.outcome_column) != PENDING]
    yield Plan(
        model,
        requests=_iterate_certain_requests(step, work, sources.calls, certain),
        possible_requests=_iterate_possible_requests(step, work, sources.calls, rows),
        spared_requests=(
            request for row in certain for request in step.forecast.spared_requests(work, row)
        ),
        paper_sample=step.forecast.estimate_paper_sample(work, rows),
        warning=step.forecast.warn(partition, work.config),
    )


def _iterate_certain_requests(
    step: Step[Any], work: StepRun[Any], calls: CallStore, rows: Sequence[Row]
) -> Iterator[Request]:
    for chunk in split_into_chunks(rows):
        for followed in _follow_conversations(step, work, calls, chunk, to_the_end=False):
            yield from followed.requests


def _iterate_possible_requests(
    step: Step[Any], work: StepRun[Any], calls: CallStore, rows: Sequence[Row]
) -> Iterator[Request]:
    """Iterate over follow-ups of unanswered requests, and requests about rows pending upstream."""
    pending = [row for row in rows if row.get(step.table.outcome_column) == PENDING]
    certain = (row for row in rows if row.get(step.table.outcome_column) != PENDING)
    for chunk in split_into_chunks(filter(step.forecast.may_have_follow_up, certain)):
        for followed in _follow_conversations(step, work, calls, chunk, to_the_end=False):
            if followed.columns is None:
                yield from _iterate_follow_ups(step, work, followed.row, followed.requests[-1])
    for row in pending:
        first = next(step.converse(work, row), None)
        if first is not None:
            yield first
            yield from _iterate_follow_ups(step, work, row, first)
    yield from step.forecast.max_requests(work, rows)


def _iterate_follow_ups(
    step: Step[Any], work: StepRun[Any], row: Row, request: Request
) -> Iterable[Request]:
    """The worst-case follow-ups of a request that has no reply yet."""
    if step.forecast.follow_up_requests is not None:
        return step.forecast.follow_up_requests(work, row, request)
    model = step.model(work.partition, work.config)
    if model is None or not step.forecast.may_have_follow_up(row):
        return ()
    return iterate_longest_follow_ups(model, step.converse(work, row), request)


def _foresee_rows(
    step: Step[Any], work: StepRun[Any], calls: CallStore
) -> Iterator[dict[str, Any]]:
    """Yield a table's rows as the stored answers foresee them."""
    for chunk in split_into_chunks(step.rows(work)):
        certain_rows = [row for row in chunk if row.get(step.table.outcome_column) != PENDING]
        followed = iter(_follow_conversations(step, work, calls, certain_rows, to_the_end=True))
        for row in chunk:
            pending = row.get(step.table.outcome_column) == PENDING
            columns = None if pending else next(followed).columns
            yield {**row, **(_build_pending_columns(step) if columns is None else columns)}


def _build_pending_columns(step: Step[Any]) -> dict[str, Any]:
    """Build the columns of a row without an answer yet; a placeholder stands for its picture."""
    picture = {"sha256": PLACEHOLDER_SHA256} if "sha256" in step.table.columns.columns else {}
    return {step.table.outcome_column: PENDING, **picture}


def _follow_conversations(
    step: Step[Any], work: StepRun[Any], calls: CallStore, rows: Sequence[Row], *, to_the_end: bool
) -> list[_FollowedConversation]:
    """Follow conversations through the stored answers.

    Unless `to_the_end`, no reply is read of conversations that ask once.
    """
    model = step.model(work.partition, work.config)
    conversations = Conversations(step.converse(work, row) for row in rows)
    sent: list[list[Request]] = [[] for _ in rows]
    latest = conversations.pending_requests
    while latest and model is not None:
        for index, request in latest.items():
            sent[index].append(request)
        followed = {
            index: request
            for index, request in latest.items()
            if to_the_end or step.forecast.may_have_follow_up(rows[index])
        }
        replies = dict(
            zip(followed, _load_replies(step, model, calls, [*followed.values()]), strict=True)
        )
        for index, reply in replies.items():
            if reply is not None:
                conversations.resume(index, reply)
        latest = {
            index: request
            for index, request in conversations.pending_requests.items()
            if replies.get(index) is not None
        }
    return [
        _FollowedConversation(row, sent[index], conversations.finished_rows.get(index))
        for index, row in enumerate(rows)
    ]


def _load_replies(
    step: Step[Any], model: Model, calls: CallStore, requests: Sequence[Request]
) -> list[StepReply | None]:
    """Load the reply to each request, repaired if its repair is stored; None if it is unknown."""
    replies = _load_stored_replies(model, calls, requests)
    repairs = {
        index: repair
        for index, (request, reply) in enumerate(zip(requests, replies, strict=True))
        if reply is not None and (repair := build_repair(request, reply.outcome)) is not None
    }
    for index, repaired in zip(
        repairs, _load_stored_replies(model, calls, [*repairs.values()]), strict=True
    ):
        first = replies[index]
        # Without the repair the reply is unknown: a run repairs it first.
        replies[index] = (
            repaired and first and StepReply(repaired.outcome, (*first.calls, *repaired.calls))
        )
    for index, request in enumerate(requests):
        certain = step.forecast.answer_locally(model, request)
        if certain is not None and replies[index] is None and index not in repairs:
            replies[index] = StepReply(certain, ())
    return replies


def _load_stored_replies(
    model: Model, calls: CallStore, requests: Sequence[Request]
) -> list[StepReply | None]:
    keys = compute_call_keys(model, requests)
    answers = calls.find_answers(keys)
    return [
        StepReply(read_outcome(answers[key], request), (key,)) if key in answers else None
        for key, request in zip(keys, requests, strict=True)
    ]


def _build_run(
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
        partition=partition,
        config=step.config(**config),
        tables=tables,
        inputs=step.inputs,
        home=sources.home,
        images=sources.images,
        work_cache=sources.work_cache,
        log=_LOG,
        find_table=partial(planned_table, steps, sources),
        stored_tables=stored,
    )


def input_partition(step: Step[Any], input_spec: Input, partition: str) -> str:
    """The partition of an input that goes with a step's."""
    return split_partition_key(partition, step.asset.partitions).get(
        input_spec.dimension or "", partition
    )
