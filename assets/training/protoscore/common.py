"""Group, keys and tables of pairs that all assets of ProtoScore share."""

from collections.abc import Iterator
from functools import partial

from dagster import AssetKey, DagsterInstance

from assets.kit import table_asset as common
from assets.kit.benchmarks import load_benchmarks
from assets.kit.pairs import PairTable, TrainingPair
from resources.storage.data_root import DataRoot

GROUP = "protoscore"

table_asset = partial(common.table_asset, GROUP)
"""An asset of this group that makes a table."""


def asset_key(name: str) -> AssetKey:
    """The key of an asset of this group."""
    return AssetKey([GROUP, name])


def load_pair_tables() -> list[PairTable]:
    """The tables of pairs that benchmarks declare."""
    return [table for benchmark in load_benchmarks().values() for table in benchmark.pair_tables]


def iterate_all_pairs(home: DataRoot, instance: DagsterInstance) -> Iterator[TrainingPair]:
    """The pairs of all partitions that were made, evaluated ones among them."""
    for table in load_pair_tables():
        for partition in table.partitions.get_partition_keys(dynamic_partitions_store=instance):
            yield from table.load_pairs(home, partition)
