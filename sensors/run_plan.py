"""Plan of runs that materialize partitions: one partition per run, parents first."""

from collections import defaultdict
from collections.abc import Iterable
from typing import NamedTuple, TypeAlias

from dagster import AssetKey, DagsterInstance, partition_loading_context

from assets.planning import Task
from resources.execution.dagster_internals import AssetGraph

_Which: TypeAlias = tuple[str, str]
"""A benchmark and a partition: what one run may hold."""


class PlannedRun(NamedTuple):
    """Assets of one benchmark, of one partition ("" for those without), in their order."""

    partition: str
    assets: list[AssetKey]


def plan_runs(
    graph: AssetGraph, instance: DagsterInstance, tasks: Iterable[Task]
) -> list[list[PlannedRun]]:
    """The runs, stage by stage: those of a stage need nothing of one another."""
    partitions = defaultdict[AssetKey, list[str]](list)
    for task in tasks:
        partitions[task.asset].append(task.partition)
    stage = dict[tuple[AssetKey, str], int]()
    runs = defaultdict[int, dict[_Which, PlannedRun]](dict)
    with partition_loading_context(dynamic_partitions_store=instance):
        for key in (
            candidate for candidate in graph.toposorted_asset_keys if candidate in partitions
        ):
            for partition in partitions[key]:
                group_partition = (key.path[0], partition)
                number = 0
                for parent in graph.get_parents_partitions(
                    key, partition or None
                ).parent_partitions:
                    source = parent.asset_key, parent.partition_key or ""
                    if source in stage:
                        another = (source[0].path[0], source[1]) != group_partition
                        number = max(number, stage[source] + another)
                stage[key, partition] = number
                runs[number].setdefault(group_partition, PlannedRun(partition, [])).assets.append(
                    key
                )
    return [list(runs[number].values()) for number in sorted(runs)]
