"""The jobs for batches: submit, collect, cancel.

A batch costs less than asking at once and is answered within a day or so. The sensor `batches`
does all but the first of these by itself.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import product
from typing import Any, NamedTuple, TypeAlias

import pandas as pd
from dagster import (
    AssetKey,
    DagsterInstance,
    DagsterRunStatus,
    JobDefinition,
    MarkdownMetadataValue,
    OpDefinition,
    OpExecutionContext,
    RunsFilter,
    op,
)
from pydantic import Field

from assets.kit.plan import PlanContext, Planners
from assets.kit.previews import markdown_table
from assets.planning.job import build_op_job
from assets.planning.quote_selection import (
    AssetsByKey,
    QuoteSelection,
    SelectionConfig,
    Task,
    select_quoted_tasks,
    to_planned_configs,
)
from resources.batches import (
    BatchOrder,
    BatchProviders,
    cancel,
    collect,
    forget,
    recover_lost,
    submit,
)
from resources.calls.batch_rows import OPEN_STATES, Batch
from resources.calls.spending import Account
from resources.execution.dagster_internals import ASSET_JOB, AssetJob
from resources.faults import UnsupportedRequest
from resources.models.client import ModelClient
from resources.settings.budget import Budget
from resources.settings.run_config import Config
from resources.storage.data_root import DataRoot
from resources.storage.image_store import ImageStore
from resources.storage.work_cache import WorkCache

TAG = "counterfactory/batch"
"""The tag of a run that has to do with one batch."""
_ACTIVE_STATUSES = [DagsterRunStatus.STARTING, DagsterRunStatus.STARTED, DagsterRunStatus.CANCELING]


JobsByAsset: TypeAlias = Mapping[AssetKey, AssetJob]
"""Maps an asset to the job that makes it."""


class BatchTag(Config):
    """Tag of a batch."""

    tag: str = Field(description="The batch's tag, shown in the runs of `submit_batch`.")


class CancelBatchConfig(BatchTag):
    """Tag of a batch to cancel, and whether to forget it."""

    forget: bool = Field(
        default=False,
        description="Give up on a batch that its provider no longer knows.",
    )


class BatchJobs(NamedTuple):
    """Jobs for batches, and for the assets made from collected answers."""

    submit: JobDefinition
    collect: JobDefinition
    cancel: JobDefinition
    asset_jobs: JobsByAsset
    """Named jobs by asset, which people launch as well."""

    @property
    def unique_asset_jobs(self) -> list[AssetJob]:
        """Jobs of assets without duplicates."""
        return list({job.name: job for job in self.asset_jobs.values()}.values())

    @property
    def jobs(self) -> list[JobDefinition]:
        """The jobs that are about batches alone."""
        return [self.submit, self.collect, self.cancel]


def build_batch_jobs(
    planners: Planners, assets: AssetsByKey, jobs: JobsByAsset, resources: Mapping[str, Any]
) -> BatchJobs:
    """The jobs for all assets that have a planner, of the `assets` that there are.

    `jobs` make these assets. Those made here have their resources from the start, since Dagster
    warns of a parameter of its own when it gives any to the job of a sensor.
    """
    return BatchJobs(
        submit=build_op_job(
            "submit_batch",
            _build_submit_op(planners, assets, jobs),
            "Submits the requests of assets as batches, at the lower price.",
            resources,
        ),
        collect=build_op_job(
            "collect_batch",
            _collecting,
            "Stores the answers of a batch; the sensor `batches` starts it automatically.",
            resources,
        ),
        cancel=build_op_job(
            "cancel_batch",
            _cancelling,
            "Cancels a batch; the sensor `batches` collects its answers.",
            resources,
        ),
        asset_jobs={key: jobs[key] for key in planners},
    )


def format_batches(batches: Sequence[Batch]) -> MarkdownMetadataValue:
    """Batches as a reader wants them, the latest first."""
    rows = [
        {
            "tag": batch.tag,
            "model": batch.model,
            "asset": batch.asset,
            "partition": batch.partition,
            "state": f"{batch.state} ({batch.provider_status})"
            if batch.provider_status
            else batch.state,
            "requests": f"{batch.requests:,}",
            "submitted": f"{batch.submitted_at:%Y-%m-%d %H:%M} UTC",
            "ended as": ", ".join(f"{number:,} {how}" for how, number in batch.endings.items()),
        }
        for batch in reversed(batches)
    ]
    return markdown_table(pd.DataFrame(rows)) if rows else MarkdownMetadataValue("None.")


def _build_submit_op(planners: Planners, assets: AssetsByKey, jobs: JobsByAsset) -> OpDefinition:
    @op(name="submit", description="Creates batches of what assets would ask of models now.")
    def submitting(
        context: OpExecutionContext,
        config: SelectionConfig,
        home: DataRoot,
        images: ImageStore,
        work_cache: WorkCache,
        models: ModelClient,
        budget: Budget,
    ) -> None:
        chosen = select_quoted_tasks(
            assets, planners, context.instance, config.select, config.partitions, config.config
        )
        if not chosen.tasks:
            raise UnsupportedRequest(f"No asset of {config.select!r} asks a model.")
        require_idle = partial(_require_idle, context.instance, jobs, chosen.tasks)
        require_idle()
        sources = PlanContext(
            home=home,
            images=images,
            work_cache=work_cache,
            calls=models.calls,
            planned_configs=to_planned_configs(chosen.tasks),
        )
        account = Account(
            run=context.run_id, per_run=budget.per_run_usd, per_month=budget.per_month_usd
        )
        later: Counter[str] = Counter()
        with BatchProviders(images) as providers:
            # Settle batches that an earlier run has lost, or they would count as waiting.
            for problem in recover_lost(models.calls, providers, context.log).values():
                context.log.warning("A batch that was lost is not found yet: %s", problem)
            orders = _orders(planners, sources, chosen, account, later)
            submitted = submit(models.calls, providers, orders, context.log, require_idle)
        context.add_output_metadata(
            {
                "batches": format_batches(submitted.batches),
                "requests": sum(batch.requests for batch in submitted.batches),
                "answered_before": submitted.answered,
                "waiting_already": submitted.waiting,
                "later": later.total(),
            }
        )
        for task_name, number in later.items():
            context.log.info(
                "%s: up to %s requests depend on answers that are not there yet. They were not "
                "submitted: submit again once this is collected.",
                *(task_name, f"{number:,}"),
            )

    return submitting


def _orders(
    planners: Planners,
    sources: PlanContext,
    chosen: QuoteSelection,
    account: Account,
    later: Counter[str],
) -> Iterator[BatchOrder]:
    """Iterate over each partition's batch orders; `later` counts requests it cannot send yet."""
    for task in chosen.tasks:
        name, task_name = task.asset.to_user_string(), _format_task(task)
        for plan in planners[task.asset](sources, task.partition, task.config):
            if plan.missing_asset is not None:
                raise UnsupportedRequest(
                    f"{task_name} cannot be submitted yet: materialize {plan.missing_asset} first."
                )
            order_account = replace(account, asset=name, partition=task.partition)
            yield BatchOrder(
                model=plan.model, account=order_account, config=task.config, requests=plan.requests
            )
            if number := sum(1 for _ in plan.possible_requests):
                later[task_name] += number


