"""Benchmark that declares cases, group and keys that all assets of fine-tuning share."""

from functools import partial

from assets.kit import table_asset as common
from assets.kit.benchmarks import load_benchmarks
from assets.kit.tuning import TuningTable


def _find_declared() -> TuningTable:
    (table,) = (
        table for benchmark in load_benchmarks().values() for table in benchmark.tuning_tables
    )
    return table


DECLARED = _find_declared()
"""The cases that a benchmark declares; what is trained on them has its group."""

table_asset = partial(common.table_asset, DECLARED.group)
"""An asset of this group that makes a table."""
