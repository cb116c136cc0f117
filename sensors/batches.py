"""The sensor that sees batches through: into the store, and on into the tables."""

from collections.abc import Iterator, Sequence
from itertools import groupby
from time import monotonic
from typing import Any, NamedTuple

from dagster import (
    AssetKey,
    AssetRecordsFilter,
    DagsterInstance,
    DagsterRun,
    DefaultSensorStatus,
    RunRequest,
    RunsFilter,
    SensorDefinition,
    SensorEvaluationContext,
    SensorResult,
    sensor,
)

from assets.kit.plan import PlanContext, Planners
from assets.planning.batches import TAG, BatchJobs, format_batches
from assets.planning.quote_selection import AssetsByKey
from resources.batches import BatchProviders, recover_lost, track
from resources.calls.batch_rows import ENDED_STATES, OPEN_STATES, Batch
from resources.models.client import ModelClient
from resources.storage.data_root import DataRoot
from resources.storage.image_store import ImageStore
from resources.storage.work_cache import WorkCache
from sensors.unanswered_requests import StillWaiting, find_unanswered

INTERVAL_S = 60
AFTER_BATCH_TAG = "counterfactory/after_batch"
"""The tag of a run that makes a table of what batches have answered: the last of them."""
MAX_TRIES = 3
"""Maximum runs to collect a batch."""
MAX_PLANNING_S = 20.0
"""Planning time of a tick: Dagster ends one that takes a minute."""


def batches_sensor(
    planners: Planners, assets: AssetsByKey, batching: BatchJobs
) -> SensorDefinition:
    """The sensor `batches`; a user turns it on, for it starts runs by itself.

    It finds batches that got lost, asks how the others stand, has those that are over collected,
    and then has their partition materialized, if nothing would be sent any more.
    """

    @sensor(
        name="batches",
        jobs=[batching.collect, *batching.unique_asset_jobs],
        minimum_interval_seconds=INTERVAL_S,
        default_status=DefaultSensorStatus.STOPPED,
        description="Stores the answers of batches that have ended, and materializes their assets",
    )
    def batches(
        context: SensorEvaluationContext,
        home: DataRoot,
        images: ImageStore,
        work_cache: WorkCache,
        models: ModelClient,
    ) -> SensorResult:
        store = models.calls.batches
        with BatchProviders(images) as providers:
            problems = recover_lost(models.calls, providers, context.log)
            problems |= track(models.calls, providers)
        tick = _Tick(
            instance=context.instance,
            sources=PlanContext(
                home=home, images=images, work_cache=work_cache, calls=models.calls
            ),
            planners=planners,
            assets=assets,
            batching=batching,
            messages=[f"The batch {tag}: {problem}" for tag, problem in problems.items()],
        )
        requests = [*tick.build_collecting_runs(), *tick.build_table_runs()]
        under_way = store.list_by_state(*OPEN_STATES)
        if under_way:
            context.log.info("Batches that are under way:\n%s", format_batches(under_way).value)
        for line in tick.messages:
            context.log.warning("%s", line)
        if requests:
            return SensorResult(run_requests=requests)
        status = f"Batches under way: {len(under_way)}." if under_way else "No batch is under way."
        return SensorResult(skip_reason="\n".join([status, *tick.messages]))

    return batches


class _Tick(NamedTuple):
    """A tick's look at the batches; `messages` are for the user."""

    instance: DagsterInstance
    sources: PlanContext
    planners: Planners
    assets: AssetsByKey
    batching: BatchJobs
    messages: list[str]

    def build_collecting_runs(self) -> Iterator[RunRequest]:
        """Runs that collect what is over."""
        for batch in self.sources.calls.batches.list_by_state(*ENDED_STATES):
            runs = self._runs(TAG, batch.tag)
            if any(not run.is_finished for run in runs):
                continue
            if len(runs) >= MAX_TRIES:
                self.messages.append(
                    f"The batch {batch.tag} of {batch.model} is over and could not be collected "
                    f"({len(runs)} runs failed, the last one is {runs[0].run_id}). Mend what that "
                    f"says, then launch the job collect_batch with tag: {batch.tag}."
                )
                continue
            yield RunRequest(
                run_key=f"{batch.tag}:{len(runs)}",
                job_name=self.batching.collect.name,
                run_config={"ops": {"collect": {"config": {"tag": batch.tag}}}},
                tags={TAG: batch.tag},
            )

    def build_table_runs(self) -> Iterator[RunRequest]:
        """Runs that make tables of partitions whose batches are all collected."""
        store, end = self.sources.calls.batches, monotonic() + MAX_PLANNING_S
        open_places = {_place(batch) for batch in store.list_by_state(*OPEN_STATES)}
        collected = sorted(store.list_by_state("collected"), key=_place)
        for place, batches in groupby(collected, key=_place):
            if place not in open_places and monotonic() < end:
                yield from self._build_runs(
                    sorted(batches, key=lambda batch: str(batch.collected_at))
                )

    def _build_runs(self, batches: Sequence[Batch]) -> Iterator[RunRequest]:
        """The run for one partition, all batches of which are collected, if it is time for it."""
        last, store = batches[-1], self.sources.calls.batches
        if self._runs(AFTER_BATCH_TAG, last.tag) or self._is_made_since(last):
            store.mark_handled([batch.tag for batch in batches])
            return
        lacks = last.lacking
        try:
            if lacks is None and (lacks := find_unanswered(self.planners, self.sources, batches)):
                store.record_lacking(last.tag, lacks)
        except StillWaiting as why:
            lacks = str(why)
        except Exception as error:  # noqa: BLE001 - the batches of other assets go on
            lacks = f"its missing answers are unknown: {error}"
        if lacks is None:
            yield self._build_table_run(last)
        else:
            self.messages.append(f"{last.place}: {lacks}")

    def _build_table_run(self, batch: Batch) -> RunRequest:
        key = AssetKey.from_user_string(batch.asset)
        asset, tags = self.assets[key], {AFTER_BATCH_TAG: batch.tag}
        if asset.partitions_def is not None:
            # Said here, for Dagster cannot look up the dynamic half of a key of two by itself.
            tags |= asset.partitions_def.get_tags_for_partition_key(batch.partition)
        # What was true a moment ago need not be in the run: models.yaml may have changed, and an
        # answer that misses its schema is re-queried. Nobody has said that this may cost anything.
        config: dict[str, Any] = {"resources": {"budget": {"config": {"per_run_usd": 0.0}}}}
        if batch.config:
            config["ops"] = {asset.node_def.name: {"config": dict(batch.config)}}
        return RunRequest(
            run_key=f"after {batch.tag}",
            job_name=self.batching.asset_jobs[key].name,
            asset_selection=[key],
            partition_key=batch.partition or None,
            run_config=config,
            tags=tags,
        )

    def _is_made_since(self, batch: Batch) -> bool:
        """Return whether the user has materialized the batch's table since, at whichever price."""
        assert batch.collected_at is not None
        since = AssetRecordsFilter(
            asset_key=AssetKey.from_user_string(batch.asset),
            asset_partitions=[batch.partition] if batch.partition else None,
            after_timestamp=batch.collected_at.timestamp(),
        )
        return bool(self.instance.fetch_materializations(since, limit=1).records)

    def _runs(self, tag: str, value: str) -> Sequence[DagsterRun]:
        return self.instance.get_runs(RunsFilter(tags={tag: value}))


def _place(batch: Batch) -> tuple[str, str]:
    return batch.asset, batch.partition
