"""What every asset of ProtoScore shares: its group, keys, and the tables of pairs there are."""

from collections.abc import Iterator
from functools import partial

from dagster import AssetKey, DagsterInstance

from assets.kit import table_asset as common
from assets.kit.benchmarks import benchmarks
from assets.kit.pairs import Pair, PairTable
from resources.home import Home

GROUP = "protoscore"

table_asset = partial(common.table_asset, GROUP)
"""An asset of this group that makes a table."""


def key(name: str) -> AssetKey:
    """The key of an asset of this group."""
    return AssetKey([GROUP, name])


def declared() -> list[PairTable]:
    """The tables of pairs that benchmarks declare."""
    return [table for benchmark in benchmarks().values() for table in benchmark.pairs]


def every_pair(home: Home, instance: DagsterInstance) -> Iterator[Pair]:
    """The pairs of all partitions that were made, evaluated ones among them."""
    for table in declared():
        for partition in table.partitions.get_partition_keys(dynamic_partitions_store=instance):
            yield from table.pairs(home, partition)
