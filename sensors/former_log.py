"""What Dagster's log holds under names that assets and partitions had in earlier versions."""

from collections.abc import Mapping

from dagster import (
    AssetKey,
    AssetMaterialization,
    AssetRecordsFilter,
    DagsterInstance,
    EventLogRecord,
    MetadataValue,
)

from assets.kit.partitions import tags_of
from assets.planning.choice import Assets
from resources.former_names import asset_now, partition_now, partitions_renamed

_DIMENSION = "dagster/partition/"


def take_over(instance: DagsterInstance, assets: Assets) -> None:
    """Report what the log holds under former names under today's, each partition once.

    A report has the metadata of what was materialized last, and names its run. An asset's former
    name is wiped from the log after that, so that no list shows it any more. Without this, all that
    is there would count as missing, and be made again, if only from stored answers.
    """
    for former in instance.all_asset_keys():
        name = former.to_user_string()
        now = AssetKey.from_user_string(asset_now(name))
        if now == former and not partitions_renamed(name):
            continue
        there = _materialized(instance, now)
        for partition in _materialized(instance, former):
            today = partition and partition_now(name, partition)
            if today not in there:
                of = tags_of(today, assets[now].partitions_def) if today and now in assets else {}
                _report(instance, now, today, _latest(instance, former, partition), of)
        if now != former:
            instance.wipe_assets([former])


def _materialized(instance: DagsterInstance, asset: AssetKey) -> set[str | None]:
    """The partitions of an asset that were ever materialized; None for one without partitions."""
    if instance.get_latest_materialization_event(asset) is None:
        return set()
    return set(instance.get_materialized_partitions(asset)) or {None}


def _latest(instance: DagsterInstance, asset: AssetKey, partition: str | None) -> EventLogRecord:
    of = AssetRecordsFilter(asset, asset_partitions=None if partition is None else [partition])
    (record,) = instance.fetch_materializations(of, limit=1).records
    return record


def _report(
    instance: DagsterInstance,
    asset: AssetKey,
    partition: str | None,
    record: EventLogRecord,
    of: Mapping[str, str],
) -> None:
    former = record.asset_materialization
    assert former is not None
    tags = {
        name: tag for name, tag in (former.tags or {}).items() if not name.startswith(_DIMENSION)
    }
    # Of each dimension; the key of both is no tag of an event.
    tags |= {name: tag for name, tag in of.items() if name.startswith(_DIMENSION)}
    where = f", {former.partition}" if former.partition else ""
    instance.report_runless_asset_event(
        AssetMaterialization(
            asset,
            description=f"Materialized as {former.asset_key.to_user_string()}{where}",
            metadata={
                **former.metadata,
                "materialized_by": MetadataValue.dagster_run(record.run_id),
            },
            partition=partition,
            tags=tags,
        )
    )