def _require_idle(instance: DagsterInstance, jobs: JobsByAsset, tasks: Sequence[Task]) -> None:
    """Raise `UnsupportedRequest` while a run sends the same requests: they would be paid twice."""
    under_way = instance.get_runs(RunsFilter(statuses=_ACTIVE_STATUSES))
    for task, run in product(tasks, under_way):
        # A run of a job as a whole names no assets.
        job_assets = {task.asset} if run.job_name in (ASSET_JOB, jobs[task.asset].name) else ()
        run_assets = run.asset_selection or job_assets
        if task.asset not in run_assets:
            continue
        if run.tags.get("dagster/partition", task.partition) == task.partition:
            raise UnsupportedRequest(
                f"The run {run.run_id} materializes {_format_task(task)}. Wait until it ends, "
                "or terminate it, and submit what is left then. No batch was created."
            )


def _format_task(task: Task) -> str:
    name = task.asset.to_user_string()
    return f"{name}, {task.partition}" if task.partition else name


@op(name="collect", description="Stores what a batch that is over has answered.")
def _collecting(
    context: OpExecutionContext, config: BatchTag, images: ImageStore, models: ModelClient
) -> None:
    with BatchProviders(images) as providers:
        batch = collect(models.calls, images, providers, config.tag, context.log)
    context.log.info("%s: batch %s: %s", batch.model, batch.tag, dict(batch.endings))
    context.add_output_metadata({"batch": format_batches([batch]), **batch.endings})


@op(name="cancel", description="Has a batch stopped; what is answered by then is kept.")
def _cancelling(
    context: OpExecutionContext, config: CancelBatchConfig, images: ImageStore, models: ModelClient
) -> None:
    if config.forget:
        batch = forget(models.calls, config.tag)
    else:
        with BatchProviders(images) as providers:
            batch = cancel(models.calls, providers, config.tag)
    context.add_output_metadata(
        {
            "batch": format_batches([batch]),
            "open": format_batches(models.calls.batches.list_by_state(*OPEN_STATES)),
        }
    )
